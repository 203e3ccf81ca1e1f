-- A kernel of PTX, recorded instruction by instruction from the simulator's own trace, runs again as SASS would: with the same
-- accesses, and in about the same time.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local recording = require "tests.lib.recording"

local turns <const>, ctas <const>, threads <const> = 12, 15, 256 -- a CTA for each SM: the SM's number is its own
local stride <const> = 4 * ctas * threads

--- Loads, a loop, shared memory, barriers, and lanes that part. One statement a line; labels begin theirs.
local ptx <const> = ([[
ld.param.u64 %d1, [x];
ld.param.u64 %d2, [y];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, THREADS, %r1;
mul.wide.u32 %d3, %r3, 4;
add.u64 %d1, %d1, %d3;
add.u64 %d2, %d2, %d3;
shl.b32 %r4, %r1, 2;
xor.b32 %r6, %r4, 64;
and.b32 %r8, %r1, 8;
setp.eq.u32 %p1, %r8, 0;
mov.f32 %f1, 0f00000000;
mov.u32 %r7, 0;
LOOP: ld.global.f32 %f2, [%d1];
st.shared.f32 [%r4], %f2;
bar.sync 0;
ld.shared.f32 %f3, [%r6];
@%p1 bra PART;
fma.rn.f32 %f1, %f3, %f3, %f1;
mul.f32 %f1, %f1, %f3;
bra JOIN;
PART: rcp.approx.f32 %f1, %f3;
JOIN: bar.sync 0;
add.u64 %d1, %d1, STRIDE;
add.u32 %r7, %r7, 1;
setp.lt.u32 %p2, %r7, TURNS;
@%p2 bra LOOP;
st.global.f32 [%d2], %f1;
ret;
]]):gsub("%u%u+", { THREADS = tostring(threads), STRIDE = tostring(stride), TURNS = tostring(turns) })

local opcodes <const> = {
  ["ld.param"] = "LDC", ["ld.global"] = "LDG.E", ["st.global"] = "STG.E", ["ld.shared"] = "LDS", ["st.shared"] = "STS", ["mov"] = "MOV",
  ["mad"] = "IMAD", ["mul.wide"] = "IMUL", ["add"] = "IADD3", ["shl"] = "SHF", ["xor"] = "LOP3", ["and"] = "LOP3", ["setp"] = "ISETP",
  ["fma"] = "FFMA", ["mul.f32"] = "FMUL", ["rcp"] = "MUFU.RCP", ["bar"] = "BAR.SYNC", ["bra"] = "BRA", ["ret"] = "EXIT",
}
local register_from <const> = { r = 0, f = 32, d = 64 }

--- The statements by pc: opcode, registers written and read, and the address of thread 0 where there is one.
local function statements(x, y)
  local list, pc = {}, 0
  for line in ptx:gmatch "[^\n]+" do
    local text = line:gsub("^%u+: ", ""):gsub("^@%%p%d ", "")
    local word, rest = text:match "^(%S+);?%s*(.*)$"
    word = word:gsub(";", "")
    local opcode = opcodes[word:match "^%a+%.?%w*"] or opcodes[word:match "^%a+"]
    local registers = {}
    for kind, number in rest:gmatch "%%([rfd])(%d+)" do registers[#registers + 1] = register_from[kind] + tonumber(number) end
    local writes = not (word:find "^st" or word:find "^setp" or word:find "^b")
    list[pc] = { opcode = assert(opcode, word), written = writes and { table.remove(registers, 1) } or {}, read = registers,
      base = ({ ["LDG.E"] = x, ["STG.E"] = y })[opcode], shared = ({ STS = 0, LDS = 64 })[opcode] }
    pc = pc + 1
  end
  return list
end

--- What stands behind the registers: addresses of the warp's lanes, in its n-th turn.
local function addresses(statement, cta, warp, turn)
  local thread = 32 * warp
  if statement.base then
    local at = statement.base + 4 * (cta * threads + thread) + (statement.opcode == "LDG.E" and stride * turn or 0)
    return ("4 1 0x%x 4"):format(at)
  elseif statement.shared then
    local words = { "4 0" }
    for lane = 0, 31 do words[#words + 1] = ("0x%x"):format(4 * (thread + lane) ~ statement.shared) end
    return table.concat(words, " ")
  end
  return "0"
end

--- The warps' instructions, by CTA and warp, from a trace of the SMs.
local function record(trace, list)
  local warps, turn = {}, {}
  for line in io.lines(trace) do
    local cta, warp, pc, lanes = line:match "^%d+ sm%[(%d+)%] issue %d+/(%d+) (%d+) lanes=(%d+)"
    if cta then
      local key, statement = cta .. " " .. warp, list[tonumber(pc)]
      warps[key], turn[key] = warps[key] or {}, turn[key] or 0
      if statement.opcode ~= "EXIT" then
        table.insert(warps[key], recording.line(16 * pc, statement.opcode, statement.written, statement.read,
          addresses(statement, tonumber(cta), tonumber(warp), turn[key]), statement.opcode == "BRA" and 0xffffffff or tonumber(lanes)))
      end
      if statement.opcode == "LDG.E" then turn[key] = turn[key] + 1 end
    end
  end
  return warps
end

local function run_ptx(folder)
  local text = ".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry mixed(.param .u64 x, .param .u64 y) {\n" ..
    ".reg .u32 %r<9>; .reg .u64 %d<4>; .reg .f32 %f<4>; .reg .pred %p<3>; .shared .f32 tile[" .. threads .. "];\n" .. ptx .. "}\n"
  local w, x, y = ww.workload "mixed" { ptx = text, sizes = { small = {} } }, nil, nil
  function w:run(gpu)
    x, y = gpu:alloc(stride * turns), gpu:alloc(stride)
    gpu:launch(self.kernels.mixed, { grid = ctas, block = threads, args = { x, y } })
  end
  return ww.run { config = "gtx480", workload = w, policy = "gto", trace = "sm[*]", out = folder }, x, y
end

harness.test("a kernel recorded from the simulator's trace has its accesses, and about its cycles", function()
  local folder = harness.folder() .. "/mixed"
  local original, x, y = run_ptx(folder)
  local warps = record(folder .. "/trace.txt", statements(x, y))
  local path = harness.write("mixed.traceg", recording.kernel({ grid = ctas, block = threads, shared = 4 * threads }, function(cta, warp)
    return warps[cta .. " " .. warp]
  end))
  local replay = ww.run { config = "gtx480", workload = path, policy = "gto", out = false }
  for _, name in ipairs { "warp_instructions", "lsu.load_accesses", "lsu.store_accesses", "lsu.bank_conflict_cycles", "barriers", "l1d.misses" } do
    harness.equal(replay["sm[*]." .. name], original["sm[*]." .. name], name)
  end
  local ratio = replay.cycles / original.cycles
  assert(ratio > 0.95 and ratio < 1.05, ("%d cycles, of the original %d"):format(replay.cycles, original.cycles))
end)

harness.finish()
