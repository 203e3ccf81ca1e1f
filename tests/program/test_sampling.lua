-- --sample: estimates with intervals, what is refused, and that they are told from exact results.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local measures = require "warpwright.measures"
local sampled_result = require "warpwright.sampled_result"
local sample_options = require "warpwright.sample_options"
local stored_run = require "warpwright.stored_run"
local window_checks = require "warpwright.window_checks"
local ww = require "warpwright"

local home <const> = harness.folder()

--- CTAs of 4 warps that load, compute and store, a fourth each in as many rounds, or one, two or three more: all alike would come into
-- step with each other. `uneven`: the second half of the grid computes twice as long.
local source <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry steady(.param .u64 data, .param .u32 rounds, .param .u32 later)
{
  .reg .b32 %r<12>; .reg .b64 %d<6>; .reg .pred %p<3>; .reg .f32 %f<6>;
  ld.param.u64 %d1, [data]; ld.param.u32 %r1, [rounds]; ld.param.u32 %r2, [later];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;
  and.b32 %r8, %r3, 3; add.u32 %r1, %r1, %r8; setp.ge.u32 %p1, %r3, %r2; @%p1 add.u32 %r1, %r1, %r1;
  mov.f32 %f2, 0f3F800000; mul.wide.u32 %d4, %r6, 4; add.u64 %d4, %d1, %d4;
again:
  and.b32 %r7, %r6, 1023; mul.wide.u32 %d2, %r7, 4; add.u64 %d3, %d1, %d2; ld.global.f32 %f1, [%d3];
  fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f2, %f2, %f1, %f1; fma.rn.f32 %f2, %f2, %f1, %f1;
  mad.lo.u32 %r6, %r6, 5, 13; sub.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra again;
  st.global.f32 [%d4+65536], %f2;
  ret;
}
]]

local grid <const>, rounds <const> = 3600, 16

--- A workload of launches of the kernel, { grid =, rounds =, later = } each. `text`: another kernel of that name.
local function workload_of(launches, text)
  local w = ww.workload "steady" { doc = "launches of one kernel", ptx = text or source, sizes = { small = {} } }
  function w:run(gpu)
    local data = gpu:alloc(4 << 20)
    gpu:fill(data, 0, 4 << 20)
    for _, l in ipairs(launches) do
      gpu:launch(self.kernels.steady, { grid = l.grid or grid, block = 128, args = { data, l.rounds or rounds, l.later or 1 << 30 } })
    end
    self:check("digest", #gpu:digest(), 16)
  end
  return w
end

local machine <const> = { ["sm[*].ctas"] = 2 } -- waves of 30 CTAs: many in a small grid

local function run(name, launches, sample, more)
  local text = more and more.kernel_text
  local options = { config = "gtx480", workload = launches and workload_of(launches, text), size = "small", set = machine, memory = "16MiB", out = ("%s/%s"):format(home, name),
    sample = sample }
  for key, value in pairs(more or {}) do options[key] = value end
  options.kernel_text = nil
  return ww.run(options), options.out and options.stats ~= "packed" and harness.read(options.out .. "/stats.txt")
end

local one <const> = { {} }
local exact, exact_text = run("exact", one)
local sampled, sampled_text = run("sampled", one, "windows=8,cycles=3000")

--- Of counters of 1000 events and more whose names have the pattern, at least this share is inside its interval.
local function assert_counters_inside(r, truth, pattern, share)
  local inside, all = 0, 0
  for name, value in truth:stats() do
    if math.type(value) == "integer" and value > 1000 and name:find(pattern) then
      all = all + 1
      if math.abs(r[name] - value) <= r:interval(name) + 0.5 then inside = inside + 1 end
    end
  end
  assert(all > 100 and inside / all > share, ("%d of %d counters"):format(inside, all))
end

harness.test("the truth is inside the interval of cycles and of nearly all counters", function()
  local r = sampled
  harness.equal(r.sampled.sampled, 1)
  harness.equal(r.warp_instructions, exact.warp_instructions)
  assert(r.sampled.share_with_timing < 0.6, r.sampled.share_with_timing)
  local off, width = math.abs(r.cycles - exact.cycles), r:interval "run.cycles"
  assert(off <= width and width < 0.1 * exact.cycles, ("%d of %d, +-%g"):format(r.cycles, exact.cycles, width))
  harness.equal(r:interval "run.warp_instructions", 0.0)
  assert_counters_inside(r, exact, "", 0.85)
end)

harness.test("the interval of a pattern is the sum of those of its counters, and names that are none are refused", function()
  local sum = 0
  for i = 0, 5 do sum = sum + sampled:interval(("l2[%d].misses"):format(i)) end
  assert(sum > 0)
  assert(math.abs(sampled:interval "l2[*].misses" - sum) < 1e-9 * sum)
  harness.equal(exact:interval "l2[*].misses", 0.0)
  for _, r in ipairs { sampled, exact } do
    for name, text in pairs { ["l2[*].missses"] = "l2[*].missses", nonsense = "no field or statistic matches 'nonsense'",
      ["l2[*].miss_rate"] = "expected counters or a single ratio, got a pattern of ratios" } do
      local good, problem = pcall(r.interval, r, name)
      assert(not good, name)
      harness.contains(tostring(problem), text)
    end
  end
end)

harness.test("an SM's IPC is that of all of the launch, with an interval", function()
  for _, name in ipairs { "sm[0].ipc", "sm[14].ipc" } do
    local width = sampled:interval(name)
    assert(math.abs(sampled[name] - exact[name]) <= width and width < 0.2 * exact[name], ("%g of %g, +-%g"):format(sampled[name], exact[name], width))
  end
end)

harness.test("what is estimated says so in every file", function()
  local folder = home .. "/sampled"
  local text = harness.read(folder .. "/stats.txt")
  assert(text:find "\nl2%[0%]%.misses +%d+ +accesses +estimated, %+%-[%d.e+]+: ")
  assert(not text:find "run.warp_instructions[^\n]*estimated")
  assert(not harness.read(folder .. "/provenance.txt"):find "Lua file [^\n]*lua_") -- what processes told one another
  harness.contains(harness.read(folder .. "/stats.json"), '"estimated": {')
  harness.contains(harness.read(folder .. "/provenance.txt"), "sampled            windows=8,cycles=3000")
  harness.contains(harness.read(folder .. "/sampling.txt"), "launch 0, steady: sampled, 8 windows")
  harness.equal(harness.read(home .. "/exact/provenance.txt"):find "sampled", nil)
end)

harness.test("estimates are the same bytes for any number of jobs and threads", function()
  for i, more in ipairs { { jobs = 3 }, { threads = 2 }, { order = "reversed" } } do
    harness.equal(select(2, run("sampled-" .. i, one, "windows=8,cycles=3000", more)), sampled_text)
  end
  local _, other = run("sampled-seed", one, "windows=8,cycles=3000,seed=2")
  assert(other ~= sampled_text)
end)

harness.test("a budget of all is the exact run, byte for byte", function()
  harness.equal(select(2, run("all", one, "budget=100%")), exact_text)
end)

harness.test("more windows are made until the interval is as narrow as was asked for", function()
  local r = run("error", one, "error=3%,cycles=3000")
  harness.equal(r.sampled.sampled, 1)
  assert(r:interval "run.cycles" < 0.045 * r.cycles, r:interval "run.cycles" / r.cycles)
end)

harness.long_test("a launch of which one half is unlike the other is estimated by its instructions", function()
  local launches <const> = { { later = grid // 2 } }
  local truth, r = run("uneven", launches), run("uneven-sampled", launches, "windows=8,cycles=3000")
  harness.equal(r.sampled.sampled, 1)
  assert(math.abs(r.cycles - truth.cycles) <= r:interval "run.cycles", r.cycles .. " of " .. truth.cycles)
end)

harness.test("the end of a launch is counted with timing when its last CTAs have nothing to do", function()
  local misses, tail = window_checks.misses, nil
  window_checks.misses = function(seen)
    tail = seen.tails[1]
    return misses(seen)
  end
  local w = workload_of({ { later = grid - 90 } }, (source:gsub("@%%p1 add.u32 %%r1, %%r1, %%r1;", "@%%p1 ret;")))
  local truth = run("ends", nil, nil, { workload = w, out = false })
  local r = run("ends", nil, "windows=8,cycles=5000", { workload = w, out = false })
  window_checks.misses = misses
  harness.equal(r.sampled.sampled, 1)
  local cycles, instructions = measures.header(tail)
  assert(cycles > 0 and instructions > 5000, ("%g cycles, %g instructions"):format(cycles, instructions))
  assert(math.abs(r.cycles - truth.cycles) <= r:interval "run.cycles", r.cycles .. " of " .. truth.cycles)
end)

harness.test("the interval of cycles knows that another end of the launch may take longer: few long CTAs are spread over SMs by chance", function()
  local w = workload_of({ { later = grid - 8 } }, (source:gsub("@%%p1 add.u32 %%r1, %%r1, %%r1;", "@%%p1 shl.b32 %%r1, %%r1, 4;")))
  local more <const> = { workload = w, out = false, set = { sms = 4, partitions = 2, ["sm[*].ctas"] = 4 } }
  local truth, r = run("long-end", nil, nil, more), run("long-end", nil, "error=3%", more)
  harness.equal(r.sampled.sampled, 1)
  local off, width = math.abs(r.cycles - truth.cycles), r:interval "run.cycles"
  assert(off <= width and width < 0.06 * truth.cycles, ("%d of %d, +-%g"):format(r.cycles, truth.cycles, width))
end)

--- CTAs that load all that they need, and then compute for long. On the machine they stay in step.
local phases <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .entry phases(.param .u64 data, .param .u32 rounds)
{
  .reg .b32 %%r<8>; .reg .b64 %%d<6>; .reg .pred %%p<2>; .reg .f32 %%f<4>;
  ld.param.u64 %%d1, [data]; ld.param.u32 %%r1, [rounds];
  mov.u32 %%r3, %%ctaid.x; mov.u32 %%r4, %%ntid.x; mov.u32 %%r5, %%tid.x; mad.lo.u32 %%r6, %%r3, %%r4, %%r5;
  mov.f32 %%f2, 0f00000000; mul.wide.u32 %%d4, %%r6, 4; add.u64 %%d4, %%d1, %%d4;
  %s
  bar.sync 0;
again:
  %s
  sub.u32 %%r1, %%r1, 1; setp.ne.u32 %%p1, %%r1, 0; @%%p1 bra again;
  st.global.f32 [%%d4], %%f2;
  ret;
}
]]

harness.test("windows that load more or less often than the launch does not stand for it", function()
  local loads = {}
  for i = 0, 15 do loads[#loads + 1] = ("ld.global.f32 %%f1, [%%d4+%d]; add.f32 %%f2, %%f2, %%f1;"):format(i << 14) end
  local w = ww.workload "phases" { doc = "loads, then arithmetic", sizes = { small = {} },
    ptx = phases:format(table.concat(loads, "\n"), ("fma.rn.f32 %f2, %f2, %f2, %f2; "):rep(16)) }
  function w:run(gpu)
    local data = gpu:alloc(4 << 20)
    gpu:fill(data, 0, 4 << 20)
    gpu:launch(self.kernels.phases, { grid = 1200, block = 128, args = { data, 40 } })
    self:check("digest", #gpu:digest(), 16)
  end
  local r = run("phases", nil, "windows=6,cycles=1000", { workload = w, out = false })
  harness.equal(r.sampled.exact, 1)
  harness.contains(r.sampled.lines[1], "% loads")
end)

--- A policy under which ever fewer warps issue, one less in so many steps.
local function tiring(steps)
  return harness.write("tiring.lua", ([[
    local policy = require "warpwright.policy"
    local tiring = policy "tiring" {
      doc = "ever fewer warps issue", params = { period = { 500, doc = "Cycles to the next step" } }, period = "period", order = "gto",
    }
    function tiring:start() self.state.steps = 0 end
    function tiring:on_period()
      self.state.steps = self.state.steps + 1
      self.sm.warp_limit = math.max(1, 4 - self.state.steps // %d)
    end
    return tiring
  ]]):format(steps))
end

local long <const> = { { grid = 2 * grid } }

harness.test("a policy that goes on to learn in windows is told, and has all of its timing", function()
  local r = run("tiring", long, "windows=4,cycles=2000", { policy = tiring(24), out = false })
  harness.equal(r.sampled.exact, 1)
  harness.contains(r.sampled.lines[1], "its windows drift by ")
end)

harness.test("windows that have not learned what the launch has by then are told, and it has all of its timing", function()
  local r = run("tiring", long, "windows=4,cycles=2000", { policy = tiring(64), out = false })
  harness.equal(r.sampled.exact, 1)
  harness.contains(r.sampled.lines[1], "a window takes -", "% cycles beside the same part of the launch")
end)

harness.test("windows whose policy still learns at twice their warm-up are told from the launch, which is exact", function()
  local path = harness.write("settling.lua", [[
    local policy = require "warpwright.policy"
    local settling = policy "settling" {
      doc = "one warp issues from step 32 on", params = { period = { 500, doc = "Cycles of a step" } }, period = "period", order = "gto",
    }
    function settling:start() self.state.steps = 0 end
    function settling:on_period()
      self.state.steps = self.state.steps + 1
      self.sm.warp_limit = self.state.steps >= 32 and 1 or 4
    end
    return settling
  ]])
  local r = run("settling", long, "windows=4,cycles=1000", { policy = path, out = false })
  harness.equal(r.sampled.sampled, 0)
  harness.contains(r.sampled.lines[1], "its policy learns: ")
end)

harness.long_test("a policy that learns for a while has warm-ups so long that it has learned", function()
  local more <const> = { policy = tiring(6), out = false }
  local truth, r = run("tired", long, nil, more), run("tired", long, "windows=4,cycles=2000", more)
  harness.equal(r.sampled.sampled, 1)
  assert(math.abs(r.cycles - truth.cycles) <= math.min(r:interval "run.cycles", 0.02 * truth.cycles), r.cycles .. " of " .. truth.cycles)
end)

--- CTAs whose loads take turns, by conflicts of 32 words in a bank or 32 constants, where they are between two numbers, and else do not.
local turns <const> = [[
.version 6.0
.target sm_60
.address_size 64
.visible .const .align 4 .b8 table[4096];
.visible .entry turns(.param .u64 data, .param .u32 from, .param .u32 to)
{
  .shared .align 4 .b8 room[4096];
  .reg .b32 %%r<16>; .reg .b64 %%d<6>; .reg .pred %%p<3>; .reg .f32 %%f<3>;
  ld.param.u64 %%d1, [data]; ld.param.u32 %%r1, [from]; ld.param.u32 %%r2, [to];
  mov.u32 %%r3, %%ctaid.x; mov.u32 %%r4, %%ntid.x; mov.u32 %%r5, %%tid.x; mad.lo.u32 %%r6, %%r3, %%r4, %%r5;
  mul.wide.u32 %%d4, %%r6, 4; add.u64 %%d4, %%d1, %%d4; mov.f32 %%f2, 0f3F800000;
  setp.ge.u32 %%p1, %%r3, %%r1; setp.lt.and.u32 %%p1, %%r3, %%r2, %%p1; and.b32 %%r7, %%r5, 31;
  %s
  and.b32 %%r8, %%r3, 3; add.u32 %%r8, %%r8, 16;
again:
  %s
  and.b32 %%r9, %%r6, 1023; mul.wide.u32 %%d2, %%r9, 4; add.u64 %%d3, %%d1, %%d2; ld.global.f32 %%f1, [%%d3];
  fma.rn.f32 %%f2, %%f2, %%f1, %%f1; fma.rn.f32 %%f2, %%f2, %%f1, %%f1; fma.rn.f32 %%f2, %%f2, %%f1, %%f1; fma.rn.f32 %%f2, %%f2, %%f1, %%f1;
  mad.lo.u32 %%r6, %%r6, 5, 13; sub.u32 %%r8, %%r8, 1; setp.ne.u32 %%p2, %%r8, 0; @%%p2 bra again;
  st.global.f32 [%%d4], %%f2;
  ret;
}
]]

local of_conflicts <const> = { "mov.u32 %r10, 4; @%p1 mov.u32 %r10, 128; mul.lo.u32 %r7, %r7, %r10; mov.u32 %r11, room; add.u32 %r7, %r7, %r11;",
  "ld.shared.f32 %f1, [%r7]; add.f32 %f2, %f2, %f1;" }
local of_constants <const> = { "mov.u32 %r10, 0; @%p1 mov.u32 %r10, 4; mul.lo.u32 %r7, %r7, %r10; mov.u64 %d5, table; cvt.u64.u32 %d2, %r7; add.u64 %d5, %d5, %d2;",
  "ld.const.f32 %f1, [%d5]; add.f32 %f2, %f2, %f1;" }

--- CTAs from `from` on, before `to`, take turns.
local function workload_of_turns(pieces, from, to)
  local w = ww.workload "turns" { doc = "some CTAs take turns", sizes = { small = {} }, ptx = turns:format(table.unpack(pieces)) }
  function w:run(gpu)
    local data = gpu:alloc(4 << 20)
    gpu:launch(self.kernels.turns, { grid = grid, block = 128, args = { data, from, to } })
    self:check("digest", #gpu:digest(), 16)
  end
  return w
end

for _, case in ipairs { { "conflicts of shared memory", of_conflicts }, { "further accesses of constants", of_constants } } do
  local what <const>, pieces <const> = case[1], case[2]
  harness.test(("a part of the launch that takes longer by %s widens the interval where no window meets it"):format(what), function()
    local more <const> = { workload = workload_of_turns(pieces, 1860, 1940), out = false, set = { sms = 4, partitions = 2, ["sm[*].ctas"] = 4 } }
    local truth, r = run(what, nil, nil, more), run(what, nil, "windows=6,seed=2", more)
    harness.equal(r.sampled.sampled, 1, r.sampled.lines[1])
    assert(truth.cycles - r.cycles > 0.01 * truth.cycles, "a window met it")
    assert(math.abs(r.cycles - truth.cycles) <= r:interval "run.cycles", ("%d of %d, +-%g"):format(r.cycles, truth.cycles, r:interval "run.cycles"))
  end)
end

harness.test("without timing, conflicts of shared memory are known by some CTAs, and requests of each slice of the L2", function()
  local w, conflicts, requests = workload_of_turns(of_conflicts, 0, grid), 0, nil
  local sim = ww.build("gtx480", { sample = "windows=3" })
  local gpu = sim:gpu()
  core.on_launch(gpu, function(offer)
    core.forward_begin(gpu)
    local instructions, _, counted, of_slices = core.forward_until(gpu, offer.ctas)
    core.forward_end(gpu)
    conflicts, requests = counted.conflicts, of_slices
    return { cycles = 1, warp_instructions = instructions, thread_instructions = instructions }
  end)
  sim:run(w, "small")
  local truth = ww.run { config = "gtx480", workload = w, size = "small", out = false }
  local wanted = truth["sm[*].lsu.bank_conflict_cycles"]
  assert(wanted > 1e6 and math.abs(conflicts - wanted) < 0.03 * wanted, ("%d of %d"):format(conflicts, wanted))
  harness.equal(#requests, 6)
  for i, count in ipairs(requests) do
    local with_timing = truth[("l2[%d].accesses"):format(i - 1)]
    assert(math.abs(count - with_timing) < 0.05 * with_timing, ("slice %d: %d of %d"):format(i - 1, count, with_timing))
  end
end)

harness.test("loads and accesses are as many without timing as with it", function()
  for _, name in ipairs { "spmv", "bfs", "histogram", "srad" } do
    local sim = ww.build("gtx480", { sample = "windows=3" })
    local gpu, count, accesses = sim:gpu(), 0, 0
    core.on_launch(gpu, function(offer)
      core.forward_begin(gpu)
      local instructions, _, counted = core.forward_until(gpu, offer.ctas)
      core.forward_end(gpu)
      count, accesses = count + counted.loads, accesses + counted.accesses
      return { cycles = 1, warp_instructions = instructions, thread_instructions = instructions }
    end)
    sim:run(name, "small")
    local truth = ww.run { config = "gtx480", workload = name, size = "small", out = false }
    harness.equal(count, truth["sm[*].lsu.global_loads"] + truth["sm[*].lsu.local_loads"] + truth["sm[*].lsu.atomics"], name)
    local wanted = 0
    for _, kind in ipairs { "load", "store", "atomic", "prefetch" } do wanted = wanted + truth[("sm[*].lsu.%s_accesses"):format(kind)] end
    if name ~= "bfs" then harness.equal(accesses, wanted, name) end -- which thread finds a node first, the order of warps says
  end
end)

harness.test("short launches run with timing and say why; without others the result is exact", function()
  local few <const> = { { grid = 200 } }
  local _, text = run("few", few)
  local r, estimated = run("few-sampled", few, "error=3%")
  harness.equal(estimated, text)
  harness.equal(r.sampled.exact, 1)
  harness.contains(r.sampled.lines[1], "exact: 6.7 waves of CTAs, 10 are needed")
  local status, output = harness.run("run", "gtx480", "spmv", "--size", "small", "--sample", "error=3%", "--out", harness.folder() .. "/why")
  harness.equal(status, 0, output)
  harness.contains(output, "1: 0 sampled, 0 like others, 1 exact; ", "longest exact one    launch 0, spmv_csr: exact: ", " waves of CTAs, 10 are needed\n")
end)

harness.test("what is in flight when the last kernel ends takes no cycles", function()
  local options <const> = { workload = "sad", set = { ["mc[*].latency"] = 500 } }
  local sim = ww.build("gtx480", { set = options.set })
  sim:run("sad", "small")
  assert(sim:gpu():totals().cycles > sim:result().cycles, "nothing was in flight")
  local _, text = run("last", nil, nil, options)
  local r, estimated = run("last-sampled", nil, "error=3%", options)
  harness.equal(r.sampled.exact, 2)
  harness.same_text(estimated, text)
end)

harness.test("launches of a kernel that agree stand for others like them; one that is unlike them does not", function()
  local launches <const> = { { grid = 200 }, { grid = 200 }, { grid = 200 }, { grid = 200 }, { grid = 200, rounds = 32 }, { grid = 200 } }
  local truth, r, stats = run("repeated", launches), run("repeated-sampled", launches, "error=3%")
  harness.equal(r.sampled.like_others, 2, table.concat(r.sampled.lines, "\n"))
  for i = 1, 3 do harness.contains(r.sampled.lines[i], "exact") end
  harness.contains(r.sampled.lines[4], "like launches 0, 1 and 2")
  harness.contains(r.sampled.lines[5], "exact")
  harness.equal(r.warp_instructions, truth.warp_instructions)
  assert(math.abs(r.cycles - truth.cycles) <= math.max(r:interval "run.cycles", 0.005 * truth.cycles), r.cycles .. " of " .. truth.cycles)
  harness.equal(#r.launches, 6)
  harness.equal(r["dispatcher.kernels"], 6)
  assert_counters_inside(r, truth, "^sm%[", 0.9)
  local widths = {}
  for i = 0, 5 do
    widths[i] = r:interval(("launch[%d].cycles"):format(i))
    harness.equal(r:interval(("launch[%d].start_cycle"):format(i)), i > 0 and r:interval(("launch[%d].start_cycle"):format(i - 1)) + widths[i - 1] or 0)
  end
  assert(widths[3] > 0 and widths[4] == 0, "the wrong launches are estimated")
  for i, is_estimated in pairs { [0] = false, [2] = false, [3] = true, [4] = false, [5] = true } do
    for _, name in ipairs { "cycles", "thread_instructions", "ipc" } do
      local line = stats:match(("\n(launch%%[%d%%]%%.%s [^\n]*)"):format(i, name))
      harness.equal(line:find "estimated, %+%-" ~= nil, is_estimated, line)
    end
  end
  harness.contains(stats, "\nlaunch[3].start_cycle ")
  assert(not stats:find "\nlaunch%[3%]%.start_cycle [^\n]*estimated" and stats:find "\nlaunch%[4%]%.start_cycle [^\n]*estimated")
end)

harness.test("launches that are a small part of all have timing: behind one without, others begin from another state", function()
  local small <const> = { grid = 30, rounds = 2 }
  local launches <const> = { { grid = 290, rounds = 128 }, small, small, small, small, small }
  local r = run("small", launches, "error=3%", { out = false })
  harness.equal(r.sampled.exact, #launches, table.concat(r.sampled.lines, "\n"))
  table.remove(launches, 1)
  r = run("small-alone", launches, "error=3%", { out = false })
  harness.equal(r.sampled.like_others, 1, table.concat(r.sampled.lines, "\n"))
end)

harness.test("counters of policies are in a result of which every launch is exact, and in no estimate", function()
  local path = harness.write("counts.lua", [[
local p = require("warpwright.policy") "counts" { counters = { ctas = "CTAs that began" } }
function p:on_cta_start() self:count "ctas" end
return p]])
  local few <const> = { { grid = 40 } }
  local r = run("policy-exact", few, "error=3%", { policy = path, out = false })
  harness.equal(r.sampled.exact, 1, table.concat(r.sampled.lines, "\n"))
  harness.equal(r["sm[*].counts.ctas"], 40)
  r = run("policy-sampled", one, "windows=8,cycles=3000", { policy = path, out = false })
  harness.equal(r.sampled.sampled, 1, table.concat(r.sampled.lines, "\n"))
  for name in r:stats() do assert(not name:find ".counts.", name) end
end)

harness.test("what a sampled run cannot have is refused", function()
  for _, text in ipairs { "", "error", "error=3", "error=0%", "error=3%,windows=4", "windows=2", "seed=1", "budget=101%" } do
    harness.contains(tostring(select(2, pcall(sample_options.read, text))), "sample: expected error=3%", "windows=N of each launch, 3 or more", text)
  end
  for name, value in pairs { checkpoint_at = "100", keep = 1, memcheck = true, fast_forward = "launch=1", max_cycles = 10, profile = true } do
    local _, problem = pcall(run, "refused", one, "error=3%", { [name] = value })
    harness.contains(tostring(problem), ("sample: expected a run without %s, got one with it"):format(name))
  end
  local _, problem = pcall(run, "refused", one, "error=3%", { jobs = 0 })
  harness.contains(tostring(problem), "jobs: expected a whole number from 1 on")
  _, problem = pcall(ww.build, "gtx480", { jobs = 2 })
  harness.contains(tostring(problem), "jobs: expected sample with it, got none")
end)

harness.test("a run that was killed goes on with the windows that it had: the same bytes", function()
  local options = ("run gtx480 vecadd --size medium --sample windows=3,cycles=2000 --out %s/killed"):format(home)
  local words = {}
  for word in options:gmatch "%S+" do words[#words + 1] = word end
  local script = harness.write("killed.lua", ([[
    local core, ww = require "warpwright.core", require "warpwright"
    local pid = core.fork()
    if pid == 0 then
      local try_to_write = require("warpwright.inputs").try_to_write
      require("warpwright.inputs").try_to_write = function(path, text)
        local problem = try_to_write(path, text)
        if path:find "/passes/" then core.leave(9) end
        return problem
      end
      ww.run { config = "gtx480", workload = "vecadd", size = "medium", sample = "windows=3,cycles=2000", out = "%s/killed" }
    end
    print(select(2, core.wait_for_child()))
  ]]):format(home))
  local _, printed = harness.run(script)
  harness.contains(printed, "9")
  assert(io.open(home .. "/killed/passes/0-0"))
  harness.equal(harness.run(table.unpack(words)), 0)
  words[#words] = home .. "/whole"
  harness.equal(harness.run(table.unpack(words)), 0)
  harness.equal(harness.read(home .. "/killed/stats.txt"), harness.read(home .. "/whole/stats.txt"))
  harness.equal(io.open(home .. "/killed/passes/0-0"), nil)
end)

harness.test("a run that cannot keep a pass says so and goes on to the same bytes", function()
  local out = home .. "/kept_nowhere"
  local script = harness.write("kept_nowhere.lua", ([[
    local inputs, ww = require "warpwright.inputs", require "warpwright"
    local try_to_write = inputs.try_to_write
    inputs.try_to_write = function(path, text) return path:find "/passes/" and path .. ": full" or try_to_write(path, text) end
    ww.run { config = "gtx480", workload = "vecadd", size = "medium", sample = "windows=3,cycles=2000", out = "%s" }
  ]]):format(out))
  local status, printed = harness.run(script)
  harness.equal(status, 0, printed)
  harness.contains(printed, "sample: ", "/passes/0-0: full; the run goes on, and cannot begin again behind this pass")
  harness.same_text(harness.read(out .. "/stats.txt"), harness.read(home .. "/whole/stats.txt"))
end)

harness.test("a run that a signal stops says so, and goes on when it is started again", function()
  local out = home .. "/stopped"
  local script = harness.write("stopped.lua", ([[
    local core, ww = require "warpwright.core", require "warpwright"
    local begin = core.forward_begin
    core.forward_begin = function(gpu)
      os.execute("kill -TERM " .. core.process())
      return begin(gpu)
    end
    ww.run { config = "gtx480", workload = "vecadd", size = "medium", sample = "windows=3,cycles=2000", out = "%s" }
  ]]):format(out))
  local status, printed = harness.run(script)
  harness.equal(status, 75)
  harness.contains(printed, ("kernel vecadd has not ended: SIGTERM; the same command with --out %s goes on"):format(out))
  harness.equal(harness.run("run", "gtx480", "vecadd", "--size", "medium", "--sample", "windows=3,cycles=2000", "--out", out), 0)
  harness.same_text(harness.read(out .. "/stats.txt"), harness.read(home .. "/whole/stats.txt"))
end)

--- A workload that a signal stops in a launch with timing, when it runs for the first time.
local function stopped_once(name)
  return harness.write(name .. ".lua", ([[
    local core, ww = require "warpwright.core", require "warpwright"
    local w = ww.workload "%s" { ptx = [==[%s]==], sizes = { small = {} } }
    function w:run(gpu)
      local data, mark = gpu:alloc(1 << 20), "%s/%s.mark"
      if not core.is_file(mark) then
        io.open(mark, "w"):close()
        os.execute("kill -TERM " .. core.process())
      end
      gpu:launch(self.kernels.steady, { grid = 30, block = 128, args = { data, 4, 30 } })
    end
    return w
  ]]):format(name, source, home, name))
end

harness.test("a signal in a launch with timing makes no checkpoint of a sampled run, and the same command goes on", function()
  local out, workload = home .. "/stopped_exact", stopped_once "stopped_exact"
  local status, printed = harness.run("run", "gtx480", workload, "--sample", "error=3%", "--out", out)
  harness.equal(status, 75, printed)
  harness.contains(printed, "SIGTERM", ("the same command with --out %s goes on"):format(out))
  for _, name in ipairs(core.list_folder(out)) do assert(not name:find "%.ckpt$", name) end
  status, printed = harness.run("run", "gtx480", workload, "--sample", "error=3%", "--out", out)
  harness.equal(status, 0, printed)
  harness.contains(harness.read(out .. "/provenance.txt"), "sampled")
end)

harness.test("a sweep that a signal stops in a sampled run goes on, whatever checkpoint lies there", function()
  local out = home .. "/stopped_sweep"
  local file = harness.write("stopped_sweep_file.lua", ([[
    return { axes = { config = "gtx480", workload = "%s", size = "small", sample = "error=3%%" } }
  ]]):format(stopped_once "stopped_in_sweep"))
  local _, printed = harness.run("sweep", file, "--out", out, "--jobs", "1")
  harness.contains(printed, "stopped")
  harness.equal(harness.run("run", "gtx480", "vecadd", "--size", "small", "--checkpoint-at", "100", "--out", home .. "/checkpoint"), 0)
  os.execute(("for run in %s/runs/*/; do cp %s/checkpoint/*.ckpt $run; done"):format(out, home))
  local status, again = harness.run("sweep", file, "--out", out, "--jobs", "1")
  harness.equal(status, 0, again)
end)

harness.test("a result has its intervals when its machine is closed and nothing was written", function()
  local r = run("nothing", one, "windows=4,cycles=3000", { out = false })
  assert(r:interval "run.cycles" > 0 and r:interval "sm[3].l1d.misses" >= 0)
end)

harness.test("the host's time of a sampled run is no whole number of seconds", function()
  local r = run("timed", one, "windows=4,cycles=3000", { out = false })
  assert(r.seconds > 0 and r.seconds % 1 ~= 0, r.seconds)
end)

harness.test("estimates are not subtracted from exact results", function()
  for _, both in ipairs { { sampled, exact }, { exact, sampled } } do
    local _, problem = pcall(both[1].since, both[1], both[2])
    harness.contains(tostring(problem), "since: expected exact results, got one that is estimated by sampling")
  end
end)

harness.test("compare says which run is estimated, and what differs by no more than the intervals", function()
  local _, printed = harness.run("compare", home .. "/exact", home .. "/sampled")
  harness.contains(printed, "A is exact, B is estimated by sampling (windows=8,cycles=3000)")
  local quotient = sampled.cycles / exact.cycles
  local half_width = sampled:interval "run.cycles" / exact.cycles
  harness.contains(printed:gsub(" +", " "), ("run.cycles %d %d %.3fx +-%.3f%s\n"):format(exact.cycles, sampled.cycles, quotient, half_width,
    math.abs(quotient - 1) <= half_width and " not significant" or ""), "of them not significantly")
  run("whole", one, "budget=100%")
  local status, same = harness.run("compare", home .. "/exact", home .. "/whole")
  harness.equal(status, 0, same)
  assert(not same:find("estimated", 1, true), same)
end)

harness.test("estimates are read from either file of statistics, each once", function()
  run("packed", one, "windows=8,cycles=3000", { stats = "packed" })
  for _, name in ipairs { "sampled", "packed" } do
    local list, values, half_widths = stored_run.read_stats(home .. "/" .. name, "test")
    harness.equal(#list, #sampled.rows, name)
    harness.equal(values["sm[3].l1d.misses"], sampled["sm[3].l1d.misses"])
    harness.equal(("%.3g"):format(half_widths["run.cycles"]), ("%.3g"):format(sampled:interval "run.cycles"))
    harness.equal(half_widths["run.warp_instructions"], nil)
    harness.equal(stored_run.read_launches(home .. "/" .. name)[1].kernel, "steady", name)
  end
  local status, compared = harness.run("compare", home .. "/sampled", home .. "/packed")
  harness.equal(status, 0, compared)
end)

harness.test("a sweep keeps exact and sampled runs apart, and its database the intervals", function()
  local count, folders = 0, {}
  for row in ww.sweep { axes = { config = "gtx480", workload = "saxpy", size = "small", sample = { "error=3%", "budget=100%" } },
    out = home .. "/sweep", jobs = 1 } do
    harness.equal(row.status, "done")
    count = count + 1
    folders[row.folder] = row.sample
  end
  harness.equal(count, 2)
  harness.equal(folders[next(folders)] ~= folders[next(folders, (next(folders)))], true)
  local mark = "estimated, +-12.5: Accesses"
  harness.equal(sampled_result.width_in(mark), 12.5)
  harness.equal(select(2, sampled_result.width_in(mark)), "Accesses")
  harness.equal(select(2, sampled_result.width_in "Accesses: all"), "Accesses: all")
end)


--- CTAs that hit the L1, but 200 from number `later` on, whose lanes all load from lines of their own.
local phased <const> = source:gsub("setp%.ge%.u32 %%p1, %%r3, %%r2; @%%p1 add%.u32 %%r1, %%r1, %%r1;",
  "sub.u32 %%r9, %%r3, %%r2; setp.lt.u32 %%p1, %%r9, 200; mov.u32 %%r10, 1023; @%%p1 mov.u32 %%r10, 524287;"):gsub("%%r6, 1023", "%%r6, %%r10")

harness.long_test("a short phase that asks for more of the memory, and that windows may miss, is no estimate or inside the interval", function()
  local launches <const> = { { later = 1700 } }
  local truth = run("phased", launches, nil, { out = false, kernel_text = phased })
  for seed = 1, 3 do
    local r = run("phased-sampled", launches, ("windows=6,cycles=3000,seed=%d"):format(seed), { out = false, kernel_text = phased })
    assert(math.abs(r.cycles - truth.cycles) <= r:interval "run.cycles", ("%d of %d, +-%g"):format(r.cycles, truth.cycles, r:interval "run.cycles"))
  end
end)

--- CTAs that read `later` lines at random.
local scattered <const> = source:gsub("setp%.ge%.u32 %%p1, %%r3, %%r2; @%%p1 add%.u32 %%r1, %%r1, %%r1;", ""):gsub("and%.b32 %%r7, %%r6, 1023;",
  "rem.u32 %%r7, %%r6, %%r2; shl.b32 %%r7, %%r7, 5;")

harness.test("a launch of as many instructions that asks for more of the memory than those before is not like them", function()
  local launches = {}
  for i = 1, 6 do launches[i] = { grid = 90, later = i == 5 and 30000 or 2000 } end
  local r = run("asks-for-more", launches, "error=3%", { out = false, kernel_text = scattered })
  harness.contains(r.sampled.lines[5], "exact")
  assert(r.sampled.like_others > 0, table.concat(r.sampled.lines, "\n"))
end)

--- CTAs of which those from number `later` on have 16 times as many rounds.
local heavy_end <const> = source:gsub("@%%p1 add%.u32 %%r1, %%r1, %%r1;", "@%%p1 shl.b32 %%r1, %%r1, 4;")

harness.test("which SM has the last of the long CTAs is left to chance", function()
  local launches <const>, more <const> = { { grid = 1200, later = 1180 } }, { out = false, kernel_text = heavy_end }
  local truth, r, widest = run("heavy-end", launches, nil, more), run("heavy-end-sampled", launches, "windows=4,cycles=1000", more), 0
  harness.equal(r.sampled.sampled, 1, table.concat(r.sampled.lines, "\n"))
  for i = 0, 14 do
    local name = ("sm[%d].warp_instructions"):format(i)
    local width = r:interval(name)
    widest = math.max(widest, width / truth[name])
    assert(math.abs(r[name] - truth[name]) <= width, ("%s: %d of %d, +-%g"):format(name, r[name], truth[name], width))
  end
  assert(widest < 1, widest)
end)

harness.long_test("two launches that may err to either side do not make up for each other", function()
  local estimates = measures.other_estimates
  measures.other_estimates = { function(launch) -- a tenth too few cycles of the one, a tenth too many of the other
    return launch.windows and measures.sum({ measures.total(launch) }, { launch.offer.number == 0 and 1.1 or 0.9 }) or nil
  end }
  local r = run("both-sides", { { grid = 3600 }, { grid = 3630 } }, "windows=4,cycles=1000", { out = false })
  local width = r:interval "run.cycles"
  measures.other_estimates = estimates
  harness.equal(r.sampled.sampled, 2)
  assert(width > 0.09 * r.cycles, ("%d +-%g"):format(r.cycles, width))
end)

harness.finish()
