-- What a resumed run may not have done otherwise, and files that are no checkpoints: exit status 2 and a message that
-- says what differs, or names the file; and what it may: resumes in the middle of every launch and between any two.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

-- A host program ---------------------------------------------------------------------------------------------------

local ptx = [[
.version 6.0
.target sm_20
.address_size 64
.visible .entry add(.param .u64 a, .param .u64 out, .param .u32 factor)
{
    .reg .b32 %r<8>;
    .reg .b64 %d<8>;
    ld.param.u64 %d1, [a];
    ld.param.u64 %d2, [out];
    ld.param.u32 %r1, [factor];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r2, 128, %r3;
    mul.wide.u32 %d3, %r4, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    ld.global.u32 %r5, [%d4];
    ld.global.u32 %r6, [%d5];
    mad.lo.s32 %r6, %r5, %r1, %r6;
    add.s32 %r6, %r6, 1000;
    st.global.u32 [%d5], %r6;
    ret;
}
]]

local host = [[
local ww = require "warpwright"
local w = ww.workload "host" { ptx = "kernels.ptx", sizes = { small = { n = 2048 }, other = { n = 2048 } } }
function w:run(gpu, size)
  local values = ww.array("u32", size.n):random(1, 0, 100)
  local a = gpu:upload(values)
  local out = gpu:alloc(4 * size.n)
  gpu:fill(out, 0, 4 * size.n)
  for i = 1, 3 do
    gpu:launch(self.kernels.add, { grid = size.n // 128, block = 128, args = { a, out, i } })
  end
  local got = gpu:download("u32", out, size.n)
  self:check_that("the sum", got[5] == 6 * values[5] + 3000)
end
return w
]]

local function replaced(text, old, new)
  local first, last = text:find(old, 1, true)
  assert(first, old)
  return text:sub(1, first - 1) .. new .. text:sub(last + 1)
end

harness.write("kernels.ptx", ptx)
local program = harness.write("host.lua", host)

--- Runs the host program on two SMs into a folder; returns exit status and output.
local function run(out, ...)
  return harness.run("run", "gtx480", program, "--set", "sms=2", "--size", "small", "--out", out, ...)
end

--- Cycles from and to of each launch.
local function launches_of(stats)
  local launches = {}
  for first, cycles in stats:gmatch "launch%[%d+%]%.start_cycle +(%d+).-launch%[%d+%]%.cycles +(%d+)" do
    launches[#launches + 1] = { from = math.tointeger(first), to = math.tointeger(first) + math.tointeger(cycles) }
  end
  return launches
end

local straight = harness.folder() .. "/straight"
assert(run(straight) == 0)
local stats = harness.read(straight .. "/stats.txt")
local third = launches_of(stats)[3]
local saving = harness.folder() .. "/saving"
assert(run(saving, "--checkpoint-at", ("%d"):format((third.from + third.to) // 2)) == 0)
local saved = oracle.checkpoints(saving)[1].path
local out = harness.folder() .. "/out"

--- The resume of `saved` with these arguments fails and says all of `texts`; no folder is left.
local function refuses(texts, ...)
  local status, output = harness.run("run", "--resume", saved, "--out", out, ...)
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "warpwright: error: ", table.unpack(texts))
  assert(not output:find("stack traceback", 1, true), "a traceback: " .. output)
  assert(not core.list_folder(out)[1] and not os.rename(out, out), "the output folder is left")
end

--- A test: a resume that allows changes is refused when the host program, or with `file` its PTX, has `new` instead of `old`.
local function differs(name, old, new, texts, file)
  harness.test(name, function()
    local before = file and ptx or host
    harness.write(file or "host.lua", replaced(before, old, new))
    local ok, problem = pcall(refuses, texts, "--allow-changes")
    harness.write(file or "host.lua", before)
    assert(ok, problem)
  end)
end

harness.test("the host program resumes unchanged", function()
  local status, output = harness.run("run", "--resume", saved, "--out", out)
  harness.equal(status, 0, output)
  harness.equal(harness.read(out .. "/stats.txt"), stats, "stats.txt")
  os.execute("rm -rf " .. out)
end)

-- Host programs that differ --------------------------------------------------------------------------------------------

differs("another seed is named by the upload", "random(1,", "random(2,",
  { "call 2 of the host program: expected 'upload 8192 bytes at 0xc0000000' with the contents of the checkpoint, got others" })
differs("an extra allocation is named", "local out =", "gpu:alloc(64)\n  local out =",
  { "call 3 of the host program: expected 'alloc 8192 bytes' as in the checkpoint, got 'alloc 64 bytes'" })
differs("an allocation left out is named", "local out = gpu:alloc(4 * size.n)", "local out = a",
  { "call 3 of the host program: expected 'alloc 8192 bytes' as in the checkpoint, got 'fill 8192 bytes" })
differs("another launch argument is named by the launch", "out, i }", "out, i == 2 and 7 or i }",
  { "call 6 of the host program: expected 'launch add, grid 16 1 1, block 128 1 1' with the contents of the checkpoint, got others" })
differs("another grid is named", "size.n // 128,", "i == 2 and 15 or 16,",
  { "call 6 of the host program: expected 'launch add, grid 16 1 1, block 128 1 1' as in the checkpoint, got 'launch add, grid 15 1 1" })
differs("dynamic shared memory is part of a launch", "block = 128,", "block = 128, shared = 256,",
  { "call 5 of the host program: expected 'launch add, ", "with the contents of the checkpoint, got others" })
differs("another argument of the launch that was running is named", "out, i }", "out, i == 3 and 7 or i }",
  { "call 7 of the host program: expected 'launch add, ", "with the contents of the checkpoint, got others" })
differs("fewer launches are named by what came instead", "i = 1, 3", "i = 1, 2",
  { "call 7 of the host program: expected 'launch add, grid 16 1 1, block 128 1 1' as in the checkpoint, got 'download 8192 bytes at 0xc0002000'" })
differs("a program that ends too early is told", "  for i = 1, 3 do", "  if true then return end\n  for i = 1, 3 do",
  { "call 5 of the host program: expected 'launch add, " })
differs("one changed constant of the PTX is told", "1000", "1001",
  { "call 1 of the host program: expected 'load a PTX file with 1 kernel, the first add' with the contents of the checkpoint, got others" }, "kernels.ptx")
differs("an error of the host program before it has caught up stays its own", "  for i", "  gpu:free(4096)\n  for i",
  { "host.lua:8: free: expected the start of an allocation, got 0x1000" })

harness.test("what comes after the checkpoint may be another", function()
  harness.write("host.lua", replaced(host, "  local got", '  gpu:launch(self.kernels.add, { grid = 1, block = 32, '
    .. "args = { a, gpu:alloc(1024), 1 } })\n  local got"))
  local status, output = harness.run("run", "--resume", saved, "--out", out, "--allow-changes")
  harness.write("host.lua", host)
  harness.equal(status, 0, output)
  harness.contains(output, "host.lua has changed since it was made", "kernels              4")
  os.execute("rm -rf " .. out)
end)

-- Runs that differ -----------------------------------------------------------------------------------------------------

local function refused_run(name, texts, ...)
  local arguments = { ... }
  harness.test(name, function() refuses(texts, table.unpack(arguments)) end)
end

refused_run("another workload", { saved, "workload host, size small", "got bfs" }, "gtx480", "bfs")
refused_run("another size", { saved, "workload host, size small", "got host, size other" }, "--size", "other")
refused_run("another parameter of the size", { saved, "size small", "got host, size small,n=1024" }, "--size",
  "small,n=1024")
refused_run("another policy is named", { saved, "expected policy default as in the checkpoint, got lrr" }, "--policy", "lrr")
refused_run("another latency is named by its path", { saved, "sm[1].l1d.latency: expected 32 as in the checkpoint, got 33" }, "--set",
  "sm[1].l1d.latency=33")
refused_run("another cache size is named by its path", { saved, "sm[0].l1d.size: expected 16384 as in the checkpoint, got 32768; allow_changes goes on as another machine" }, "--set",
  "sm[*].l1d.size=32KiB")
refused_run("fewer SMs: what is missing", { saved, "the objects of the checkpoint's machine, got one without sm[1] (SM) and 5 more objects; " ..
  "a resume needs all of them" }, "--set", "sms=1")
refused_run("more SMs, even when changes are allowed: what is new", { saved, "got one with sm[2] (SM) and 5 more objects; " }, "--set", "sms=3",
  "--allow-changes")
refused_run("another clock is named", { saved, "clock.core: expected 700000000 Hz as in the checkpoint" }, "--set",
  "clock.core=800MHz")
refused_run("another quantum", { saved, "a quantum of 16 cycles", "8" }, "--set", "quantum=8")
refused_run("another machine", { saved, "configs/gtx480_gpgpusim4.lua has changed since it was made, or is another config" },
  "gtx480_gpgpusim4", program)
refused_run("another machine, even when changes are allowed", { saved, "in the checkpoint" }, "gtx480_gpgpusim4", program,
  "--allow-changes")
refused_run("what state depends on, even when changes are allowed",
  { saved, "sm[0].warps: expected 48 as in the checkpoint, got 24, to which its state cannot be converted" }, "--set",
  "sm[*].warps=24", "--allow-changes")
refused_run("memory too small for what was allocated", { "bytes do not fit in device memory" }, "--memory", "4KiB")

harness.test("a changed policy is allowed when asked for, and told", function()
  local status, output = harness.run("run", "--resume", saved, "--out", out, "--policy", "lrr", "--allow-changes")
  harness.equal(status, 0, output)
  harness.contains(output, "warpwright: resume: policy default became lrr", "verified")
  os.execute("rm -rf " .. out)
end)

-- Options ------------------------------------------------------------------------------------------------------------

for _, case in ipairs {
  { "no cycles between checkpoints", "checkpoint_every: expected 1 cycle or more, or a time such as 10min, got '0'", "--checkpoint-every", "0" },
  { "checkpoints at a cycle that is no number", "checkpoint_at: expected 1 cycle or more, got 'x'", "--checkpoint-at", "100,x" },
  { "checkpoints at a negative cycle", "checkpoint_at: expected 1 cycle or more, got '-5'", "--checkpoint-at", "-5" },
} do
  harness.test(case[1] .. " are refused", function()
    local status, output = run(out, table.unpack(case, 3))
    harness.equal(status, 2, output)
    harness.contains(output, "warpwright: error: ", case[2])
    assert(not os.rename(out, out), "the output folder is left")
  end)
end

harness.test("of ten overrides the last one wins, and is kept for the resume", function()
  local folder, sets = harness.folder() .. "/ten", {}
  for i = 1, 10 do
    table.insert(sets, "--set")
    table.insert(sets, ("sm[*].l1d.latency=%d"):format(30 + i))
  end
  local status, output = run(folder, "--checkpoint-at", "1000", table.unpack(sets))
  harness.equal(status, 0, output)
  harness.contains(harness.read(folder .. "/config.lua"), "latency = 40")
  status, output = harness.run("run", "--resume", oracle.checkpoints(folder)[1].path, "--out", out)
  harness.equal(status, 0, output)
  harness.equal(harness.read(out .. "/stats.txt"), harness.read(folder .. "/stats.txt"), "stats.txt")
  os.execute("rm -rf " .. out)
end)

-- Damaged files --------------------------------------------------------------------------------------------------------

local bytes = harness.read(saved)

--- Where header, table and sections end.
local function boundaries()
  local ends, at = { 0, 48 }, 49
  local sections, table_bytes = string.unpack("<I4I8", bytes, 13)
  local offset = 48 + table_bytes
  ends[#ends + 1] = offset
  for _ = 1, sections do
    local length = string.unpack("<I4", bytes, at)
    local stored = string.unpack("<I8", bytes, at + 4 + length + 1 + 8)
    at = at + 4 + length + 1 + 32
    offset = offset + stored
    ends[#ends + 1] = offset
  end
  return ends
end

local ends = boundaries()
harness.test("the table of sections covers the file", function()
  harness.equal(ends[#ends], #bytes, "end of the last section")
  assert(#ends >= 3 + 4, "sections are missing")
end)

--- Runs a program on a file that must be refused with its name.
local function refuses_file(path, with)
  for _, command in ipairs { ("run --resume '%s' --out '%s'"):format(path, out), ("inspect '%s'"):format(path) } do
    local pipe = assert(io.popen(("'%s' %s 2>&1"):format(with, command)))
    local output = pipe:read "a"
    local _, kind, status = pipe:close()
    local resumes = command:find("run", 1, true)
    -- `inspect` does not read the pages of memory.
    if resumes or status ~= 0 then
      harness.equal(("%s %s"):format(kind, status), "exit 2", command .. ": " .. output)
      harness.contains(output, "warpwright: error: ", ("checkpoint %s: "):format(path))
    end
    assert(not os.rename(out, out), "the output folder is left")
  end
end

local function flipped(position, bit)
  return bytes:sub(1, position - 1) .. string.char(bytes:byte(position) ~ 1 << bit) .. bytes:sub(position + 1)
end

local random = oracle.random("damage", 1)

local function test_damage(with, build, flips)
  for i, count in ipairs(ends) do
    harness.test(("a file cut off at boundary %d is refused%s"):format(i, build), function()
      if count == #bytes then count = count - 1 end
      refuses_file(harness.write("cut.ckpt", bytes:sub(1, count)), with)
    end)
  end
  harness.test(("a file with a flipped bit is refused%s"):format(build), function()
    for i = 1, flips do
      -- In turn the header, the table, and each section.
      local part = i % (#ends - 1) + 1
      refuses_file(harness.write("flip.ckpt", flipped(random:int(ends[part] + 1, ends[part + 1]), random:int(0, 7))), with)
    end
  end)
  harness.test(("what is no checkpoint is refused%s"):format(build), function()
    refuses_file(harness.folder() .. "/kernels.ptx", with)
    refuses_file(harness.folder(), with)
    refuses_file(harness.folder() .. "/not there", with)
    refuses_file("/dev/null", with)
    refuses_file(harness.write("long.ckpt", bytes .. "x"), with)
  end)
end

test_damage(arg[-1], "", 30)
local sanitized = (arg[-1]:match "^(.*)/[^/]*/warpwright$" or "build") .. "/asan-clang/warpwright"
if core.is_file(sanitized) and sanitized ~= arg[-1] then test_damage(sanitized, " by a build with sanitizers", 6) end

harness.test("inspect shows control characters, and what is no text, as numbers", function()
  local folder, odd = harness.folder() .. "/odd", harness.write("o\27[2J\xc2\x9bk.lua", host)
  for path, shown in pairs { [odd] = "o\\x1b[2J\\xc2\\x9bk.lua", [harness.write("\xff\xe9.lua", host)] = "\\xff\\xe9.lua",
    [harness.write("caf\xc3\xa9.lua", host)] = "caf\xc3\xa9.lua" } do
    harness.equal(harness.run("run", "gtx480", path, "--set", "sms=2", "--size", "small", "--out", folder, "--checkpoint-at",
      "1000"), 0, "exit status")
    local status, output = harness.run("inspect", oracle.checkpoints(folder)[1].path)
    harness.equal(status, 0, output)
    harness.contains(output, "  workload = " .. harness.folder() .. "/" .. shown .. "\n")
    assert(not output:find("[^\n\32-\126\x80-\xff]"), "a control character")
    os.execute("rm -rf " .. folder)
  end
end)

-- Every level of bfs -----------------------------------------------------------------------------------------------------

harness.test("bfs resumes in the middle of every level", function()
  local folder, cycles = harness.folder() .. "/bfs", {}
  harness.equal(harness.run("run", "gtx480", "bfs", "--size", "small", "--out", folder), 0, "exit status")
  local want = harness.read(folder .. "/stats.txt")
  for i, launch in ipairs(launches_of(want)) do cycles[i] = (launch.from + launch.to) // 2 end
  harness.equal(#cycles, 10, "levels")
  harness.equal(harness.run("run", "gtx480", "bfs", "--size", "small", "--out", folder, "--checkpoint-at",
    table.concat(cycles, ",")), 0, "exit status")
  local checkpoints = oracle.checkpoints(folder)
  harness.equal(#checkpoints, 10, "checkpoints")
  for level, checkpoint in ipairs(checkpoints) do
    local status, output = harness.run("run", "--resume", checkpoint.path, "--out", folder)
    harness.equal(status, 0, output)
    harness.equal(harness.read(folder .. "/stats.txt"), want, "stats.txt, level " .. level)
  end
end)

harness.test("bfs resumes between any two calls of its host program", function()
  local script = harness.write("between.lua", [[
local ww = require "warpwright"
local load = require "warpwright.load"
local folder = arg[1]
local inner = load.get("workload", "bfs")
local sim = ww.build("gtx480", { set = { sms = 4 } })
local outer = ww.workload "bfs" { ptx = inner.ptx, sizes = inner.sizes }
outer.ptx = inner.ptx
function outer:run(gpu, size)
  local calls = 0
  -- Saves before every call, where no kernel runs.
  local saving = setmetatable({}, { __index = function(_, name)
    return function(_, ...)
      calls = calls + 1
      sim:checkpoint(("%s/call-%d"):format(folder, calls))
      return gpu[name](gpu, ...)
    end
  end })
  inner.run(self, saving, size)
end
sim:checkpoint(folder .. "/call-0")
sim:run(outer, "small,nodes=512")
sim:checkpoint(folder .. "/call-end")
print(sim:result().cycles)
]])
  local resume = harness.write("resume.lua", [[
local ww = require "warpwright"
for i = 1, #arg do
  local sim = ww.build("gtx480", { set = { sms = 4 } })
  sim:resume(arg[i])
  sim:run("bfs", "small,nodes=512")
  print(sim:result().cycles)
  sim:close()
end
]])
  local status, want = harness.run(script, harness.folder())
  harness.equal(status, 0, want)
  local paths = {}
  for _, name in ipairs(core.list_folder(harness.folder())) do
    if name:find "^call%-" then paths[#paths + 1] = harness.folder() .. "/" .. name end
  end
  assert(#paths > 20, #paths .. " calls")
  local resumed, output = harness.run(resume, table.unpack(paths))
  harness.equal(resumed, 0, output)
  harness.equal(output, want:rep(#paths), "cycles")
end)

-- Scripts ----------------------------------------------------------------------------------------------------------------

--- A test: the script ends with status 2 and says all of `texts`.
local function bad_script(name, body, texts)
  harness.test(name, function()
    local status, output = harness.run(harness.write("script.lua", ([[
local ww = require "warpwright"
local saved, folder = %q, %q
local sim = ww.build("gtx480", { set = { sms = 2 } })
%s]]):format(saved, harness.folder(), body)))
    harness.equal(status, 2, output)
    harness.contains(output, "warpwright: error: ", table.unpack(texts))
  end)
end

bad_script("a checkpoint into a folder that is not there", 'sim:checkpoint(folder .. "/not there/x")',
  { "script.lua:4: checkpoint: ", "No such file or directory" })
bad_script("a resume of a machine that has run", 'sim:run("vecadd", "small,n=256") sim:resume(saved)',
  { "script.lua:4: resume: expected a new machine, got one that has run" })
bad_script("two resumes of one machine", "sim:resume(saved) sim:resume(saved)", { "expected a new machine, got one that has run" })
bad_script("a resume under an option that is none", "sim:resume(saved, { allow_change = true })", { "allow_changes" })
bad_script("a run of nothing", "sim:run { until_cycle = 5 }", { "sim:run {}: expected sim:start(workload, size) before it" })
bad_script("a second host program before the first has ended", [[
sim:start("vecadd", "small")
sim:run { until_cycle = 100 }
sim:start("vecadd", "small")]], { "script.lua:6: start: the previous host program has not ended" })
bad_script("a run until a cycle that is none", 'sim:start("vecadd", "small") sim:run { until_cycle = -1 }',
  { "until_cycle: expected a cycle from 0 on, got -1" })

--- After a kernel fault the machine is in the middle of a quantum.
local fault = [[
local w = ww.workload "host" { ptx = "kernels.ptx", sizes = { small = {} } }
function w:run(gpu) gpu:launch(self.kernels.add, { grid = 1, block = 32, args = { 1, 1, 1 } }) end
assert(not pcall(sim.run, sim, w, "small"))
]]

bad_script("a checkpoint after a fault", fault .. "sim:checkpoint(folder .. '/x')", { "cannot go on" })
bad_script("a change after a fault", fault .. "sim:change { policy = 'lrr' }", { "cannot go on" })

harness.finish()
