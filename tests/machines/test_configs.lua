-- The facts behind fx5800_l1, gtx480_mascar and v100, and what a variant may change.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

--- Exit status, output and config.lua of a run of `config`.
local function run(config)
  local out = harness.folder() .. "/out"
  local status, output = harness.run("run", config, "vecadd", "--size", "small", "--out", out)
  return status, output, status == 0 and harness.read(out .. "/config.lua")
end

--- The parameters of an object in a config.lua, as text.
local function object(config, class, path)
  local first = assert(config:find(('m:%s "%s" {'):format(class, path), 1, true), path .. " is missing")
  return config:sub(first, config:find("}", first, true))
end

harness.test("gtx480_dwt_pric is gtx480 but for latencies of L1 and DRAM", function()
  local status, output, config = run "gtx480_dwt_pric"
  harness.equal(status, 0, "exit status, output " .. output)
  local _, _, base = run "gtx480"
  harness.contains(object(base, "L1", "sm[14].l1d"), "latency = 32,")
  harness.contains(object(config, "L1", "sm[14].l1d"), "latency = 1,")
  local function other_lines(of, latency)
    local rest = of:gsub("gtx480_dwt_pric", "gtx480"):gsub('("l2%[%d+%]%.mem", "mc%[%d+%]%.cpu%[0%]", { latency = )%d+', "%1" .. latency)
    return (rest:gsub('(m:L1 "sm%[%d+%]%.l1d" {[^}]*latency = )%d+', "%1?"))
  end
  assert(other_lines(config, 0) == other_lines(base, 0), "something else differs")
  harness.contains(config, '"l2[5].mem", "mc[5].cpu[0]", { latency = 94,')
end)

harness.test("fx5800_l1 is the machine of the CCWS paper", function()
  local status, output, config = run "fx5800_l1"
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'core = "325MHz"', 'icnt = "650MHz"', 'dram = "800MHz"')
  harness.contains(object(config, "SM", "sm[29]"), "warps = 32,", "schedulers = 1,", "fp_mad_interval = 1,", "sfu_interval = 4,")
  harness.contains(object(config, "L1", "sm[29].l1d"), "size = 32768,", "ways = 8,", "line = 128,")
  harness.contains(object(config, "L2", "l2[7]"), 'clock = "icnt"', "size = 131072,", "ways = 8,", "line = 128,")
  for _, none in ipairs { "sm[30]", "l2[8]" } do assert(not config:find(none, 1, true), none .. " is there") end
end)

--- How many of a cache's sets such addresses fall into, by the masks that a config.lua has for it.
local function sets_of(cache, count, stride)
  local sets, found = {}, 0
  for i = 0, count - 1 do
    local set = 0
    for mask in cache:match('index_masks = "([^"]*)"'):gmatch "[^,]+" do
      local parity = 0
      for bit = 0, 63 do parity = parity ~ (tonumber(mask) & i * stride) >> bit & 1 end
      set = set << 1 | parity
    end
    if not sets[set] then found = found + 1 end
    sets[set] = true
  end
  return found
end

harness.test("gtx480_mascar has the L1 of the Mascar paper, whose set index is Fermi's", function()
  local status, output, config = run "gtx480_mascar"
  harness.equal(status, 0, "exit status, output " .. output)
  local l1d = object(config, "L1", "sm[14].l1d")
  harness.contains(l1d, "size = 32768,", "ways = 4,", "line = 128,", "mshrs = 64,", 'index = "xor"')
  harness.equal(sets_of(l1d, 64, 128), 64, "sets of lines that follow each other")
  harness.equal(sets_of(l1d, 16, 8192), 8, "sets of rows 8 KiB apart, of which address bits 13 to 15 are folded in")
  harness.equal(sets_of(l1d, 2, 1 << 17), 2, "sets of addresses that differ in bit 17")
  harness.equal(sets_of(l1d, 2, 1 << 19), 2, "sets of addresses that differ in bit 19")
  harness.equal(sets_of(l1d, 2, 1 << 12), 2, "sets of addresses that differ in bit 12")
  harness.equal(sets_of(l1d, 2, 1 << 16), 1, "sets of addresses that differ in bit 16")
end)

harness.test("gtx480_mascar is the GTX 480 of GPGPU-Sim 3.2.2: one clock for core, network and L2, two slices a partition", function()
  local _, _, config = run "gtx480_mascar"
  harness.contains(config, 'core = "700MHz"', 'icnt = "700MHz"', 'dram = "924MHz"')
  harness.contains(object(config, "L2", "l2[11]"), "size = 65536,", "ways = 8,", "sectors = 1,", "mshrs = 32,", "miss_queue = 4,")
  harness.contains(object(config, "Crossbar", "xbar"), "up = 15,", "down = 12,", "flit = 32,", "output_buffer = 8,", "response_part = 0,")
  harness.contains(object(config, "MemoryController", "mc[5]"), "ports = 2,", "queue_entries = 32,")
  assert(not config:find("l2[12]", 1, true), "l2[12] is there")
end)

harness.test("a kernel finds what the one before it left in the L1 of gtx480_mascar, not in that of gtx480", function()
  local ptx = harness.write("read.ptx", [[
.version 3.2
.target sm_20
.address_size 64
.visible .entry read(.param .u64 from)
{
	.reg .b32 %r<2>;
	.reg .b64 %d<2>;
	ld.param.u64 %d1, [from];
	ld.global.u32 %r1, [%d1];
	exit;
}
]])
  local function misses(config)
    local sim = ww.build(config, { set = { sms = 1 } })
    local gpu = sim:gpu()
    local kernel, from = gpu:load(ptx).read, gpu:alloc(128)
    for _ = 1, 2 do gpu:launch(kernel, { grid = 1, block = 32, args = { from } }) end
    local count = sim:result()["sm[*].l1d.misses"]
    sim:close()
    return count
  end
  harness.equal(misses "gtx480_mascar", 1, "misses of two kernels")
  harness.equal(misses "gtx480", 2, "misses of two kernels on gtx480")
end)

harness.test("fetches of a GTX 480 wait for a texture's line in flight, however many do", function()
  local function fails(config, set)
    local r = ww.run { config = config, workload = "leukocyte", size = "small,kernel=score,columns=15", policy = "lrr", set = set }
    assert(r["sm[*].texture_cache.merges"] > 0, "no fetch found its line in flight")
    return r["sm[*].texture_cache.mshr_merge_fails"]
  end
  for _, config in ipairs { "gtx480", "gtx480_gpgpusim4", "gtx480_mascar" } do
    harness.equal(fails(config), 0, "fetches that were stopped on " .. config)
  end
  assert(fails("gtx480", { ["sm[*].texture_cache.merges"] = 4 }) > 0, "four places of an MSHR are enough for these fetches")
end)

harness.test("v100 has the sizes of its white paper, and what an SM does not share is its L1", function()
  local out = harness.folder() .. "/out"
  local status, output = harness.run("run", "v100", "vecadd", "--size", "small", "--set", "shared=64", "--out", out)
  harness.equal(status, 0, "exit status, output " .. output)
  local config = harness.read(out .. "/config.lua")
  harness.contains(object(config, "SM", "sm[79]"), "warps = 64,", "schedulers = 4,", "registers = 65536,", "shared = 65536,")
  harness.contains(object(config, "L1", "sm[79].l1d"), "size = 65536,", "sectors = 4,")
  harness.contains(object(config, "L2", "l2[63]"), "size = 98304,", "sectors = 4,")
  harness.contains(object(config, "MemoryController", "mc[63]"), "bus_bytes = 16,", "burst_bytes = 32,")
end)

-- While nobody listens, its four schedulers have a quicker way.
harness.test("whoever hears of what issues changes nothing, whichever units v100's sub-cores issue to", function()
  local heard = harness.write("hears.lua", [[
local hears = require "warpwright.policy" "hears" { scope = "sm", doc = "Hears of what issues" }
function hears:on_issue() end
return hears
]])
  local ptx = harness.write("units.ptx", [[
.version 7.0
.target sm_70
.address_size 64
.visible .entry units(.param .u64 out) {
  .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .f64 %d<9>; .reg .b64 %a<4>; .reg .pred %p;
  .shared .align 4 .b8 tile[1024];
  mov.u32 %r1, %tid.x; mov.u32 %r5, 0;
  ld.param.u64 %a1, [out]; mul.wide.u32 %a2, %r1, 4; add.u64 %a1, %a1, %a2; cvt.u32.u64 %r2, %a2;
  cvt.rn.f32.u32 %f1, %r1; cvt.rn.f64.u32 %d1, %r1;
turn:
  fma.rn.f32 %f1, %f1, %f2, %f2; mad.lo.u32 %r3, %r1, %r2, %r3;
]] .. ("rcp.approx.f32 %f2, %f1;\n"):rep(6) .. ("fma.rn.f64 %d2, %d1, %d1, %d1; fma.rn.f64 %d3, %d1, %d1, %d1;\n"
    .. "fma.rn.f64 %d4, %d1, %d1, %d1; fma.rn.f64 %d5, %d1, %d1, %d1;\n"):rep(3) .. ([[
  mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r20, %r21, %r22, %r23}, {%r1, %r2}, {%r3, %r4}, {%r5, %r6, %r7, %r8};
]]):rep(6) .. [[
  st.shared.u32 [%r2], %r3; bar.sync 0; ld.shared.u32 %r4, [%r2]; atom.global.add.u32 %r6, [%a1], %r4; st.global.f32 [%a1], %f1;
  add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 8; @%p bra turn;
  ret;
}
]])
  local stats = {}
  for _, policy in ipairs { "gto", "lrr", "gto+" .. heard, "lrr+" .. heard } do
    local out = ("%s/units_%s"):format(harness.folder(), policy:gsub("[^%w]", "_"))
    local status, output = harness.run("run", "v100", ptx, "--grid", "40,1,1", "--block", "256,1,1", "--arg", "u32[256]", "--policy", policy,
      "--set", "sms=2", "--set", "channels=2", "--out", out)
    harness.equal(status, 0, output)
    stats[#stats + 1] = harness.read(out .. "/stats.txt")
  end
  assert(stats[1] ~= stats[2], "gto is lrr")
  harness.same_text(stats[3], stats[1], "gto")
  harness.same_text(stats[4], stats[2], "lrr")
end)

harness.test("a100 has the sizes of its white paper, and what an SM does not share is its L1", function()
  local out = harness.folder() .. "/out"
  local status, output = harness.run("run", "a100", "vecadd", "--size", "small", "--set", "shared=100", "--out", out)
  harness.equal(status, 0, "exit status, output " .. output)
  local config = harness.read(out .. "/config.lua")
  harness.contains(config, 'core = "1410MHz"', 'dram = "1215MHz"')
  harness.contains(object(config, "SM", "sm[107]"), "warps = 64,", "shared = 102400,", "matrix_long_interval = 8,")
  harness.contains(object(config, "L1", "sm[107].l1d"), "size = 94208,", "ways = 184,")
  harness.contains(object(config, "L2", "l2[79]"), "size = 524288,", "sectors = 4,")
  assert(not config:find("mc[80]", 1, true), "mc[80] is there")
end)

--- Cycles that each of many mma.m8n8k4 of f16 of a sub-core takes, whose D and C are of this type.
local function cycles_of_mma(d_type)
  local register, count = "%r", 4
  if d_type == "f32" then register, count = "%f", 8 end
  local function registers(of, first, many)
    local list = {}
    for i = 1, many do list[i] = of .. first + i - 1 end
    return "{" .. table.concat(list, ", ") .. "}"
  end
  local function cycles(times)
    local body = {}
    for i = 1, times do
      body[i] = ("mma.sync.aligned.m8n8k4.row.col.%s.f16.f16.%s %s, {%%r1, %%r2}, {%%r3, %%r4}, %s;"):format(d_type, d_type,
        registers(register, 20 + 8 * (i % 4), count), registers(register, 5, count))
    end
    local sim = ww.build("v100", { set = { sms = 1, quantum = 1 } })
    local gpu = sim:gpu()
    local kernel = gpu:load { name = "mma.ptx", text = ".version 7.0 .target sm_70 .address_size 64 .visible .entry k() "
      .. "{ .reg .b32 %r<60>; .reg .f32 %f<60>; " .. table.concat(body, "\n") .. " ret; }" }.k
    return gpu:launch(kernel, { grid = 1, block = 128, args = {} }).cycles
  end
  return (cycles(160) - cycles(32)) / 128
end

harness.test("Volta's own matrix instruction takes as long with results of f32 as of f16", function()
  for _, d_type in ipairs { "f16", "f32" } do harness.equal(cycles_of_mma(d_type), 8, d_type) end
end)

--- A run of gtx480 with two SMs and these changes, the first of which is in line 3.
local function variant(changes, options)
  return run(harness.write("variant.lua", ([[
local ww = require "warpwright"
return ww.variant("mine", "gtx480", { %s }, function(m, o)
%s
end)
]]):format(options or "sms = 2", changes)))
end

harness.test("a variant has other parameters, wires, clocks, options and another quantum", function()
  local status, output, config = variant [[
  m:clock("core", "650MHz") m:quantum(14)
  m:change("sm[*].l1d", { mshrs = 7, merges = 3 }) m:change("sm[1].l1d", { mshrs = 5 })
  m:change("sm[*].lsu.mem -> sm[*].l1d.cpu", { depth = 3 })
  m:change("sm[*].mux.down -> xbar.up[*]", { width = 2 })]]
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'core = "650MHz"', "m:quantum(14)", 'icnt = "1400MHz"')
  harness.contains(config, 'm:wire("sm[0].lsu.mem", "sm[0].l1d.cpu", { latency = 1, depth = 3, width = 1',
    'm:wire("sm[0].mux.down", "xbar.up[0]", { latency = 16, depth = 64, width = 2, back = { latency = 32, depth = 64')
  harness.contains(object(config, "L1", "sm[0].l1d"), "mshrs = 7,", "merges = 3,", "size = 16384,")
  harness.contains(object(config, "L1", "sm[1].l1d"), "mshrs = 5,", "merges = 3,")
  assert(not config:find("sm[2]", 1, true), "a third SM is there")
end)

harness.test("a variant adds a clock domain, and objects behind m:base()", function()
  local status, output, config = variant([[
  m:clock("l2", "933MHz")
  m:change("l2[*]", { clock = "l2", size = o.l2 })
  m:base()
  m:TrafficSink "spare" { clock = "l2" }
  m:TrafficSource "source" { footprint = "1MiB", limit = 1 }
  m:wire("source.mem", "spare.cpu")]], 'sms = 2, l2 = "64KiB"')
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'l2 = "933MHz"', 'm:wire("source.mem", "spare.cpu"')
  harness.contains(object(config, "L2", "l2[0]"), 'clock = "l2"', "size = 65536,")
end)

harness.test("of a variant of a variant the outer changes win", function()
  local inner = ww.variant("inner", "gtx480", { sms = 1 }, function(m)
    m:change("sm[*].l1d", { mshrs = 7, ways = 2 })
    m:clock("icnt", "1GHz")
  end)
  local outer = ww.variant("outer", inner, function(m)
    m:change("sm[0].l1d", { mshrs = 9 })
    m:clock("icnt", "2GHz")
  end)
  local config = ww.build(outer):config()
  assert(config:find('icnt = "2000MHz"', 1, true), "not the outer clock")
  harness.contains(object(config, "L1", "sm[0].l1d"), "mshrs = 9,", "ways = 2,")
end)

harness.test("a variant inserts objects into wires of its base, several into one", function()
  local status, output, config = variant [[
  m:change("l2[*].mem -> mc[*].cpu[*]", { depth = 5 })
  m:insert("l2[*].mem -> mc[*].cpu[*]", function(b, i)
    local l3 = b:L2 ("l3", i) { size = "1MiB", ways = 16, mshrs = 64 }
    return l3.cpu, l3.mem, { latency = 3 }
  end)
  m:insert("l2[*].mem -> mc[*].cpu[*]", function(b, i)
    local last = b:L2 ("last", i) { size = "2MiB", ways = 16, mshrs = 64 }
    return last.cpu, last.mem
  end)
  m:change("last[*].mem -> mc[*].cpu[*]", { depth = 7 })
  m:change("l2[*].mem -> l3[*].cpu", { latency = 6 })
  m:change("last[*]", { mshrs = 9 })]]
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'm:wire("l2[3].mem", "l3[3].cpu", { latency = 6, depth = 5, ', 'm:wire("l3[3].mem", "last[3].cpu", { latency = 3, depth = 8, ',
    'm:wire("last[3].mem", "mc[3].cpu[0]", { latency = 1, depth = 7, ')
  assert(not config:find('"l2[3].mem", "mc[3].cpu[0]"', 1, true), "the wire of the base is there, too")
  harness.contains(object(config, "L2", "last[5]"), "mshrs = 9,", "size = 2097152,")
end)

harness.test("what a variant inserts is of its own classes, and below objects of the base", function()
  harness.write("keeper.lua", [[
return require "warpwright.class" "Keeper" {
  doc = "Passes requests on",
  passes_on = true,
  ports = { up = { "responder", doc = "From who asks" }, down = { "requester", doc = "Towards memory" } },
  tick = function(self) self.down:forward() self.up:forward(self.down) end,
}]])
  local status, output, config = variant [[
  m:use "keeper.lua"
  m:insert("sm[*].l1d.mem -> sm[*].mux.up[*]", function(b, i)
    local keeper = b:Keeper (b:object(("sm[%d]"):format(i)), "keeper") {}
    return keeper.up, keeper.down
  end)]]
  harness.equal(status, 0, "exit status, output " .. output)
  harness.contains(config, 'm:wire("sm[1].l1d.mem", "sm[1].keeper.up", ', 'm:wire("sm[1].keeper.down", "sm[1].mux.up[0]", ')
end)

harness.test("mistakes in a variant are refused in its own line", function()
  for _, case in ipairs {
    { 'm:change("sm[*].l1", { mshrs = 7 })', "machine mine: no object of gtx480 matches 'sm[*].l1'; did you mean sm[*].l1d, " },
    { 'm:change("l2[*].mem -> sm[*].l1d.cpu", { depth = 3 })', "machine mine: no wire of gtx480 matches 'l2[*].mem -> sm[*].l1d.cpu'" },
    { 'm:clock("cor", "650MHz")', "machine mine: no clock of gtx480 matches 'cor', and no object has it; did you mean core?" },
    { 'm:clock("core", "fast")', "clock.core: expected ", "got 'fast'" },
    { 'm:change("sm[*].l1d", { wayz = 8 })', "sm[0].l1d: no parameter of L1 matches 'wayz'; did you mean ways? Available: " },
    { 'm:change("sm[*].l1d", { ways = 0 })', "sm[0].l1d.ways: expected 1 to " },
    { 'm:change("sm[*].l1d", { clock = "l1" })', "sm[0].l1d: no clock of machine mine matches 'l1'" },
    { 'm:change("sm[*]", { lsu = { shared_latenci = 3 } })', "sm[0].lsu: no parameter of LSU matches 'shared_latenci'" },
    { 'm:change("sm[*].lsu", { shared_latenci = 3 })', "sm[0].lsu: no parameter of LSU matches 'shared_latenci'" },
    { 'm:change("sm[*]", { lsuu = {} })', "sm[0]: no part of SM matches 'lsuu'" },
    { 'm:change("sm[*].lsu.mem -> sm[*].l1d.cpu", { dept = 3 })', "wire: no field matches 'dept'; available: latency, depth" },
    { 'm:change("sm[*].lsu.mem -> sm[*].l1d.cpu", { back = 1 })',
      "wire sm[0].lsu.mem -> sm[0].l1d.cpu: back: expected a table of options, such as { latency = 4 }, got 1" },
    { 'm:change("sm[*].lsu.mem -> sm[*].l1d.cpu", { depth = 1 << 40 })',
      "wire sm[0].lsu.mem -> sm[0].l1d.cpu: depth: expected a whole number up to 4294967295, got 1099511627776" },
    { 'm:change("sm[*]", { lsu = 7 })', "sm[0].lsu: expected a table of parameters, got 7" },
    { 'm:clock("my clock", "1GHz")', "clocks: expected a name of letters, digits and _ that is no word of Lua, got 'my clock'" },
    { 'm:quantum(2^40)', "quantum: expected a whole number up to 4294967295, got 1099511627776.0" },
    { 'm:quantum(0)', "quantum: expected a whole number from 1 on, got 0" },
    { 'm:base() m:quantum(3)', "machine mine: expected changes before m:base(), got one later" },
    { 'm:insert("l2[*]", function() end)', "m:insert: expected a wire: m:insert(" },
    { 'm:insert("l2[*].mem -> mc[*].cpu[*]", 3)', "m:insert: l2[*].mem -> mc[*].cpu[*]: expected a function that returns two ports, got 3" },
    { 'm:insert("l2[*].mem -> mc[*].cpu[*]", function() end)', "m:insert: l2[*].mem -> mc[*].cpu[*]: expected two ports, such as " },
    { 'm:insert("l2[*].mem -> mc[*].cpuu[*]", function() end)', "machine mine: no wire of gtx480 matches 'l2[*].mem -> mc[*].cpuu[*]'; did you mean l2[*].mem" },
    { 'm:base() m:insert("l2[*].mem -> mc[*].cpu[*]", print)', "machine mine: expected changes before m:base(), got one later" },
    { 'm:SM "sm" {}', "machine mine: expected m:base() before m:SM" },
    { 'm:change("sm[*]", 3)', "m:change: sm[*]: expected a table of values, such as { ways = 8 }, got 3" },
    { 'm:base() m:object "sm"', "m:object: no object that has been made matches 'sm'" },
    { "m:object {}", "m:object: expected a path: m:object \"sm[0]\", got a table" },
  } do
    local status, output = variant(case[1])
    harness.equal(status, 2, case[1] .. ": exit status, output " .. output)
    harness.contains(output, "variant.lua:3: ", table.unpack(case, 2))
  end
  local status, output = variant("", "smss = 2")
  harness.equal(status, 2, "exit status, output " .. output)
  harness.contains(output, "machine mine: no option of gtx480 matches 'smss', and the function does not read it; did you mean sms?")
end)

harness.test("a part of an object is given a table", function()
  local config = harness.write("part.lua", [[
local ww = require "warpwright"
return ww.machine("part", function(m)
  m:clocks { core = "700MHz" }
  m:SM "sm" { lsu = 7 }
end)
]])
  harness.refused("part.lua:4: sm.lsu: expected a table of parameters, got 7", "run", config, "vecadd", "--out", harness.folder() .. "/out")
end)

harness.test("a machine or a variant without a function is refused in its file, and its line where Lua still knows it", function()
  local function refused(text, ...)
    local output = harness.refused(("expected %s"):format((...)), "run", harness.write("none.lua", 'local ww = require "warpwright"\n' .. text), "vecadd",
      "--out", harness.folder() .. "/out")
    harness.contains(output, select(2, ...))
  end
  local of_machine, of_variant = "a name and a function: ww.machine(", "a name, a machine and a function: ww.variant("
  refused('return ww.machine("x")', of_machine, "none.lua: ww.machine: ", "got no function\n")
  refused('return ww.variant("v", "gtx480")', of_variant, "none.lua: ww.variant: ", "got no function\n")
  refused('local x = ww.machine("x")\nreturn x', of_machine, "none.lua:2: ww.machine: ", "got no function\n")
  refused('local x = ww.variant("x", "gtx480", { sms = 2 })\nreturn x', of_variant, "none.lua:2: ww.variant: ", "got a table\n")
  refused('local x = ww.machine(3, function() end)\nreturn x', of_machine, "none.lua:2: ww.machine: ", "got 3\n")
  local base = harness.write("base.lua", 'return require "warpwright".machine("x")\n')
  refused(('return (ww.variant("v", "%s", function() end))'):format(base), of_machine, "base.lua: ww.machine: ", "got no function\n")
end)

harness.test("options that are none, and a variant's base that is not there, are refused in their file, and their line where Lua still knows it", function()
  local function refused(call, place, text)
    local config = harness.write("none.lua", 'local ww = require "warpwright"\n' .. call)
    harness.refused("none.lua:" .. place .. " " .. text, "run", config, "vecadd", "--out", harness.folder() .. "/out")
  end
  local function both(call, text)
    refused("return " .. call, "", text)
    refused(("local x = %s\nreturn x"):format(call), "2:", text)
  end
  both('ww.machine("x", 5, function() end)', "ww.machine: options: expected a table, got 5")
  both('ww.machine("x", { 3 }, function() end)', "ww.machine: options: expected NAME = default, got 3")
  both('ww.machine("x", { sms = {} }, function() end)', "ww.machine: options: expected a number, a text, true or false, or a list of one of these as sms, got a table")
  both('ww.variant("x", "gtx480", "many", function() end)', "ww.variant: options: expected a table, got 'many'")
  both('ww.variant("x", "missing.lua", function() end)', "config: no file matches 'missing.lua', neither beside " .. harness.folder() .. "/none.lua nor from the current folder")
  both('ww.variant("x", "gtx48", function() end)', "config: no config matches 'gtx48'; did you mean gtx480?")
end)

harness.test("an option that is a list has its first value, and takes no other than those of the list", function()
  local function machine(name, text) return harness.write(name .. ".lua", 'local ww = require "warpwright"\n' .. text) end
  local base = machine("kinds", [[return ww.machine("kinds", { kind = { "wide", "narrow" }, lanes = { 16, 32 }, banked = { false } }, function(m, o)
    m:clocks { core = "700MHz" }
    m:TrafficSource ("source_" .. o.kind, o.lanes) {}
  end)]])
  local function drawn(path, ...)
    local status, output = harness.run("draw", path, ...)
    return output, status
  end
  harness.contains(drawn(base), "source_wide")
  harness.contains(drawn(base, "--set", "kind=narrow", "--set", "lanes=32"), "source_narrow")
  harness.contains(drawn(base, "--set", "kind=broad"), "error: kind: expected wide or narrow, got 'broad'\n")
  harness.contains(drawn(base, "--set", "lanes=24"), "error: lanes: expected 16 or 32, got '24'\n")
  harness.contains(drawn(base, "--set", "banked=true"), "error: banked: expected false, got 'true'\n")
  local variant_of = 'return ww.variant("thin", "kinds.lua", { kind = %s }, function() end)'
  harness.contains(drawn(machine("thin", variant_of:format '"narrow"')), "source_narrow")
  harness.contains(drawn(machine("thin", variant_of:format '"narrow"'), "--set", "kind=broad"), "kind: expected narrow or wide, got 'broad'\n")
  harness.contains(drawn(machine("other", variant_of:format '{ "broad", "wide" }')), "source_broad")
  harness.contains(drawn(machine("wrong", variant_of:format '"broad"')), "/wrong.lua", "ww.variant: options: kind: expected wide or narrow, got 'broad'\n")
end)

harness.test("a pattern in an override is for objects and clocks, not for the quantum and options", function()
  local function refused(set, text)
    harness.refused(text, "run", "gtx480", "vecadd", "--set", set, "--out", harness.folder() .. "/out")
  end
  refused("*=3", "set: no object or parameter matches '*' on machine gtx480")
  refused("q*=3", "set: no object or parameter matches 'q*' on machine gtx480; did you mean ")
  refused("quantum=99999999999", "quantum: expected a whole number up to 4294967295, got '99999999999'")
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--set", "clock.d*=900MHz", "--out", harness.folder() .. "/out")
  harness.equal(status, 0, output)
  harness.contains(harness.read(harness.folder() .. "/out/config.lua"), 'dram = "900MHz"')
end)

harness.test("clocks with a common multiple that is too large are told what the limit is and what helps", function()
  local config = harness.write("odd.lua", [[
local ww = require "warpwright"
return ww.machine("odd", function(m)
  m:clocks { core = "700MHz", dram = "924MHz", icnt = "1234MHz", odd = "433MHz" }
  m:TrafficSink "sink" {}
  m:TrafficSource "source" { footprint = 1024 }
  m:wire("source.mem", "sink.cpu")
end)
]])
  local script = harness.write("advance.lua", ('require "warpwright".build("%s"):advance(10)'):format(config))
  harness.refused("clock 'odd': expected a frequency with which the least common multiple of all clocks is at most 1125.9 THz, "
    .. "got 433 MHz, with which it is 6171.4 THz; multiples of 5 or 10 MHz have a smaller one", script)
end)

--- Misses of all constant caches in a run of two equal launches, after each.
local function constant_misses(config)
  local ptx = harness.write("two.ptx", [[
.version 3.2
.target sm_20
.address_size 64
.visible .entry two(.param .u32 a)
{
	.reg .b32 %r<2>;
	ld.param.u32 %r1, [a];
	exit;
}
]])
  local sim = ww.build(config)
  local kernel, misses = sim:gpu():load(ptx).two, {}
  for i = 1, 2 do
    sim:gpu():launch(kernel, { grid = 15, block = 32, args = { i } })
    misses[i] = sim:result()["sm[*].constant_cache.misses"]
  end
  sim:close()
  return misses
end

harness.test("a kernel finds its parameters in the constant caches where these keep their lines", function()
  local emptied, kept = constant_misses "gtx480", constant_misses "gtx480_gpgpusim4"
  harness.equal(emptied[1], 15, "misses of a kernel on gtx480")
  harness.equal(emptied[2], 30, "misses of two kernels on gtx480")
  harness.equal(kept[1], 15, "misses of a kernel on gtx480_gpgpusim4")
  harness.equal(kept[2], 15, "misses of two kernels on gtx480_gpgpusim4")
end)

harness.test("a machine is built without much of Lua: the start of every run waits for it", function()
  ww.build "gtx480"
  local hundreds = 0
  collectgarbage()
  collectgarbage "stop"
  local before = collectgarbage "count"
  debug.sethook(function() hundreds = hundreds + 1 end, "", 100)
  ww.build "gtx480"
  debug.sethook()
  local allocated = collectgarbage "count" - before
  collectgarbage "restart"
  assert(allocated < 500, ("%.0f KiB"):format(allocated))
  assert(hundreds < 700, hundreds .. " hundreds of steps")
end)

harness.test("a variant whose base leads back to its own file is an error that names the files", function()
  local folder = harness.folder()
  local function variant_of(name, base)
    return harness.write(name, ('return require "warpwright".variant("v", "%s/%s", {}, function(m) end)'):format(folder, base))
  end
  local own, there, back = variant_of("own.lua", "own.lua"), variant_of("there.lua", "back.lua"), variant_of("back.lua", "there.lua")
  for file, said in pairs { [own] = ("%s -> %s"):format(own, own), [there] = ("%s -> %s -> %s"):format(there, back, there) } do
    harness.refused("expected a file that does not load itself, got " .. said, "run", file, "vecadd", "--size", "small")
  end
end)

harness.finish()
