-- --fast-forward: launches and CTAs without timing, and the machine that takes over.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local load = require "warpwright.load"
local ww = require "warpwright"

local home <const> = harness.folder()

local function run(name, options)
  local all = { config = "gtx480", workload = "spmv", size = "small", out = ("%s/%s"):format(home, name) }
  for key, value in pairs(options) do all[key] = value or nil end
  return ww.run(all), harness.read(all.out .. "/stats.txt")
end

harness.test("launches before the one in which timing begins cost nothing, and the others what they did", function()
  local whole, late = run("all", { workload = "lud" }), run("late", { workload = "lud", fast_forward = "launch=3" })
  assert(#whole.launches > 5)
  harness.equal(#late.launches, #whole.launches)
  for i, launch in ipairs(late.launches) do
    if i <= 3 then
      harness.equal(launch.cycles, 0, "launch " .. i - 1)
    else
      harness.equal(launch.warp_instructions, whole.launches[i].warp_instructions, "launch " .. i - 1)
      assert(launch.cycles > 0)
    end
  end
end)

harness.test("of a launch, the CTAs that had not ended have timing: half of them take about half of the time", function()
  local whole, half = run("whole", { workload = "sgemm" }), run("half", { workload = "sgemm", fast_forward = "cta=0.5" })
  assert(half.cycles > 0.35 * whole.cycles and half.cycles < 0.6 * whole.cycles, half.cycles .. " of " .. whole.cycles)
  local ctas, share = half.launches[1].ctas, half.warp_instructions / whole.warp_instructions
  assert(share > 0.3 and share <= 0.5, share)
  assert(half["sm[*].ctas_finished"] <= ctas // 2 + 1)
  harness.contains(harness.read(home .. "/half/provenance.txt"), "fast forward")
end)

harness.long_test("all policies take over, and every workload's results are right", function()
  for _, policy in ipairs { "gto", "ccws", "mascar", "medic", "two_level", "owl", "eaf" } do
    local r = run("policy", { policy = policy, fast_forward = "cta=0.5" })
    assert(r.checks > 0 and r.cycles > 0, policy)
  end
  local count = 0
  for _, name in ipairs(core.list_folder(core.home_path "workloads")) do
    local is_one, w = pcall(load.get, "workload", name)
    if is_one and w.sizes.small and name ~= "tenants" then -- whose kernels join each other
      local ok, r = pcall(run, "workload", { workload = name, fast_forward = "cta=0.4" })
      assert(ok, name .. ": " .. tostring(r))
      count = count + 1
    end
  end
  assert(count > 50, count)
end)

harness.test("the statistics are the same in any order, on any threads, and from checkpoints behind the hand-over", function()
  local how = { workload = "kmeans", policy = "ccws", fast_forward = "launch=1,cta=0.5" }
  local function with(name, more)
    local options = {}
    for key, value in pairs(how) do options[key] = value end
    for key, value in pairs(more) do options[key] = value end
    return select(2, run(name, options))
  end
  local plain = with("plain", { checkpoint_at = "1,4000" })
  for _, more in ipairs { { order = "reversed" }, { order = "shuffled:5" }, { threads = 2 } } do
    harness.equal(with("other", more), plain)
  end
  for _, file in ipairs(core.list_folder(home .. "/plain")) do
    if file:find "%.ckpt$" then
      ww.run { resume = home .. "/plain/" .. file, out = home .. "/resumed" }
      harness.equal(harness.read(home .. "/resumed/stats.txt"), plain, file)
    end
  end
end)

--- One warp: its accesses are in order, so caches must be left as timing would have left them. `rounds` of a load whose address
-- hangs on the one before, a store, an atomic and a local store, each at a place of its own.
local wander <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 data, .param .u32 rounds, .param .u32 seed)
{
  .local .align 4 .b8 own[1024];
  .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .pred %p<3>;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [rounds]; ld.param.u32 %r2, [seed]; mov.u32 %r3, %tid.x;
  mov.u64 %d9, own;
again:
  mad.lo.u32 %r2, %r2, 1664525, 1013904223; shr.u32 %r4, %r2, 9; mad.lo.u32 %r4, %r3, 12, %r4;
  and.b32 %r5, %r4, 1048575; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2; ld.global.u32 %r6, [%d2];
  add.u32 %r2, %r2, %r6;
  mad.lo.u32 %r2, %r2, 1664525, 1013904223; shr.u32 %r4, %r2, 9; add.u32 %r4, %r3, %r4;
  and.b32 %r5, %r4, 262143; mul.wide.u32 %d3, %r5, 4; add.u64 %d3, %d1, %d3; st.global.u32 [%d3], %r6;
  and.b32 %r7, %r4, 65528; mul.wide.u32 %d4, %r7, 4; add.u64 %d4, %d1, %d4; atom.global.add.u32 %r8, [%d4], %r6;
  add.u32 %r2, %r2, %r8;
  and.b32 %r9, %r2, 255; mul.wide.u32 %d5, %r9, 4; add.u64 %d5, %d9, %d5; st.local.u32 [%d5], %r8;
  ld.local.u32 %r10, [%d5]; add.u32 %r2, %r2, %r10;
  sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
  ret;
}
]]

--- What the caches count in a second launch of the kernel, after a first one with timing or without.
local function second_launch(config, set, fast_forward)
  local sim = ww.build(config, { memory = 1 << 24, set = set, fast_forward = fast_forward })
  local gpu = sim:gpu()
  local kernel, data = gpu:load({ name = "wander.ptx", text = wander }).k, gpu:alloc(1 << 23)
  gpu:fill(data, 0, 1 << 23)
  local function launch(rounds, seed) gpu:launch(kernel, { grid = 1, block = 32, args = { data, rounds, seed } }) end
  launch(3000, 1)
  sim:drain()
  local first = sim:result()
  launch(500, 7)
  local counts = {}
  for name, value in sim:result():since(first):stats() do
    local counted = name:match "%.(l?%w-misses)$" or name:match "%.(%w+_?hits)$" or name:match "%.(evictions)$"
      or name:match "%.(write_backs)$"
    if counted and name:find "l[12]" and math.type(value) == "integer" then counts[#counts + 1] = ("%s %d"):format(name, value) end
  end
  return table.concat(counts, "\n"), first
end

harness.test("what executes without timing leaves in the caches what it would have left there with timing", function()
  local keeps <const> = { ["sm[*].l1d.keeps_lines"] = true }
  for _, machine in ipairs { { "gtx480", {} }, { "gtx480", { ["sm[*].l1d.write_policy"] = "through" } },
    { "gtx480", { ["l2[*].replacement"] = "fifo" } }, { "gtx480", { ["l2[*].sectors"] = 4, ["l2[*].write_miss"] = "lazy" } } } do
    local set = {}
    for _, given in ipairs { keeps, machine[2] } do
      for key, value in pairs(given) do set[key] = value end
    end
    local timed, untimed = second_launch(machine[1], set), second_launch(machine[1], set, "launch=1")
    harness.contains(timed, "hits")
    harness.equal(untimed, timed, tostring(next(machine[2])))
  end
end)

--- Two SMs, one CTA each at a time, whose loads and constants one small L1 serves.
local one_cache <const> = ww.machine("one_cache", function(m)
  m:clocks { core = "700MHz" }
  m:quantum(8)
  local dispatcher = m:Dispatcher "dispatcher" { sms = 2 }
  m:AddressMap "map" { channels = 1 }
  local mux, l1 = m:Mux "mux" { up = 4 }, m:L1 "l1" { size = "1KiB", ways = 4, line = "128B", mshrs = 8, keeps_lines = true }
  for i = 0, 1 do
    local sm = m:SM ("sm", i) { ctas = 1 }
    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 8 })
    m:wire(sm.lsu.mem, mux.up[2 * i])
    m:wire(sm.lsu.constant, mux.up[2 * i + 1])
  end
  m:wire(mux.down, l1.cpu)
  local l2 = m:L2 ("l2", 0) { size = "64KiB", ways = 16, mshrs = 32 }
  m:wire(l1.mem, l2.cpu, { latency = 8, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire(l2.mem, m:MemoryController ("mc", 0) {}.cpu[0])
end)

--- CTAs 0 and 1 read two lines of constants. CTA 1 then loads 64 lines, if `between` with the first constant between them; CTA 0
-- counts to `steps`, if not 0, and reads it again. CTA 2 counts twice as far.
local constants_between <const> = [[
.version 6.0
.target sm_60
.address_size 64
.const .align 128 .b32 constant[64];
.global .align 128 .b8 lines[8192];
.visible .entry k(.param .u32 between, .param .u32 steps)
{
  .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p<3>;
  ld.param.u32 %r4, [between]; setp.ne.u32 %p2, %r4, 0; ld.param.u32 %r6, [steps];
  mov.u32 %r1, %ctaid.x; mov.u64 %d1, lines; mov.u32 %r2, 64;
  setp.eq.u32 %p1, %r1, 2; @%p1 shl.b32 %r6, %r6, 1; @%p1 bra count;
  ld.const.u32 %r3, [constant]; ld.const.u32 %r3, [constant+4]; ld.const.u32 %r3, [constant+8];
  ld.const.u32 %r3, [constant+128];
  setp.ne.u32 %p1, %r1, 1; @%p1 bra others;
again:
  ld.global.u32 %r5, [%d1]; add.u64 %d1, %d1, 128;
  @%p2 ld.const.u32 %r3, [constant];
  sub.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;
  ret;
others:
  setp.eq.u32 %p1, %r6, 0; @%p1 bra done;
  ld.const.u32 %r3, [constant];
count:
  sub.u32 %r6, %r6, 1; setp.ne.u32 %p1, %r6, 0; @%p1 bra count;
  setp.eq.u32 %p1, %r1, 2; @%p1 bra done;
  ld.const.u32 %r3, [constant];
done:
  ret;
}
]]

--- How many of the two lines of constants and that of the parameters are not there when so many CTAs have ended.
local function lacking_constants(fast_forward, ctas, between, steps)
  local sim = ww.build(one_cache, { memory = 1 << 24, fast_forward = fast_forward })
  local gpu = sim:gpu()
  local kernel = gpu:load({ name = "constants.ptx", text = constants_between }).k
  gpu:launch(kernel, { grid = ctas, block = 32, args = { between, steps } })
  local before = sim:result()
  gpu:launch(kernel, { grid = 1, block = 32, args = { between, 0 } })
  return sim:result():since(before)["l1.misses"]
end

harness.test("a constant that is read again is the most recently used line, whoever used the cache in between", function()
  for _, row in ipairs { { "launch=1", 1, 0, 0, 0 }, { "launch=1", 2, 0, 0, 3 }, { "launch=1", 2, 1, 0, 2 },
    { "launch=1", 2, 0, 10000, 2 }, { "cta=0.7", 3, 0, 10000, 1 } } do
    harness.equal(lacking_constants(table.unpack(row, 1, 4)), row[5], table.concat(row, " ", 1, 4))
  end
end)

harness.test("a cache that keeps how often its lines are used knows of each read without timing", function()
  local path = harness.write("uses.lua", [[
local p = require "warpwright.policy" "uses" { caches = "data", scope = "cache", counters = { uses = "" } }
function p:configure(_, path)
  if self:acts_on(path) then return { line_history = true } end
end
function p:on_kernel_end()
  local cache, uses = self.cache, 0
  for set = 0, 1 do
    for way = 0, 3 do uses = uses + (cache:line_uses(set, way) or 0) end
  end
  self:count("uses", uses)
end
return p]])
  local function uses(fast_forward)
    local sim = ww.build(one_cache, { memory = 1 << 24, policy = path, fast_forward = fast_forward })
    local gpu = sim:gpu()
    local kernel = gpu:load({ name = "constants.ptx", text = constants_between }).k
    local before
    for _ = 1, 2 do
      before = sim:result()
      gpu:launch(kernel, { grid = 1, block = 32, args = { 0, 0 } })
    end
    return sim:result():since(before)["l1.uses.uses"]
  end
  harness.equal(uses(), 9, "with timing")
  harness.equal(uses "launch=1", 9, "without")
end)

--- Each CTA loads a line of its own.
local own_lines <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 data)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [data]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %d2, %r1, 128; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.global.u32 [%d1], %r2;
  ret;
}
]]

--- How many reads of memory a launch makes that loads 600 lines, after `launches` like it.
local function reads_of_memory(fast_forward, launches)
  local sim = ww.build("gtx480", { memory = 1 << 24, fast_forward = fast_forward })
  local gpu = sim:gpu()
  local kernel, data = gpu:load({ name = "own_lines.ptx", text = own_lines }).k, gpu:alloc(600 * 128)
  gpu:fill(data, 0, 600 * 128)
  for _ = 1, launches do gpu:launch(kernel, { grid = 600, block = 32, args = { data } }) end
  local before = sim:result()
  gpu:launch(kernel, { grid = 600, block = 32, args = { data } })
  local counts = gpu:download("u32", data, 600 * 32)
  for i = 0, 599 do harness.equal(counts[i * 32], launches + 1, "CTA " .. i) end
  return sim:result():since(before)["mc[*].reads"]
end

harness.test("only the last launches without timing, or parts of them, leave lines in the caches", function()
  local of_all = reads_of_memory("launch=1,warm=0", 1)
  assert(of_all >= 600 and of_all < 620, of_all) -- code and parameters are read, too
  local function spared(fast_forward, launches)
    local count = of_all - reads_of_memory(fast_forward, launches)
    return count == 0 and 0 or count - 1 -- that of the parameters
  end
  for _, row in ipairs { { "launch=1", 600 }, { "launch=1,warm=0.25", 150 }, { "launch=1,warm=1", 600 }, { "launch=1,warm=3.5", 600 },
    { "cta=1,warm=0.1", 60 }, { "cta=1,warm=0", 0 }, { "cta=0.5", 600 }, { "cta=0.5,warm=0.25", 450 }, { "cta=0.5,warm=0", 300 } } do
    harness.equal(spared(row[1], 1), row[2], row[1])
  end
  for _, row in ipairs { { "launch=3,warm=1.5", 600 }, { "launch=3,warm=0.5", 300 }, { "launch=2,cta=1,warm=0.5", 300 } } do
    harness.equal(spared(row[1], 3), row[2], row[1])
  end
end)

harness.test("with cold caches at first every workload's results are right, and the rest is the same in any order and from checkpoints", function()
  for _, name in ipairs { "spmv", "kmeans", "lud", "sgemm", "haar", "bfs" } do
    for _, fast_forward in ipairs { "launch=1,warm=0.5", "cta=0.5,warm=0", "launch=2,cta=0.5,warm=0.25" } do
      assert(run("cold", { workload = name, fast_forward = fast_forward }).checks > 0, name)
    end
  end
  local how = { workload = "sgemm", policy = "ccws", fast_forward = "cta=0.5,warm=0.2", checkpoint_at = "1,4000" }
  local _, plain = run("plain_cold", how)
  how.checkpoint_at = nil
  for _, more in ipairs { { "order", "reversed" }, { "threads", 2 } } do
    how.order, how.threads, how[more[1]] = nil, nil, more[2]
    harness.equal(select(2, run("other", how)), plain)
  end
  local resumed = 0
  for _, file in ipairs(core.list_folder(home .. "/plain_cold")) do
    if file:find "%.ckpt$" then
      ww.run { resume = home .. "/plain_cold/" .. file, out = home .. "/resumed" }
      harness.equal(harness.read(home .. "/resumed/stats.txt"), plain, file)
      resumed = resumed + 1
    end
  end
  harness.equal(resumed, 2)
end)

harness.test("no cache counts what had no timing", function()
  local _, first = second_launch("gtx480", {}, "launch=1")
  for name, value in first:stats() do
    if name:find "l1d" or name:find "^l2" or name:find "^xbar" then assert(value == 0, name) end
  end
end)

harness.test("a launch that never comes is told, and the exit status stays", function()
  local function said(launch)
    local status, printed = harness.run("run", "gtx480", "vecadd", "--size", "small", "--fast-forward", "launch=" .. launch, "--out", home .. "/never")
    harness.equal(status, 0, printed)
    return printed
  end
  harness.contains(said(7), "warpwright: fast_forward: launch 7 never came: the program made 1 launch, and none of them had timing")
  assert(not said(0):find "never came")
end)

harness.test("a launch whose CTAs all end before the hand-over is told", function()
  local function said(share, ctas)
    local status, printed = harness.run("run", "gtx480", "vecadd", "--size", "small,n=" .. 256 * ctas, "--fast-forward", "cta=" .. share, "--out",
      home .. "/together")
    harness.equal(status, 0, printed)
    return printed
  end
  harness.contains(said(0.5, 15), "warpwright: fast_forward: launch 0 had no timing: it ended before the hand-over, as few CTAs do that end together, or by a fault",
    "cycles               0")
  assert(not said(0.5, 1500):find "had no timing")
  assert(not said(1, 15):find "had no timing", "which was asked for")
end)

harness.test("what is wrong with it is said", function()
  for _, text in ipairs { "", "launch", "launch=-1", "launch=1.5", "cta=2", "cta=0.5,cta=0.5", "cycles=3", "launch=1;cta=0.5", "warm=-1",
    "warm=all", "warm=1,warm=1", "launch=1,warm=" } do
    local _, problem = pcall(ww.run, { config = "gtx480", workload = "vecadd", size = "small", out = false, fast_forward = text })
    harness.contains(tostring(problem), "fast_forward: expected launch=N, the launch from which on there is timing", text)
  end
end)

--- Each CTA stores a number; CTA `bad` does so where no memory is.
local faulty <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 bad)
{
  .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [bad]; mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r1, %r2; @%p1 mov.u64 %d1, 16;
  st.global.u32 [%d1], %r2;
  ret;
}
]]

--- A function that launches it with 400 CTAs, and whether its second half has timing.
local function launcher_of_faulty(options, forward)
  options.memory = 1 << 20
  local gpu = ww.build("gtx480", options):gpu()
  local kernel, out = gpu:load { name = "fault.ptx", text = faulty }.k, gpu:alloc(256)
  return function(bad) return gpu:try_launch(kernel, { grid = 400, block = 32, args = { out, bad }, forward = forward }) end
end

local function faulty_cta(_, fault)
  harness.equal(fault and fault.kind, "out of bounds")
  return table.concat(fault.cta, " ")
end

harness.test("a fault before there is timing is one of the launch, and the machine goes on", function()
  local launch = launcher_of_faulty({}, 200)
  harness.equal(faulty_cta(launch(50)), "50 0 0")
  local result, none = launch(1000)
  harness.equal(none, nil)
  assert(result.cycles > 0)
  harness.equal(faulty_cta(launch(399)), "399 0 0")
end)

harness.test("a fault of a CTA that leaves no lines in the caches is one of the launch, too", function()
  for _, bad in ipairs { 0, 50, 99, 100, 150, 399 } do -- the first 100 of 200 CTAs without timing leave none
    local launch = launcher_of_faulty { fast_forward = "launch=0,cta=0.5,warm=0.25" }
    harness.equal(faulty_cta(launch(bad)), bad .. " 0 0")
    harness.equal(select(2, launch(1000)), nil)
  end
end)

--- Straight code: 4 cycles of the clock, guards of both kinds, and a store to shared memory that may miss it.
local straight <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 bad)
{
  .shared .align 4 .b8 own[128];
  .reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [bad]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r1, %r2; mov.u32 %r4, own; shl.b32 %r5, %r3, 2; add.u32 %r4, %r4, %r5;
  mov.u32 %r6, %clock;
  @%p1 add.u32 %r4, %r4, 64;
  @!%p1 add.u32 %r7, %r3, 100;
  add.u32 %r7, %r7, 1;
  mov.u32 %r8, %clock;
  st.shared.u32 [%r4], %r7;
  ld.shared.u32 %r9, [%r4];
  sub.u32 %r8, %r8, %r6; mad.lo.u32 %r9, %r8, 1000, %r9;
  mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r9;
  ret;
}
]]

harness.test("straight code without timing: each instruction takes a cycle, guards hold, and the first fault is the launch's", function()
  local sim = ww.build("gtx480", { memory = 1 << 20 })
  local gpu = sim:gpu()
  local kernel, out = gpu:load({ name = "straight.ptx", text = straight }).k, gpu:alloc(256)
  local function launch(bad, forward) return select(2, gpu:try_launch(kernel, { grid = 400, block = 32, args = { out, bad }, forward = forward })) end
  harness.equal(launch(1000, 400), nil)
  local got = gpu:download("u32", out, 32)
  for lane = 0, 31 do harness.equal(got[lane], 4000 + 101 + lane, "lane " .. lane) end
  local timed, untimed = launch(50), launch(50, 400)
  for _, name in ipairs { "kind", "ptx_line", "address" } do harness.equal(untimed[name], timed[name], name) end
  harness.equal(table.concat(untimed.cta, " "), "50 0 0")
  harness.equal(table.concat(untimed.thread, " "), "16 0 0")
end)

--- Stores and loads in a row: each warp turns its words around, and the second store may miss the memory.
local accesses <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 bad)
{
  .reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [bad]; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r1, %r2; mul.wide.u32 %d2, %r2, 384; add.u64 %d1, %d1, %d2;
  mul.wide.u32 %d3, %r3, 4; add.u64 %d4, %d1, %d3; sub.u64 %d5, %d1, %d3;
  add.u32 %r4, %r3, 7; st.global.u32 [%d4], %r4; ld.global.u32 %r5, [%d5+124];
  add.u64 %d6, %d4, 128; @%p1 mov.u64 %d6, 16; st.global.u32 [%d6], %r5;
  add.u32 %r5, %r5, 1; st.global.u32 [%d4+256], %r5;
  ret;
}
]]

harness.test("accesses in straight code without timing see each other, and none behind a fault is done", function()
  for _, fast_forward in ipairs { "launch=9", "cta=1" } do
    for bad = 0, 8, 8 do
      local gpu = ww.build("gtx480", { memory = 1 << 20, fast_forward = fast_forward }):gpu()
      local kernel, out = gpu:load({ name = "accesses.ptx", text = accesses }).k, gpu:alloc(8 * 384)
      gpu:fill(out, 0, 8 * 384)
      local _, fault = gpu:try_launch(kernel, { grid = 8, block = 32, args = { out, bad } })
      harness.equal(fault and fault.kind, bad == 0 and "out of bounds" or nil)
      local got = gpu:download("u32", out, 96)
      for lane = 0, 31 do
        harness.equal(got[lane], lane + 7)
        harness.equal(got[32 + lane], bad == 0 and 0 or 38 - lane)
        harness.equal(got[64 + lane], bad == 0 and 0 or 39 - lane)
      end
    end
  end
end)

--- Where in shared memory it loads it has loaded from device memory, anew in each of two turns.
local loaded_addresses <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 places)
{
  .shared .align 4 .b8 own[256];
  .reg .b32 %r<12>; .reg .b64 %d<9>; .reg .pred %p<3>;
  ld.param.u64 %d1, [out]; ld.param.u64 %d2, [places]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  shl.b32 %r2, %r1, 2; add.u32 %r3, %r1, 100; st.shared.u32 [%r2], %r3; add.u32 %r3, %r1, 200; st.shared.u32 [%r2+128], %r3;
  mov.u32 %r11, 0;
$again:
  ld.global.u32 %r4, [%d2];
  ld.shared.u32 %r5, [%r4]; ld.shared.u32 %r6, [%r4]; ld.shared.u32 %r7, [%r4];
  add.u32 %r5, %r5, %r6; add.u32 %r5, %r5, %r7;
  st.global.u32 [%d1], %r5;
  add.u64 %d1, %d1, 128; add.u64 %d2, %d2, 128; add.u32 %r11, %r11, 1; setp.lt.u32 %p1, %r11, 2; @%p1 bra $again;
  ret;
}
]]

harness.test("shared memory without timing is read where an address that was loaded anew says", function()
  local gpu = ww.build("gtx480", { memory = 1 << 20, fast_forward = "launch=9" }):gpu()
  local out, places = gpu:alloc(256), ww.array("u32", 64)
  for lane = 0, 31 do places[lane], places[32 + lane] = 4 * (31 - lane), 128 + 4 * lane end
  local kernel = gpu:load({ name = "addresses.ptx", text = loaded_addresses }).k
  gpu:launch(kernel, { grid = 1, block = 32, args = { out, gpu:upload(places) } })
  local got = gpu:download("u32", out, 64)
  for lane = 0, 31 do
    harness.equal(got[lane], 3 * (131 - lane))
    harness.equal(got[32 + lane], 3 * (200 + lane))
  end
end)

-- Shapers and victim buffers stand between SMs and L2 there. All of kmeans fits the L2.
harness.test("caches behind classes of one's own that pass requests on are warm, too", function()
  for _, config in ipairs { "gtx480", "gtx480_lua_classes" } do
    local r = ww.run { config = config, workload = "kmeans", size = "small", fast_forward = "launch=1", out = false }
    assert(r["l2[*].hits"] > 10000, config)
    harness.equal(r["l2[*].misses"], 0, config)
  end
end)

harness.finish()
