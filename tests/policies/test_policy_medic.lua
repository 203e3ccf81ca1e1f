-- MeDiC and its parts, class by class, with warps of known types: what each is found to be, and what then happens to its
-- requests in the L2 and at the memory controller.
local ww = require "warpwright"
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local kernel = require "tests.kernels.warp_types_kernel"

-- A sample is of ten rounds, so hit ratios are exact: 0, 3, 16, 29 and 32 of 32 lanes miss. One sample per warp of the second
-- launch, whose CTA begins anew.
local one_sample = "interval=10000000,warm_up=320,over_ctas=false"
local own_rows = { "%.warp_types%.", "%.sampler%.", "%.shadow%." }

local function l2(r, name) return checks.sum(r, "l2." .. name) end
local function types(r, name) return checks.sum(r, "sm.warp_types." .. name) end

-- Section 3.1 ------------------------------------------------------------------------------------------------------------

local observer = harness.write("observer.lua", [[
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Class of each warp when it ends, and the cycle in which warp 0 has gone through the first phase",
  counters = { early = "", ready_0 = "", class_0 = "", class_1 = "", class_2 = "", class_3 = "", class_4 = "", class_5 = "" },
}
function observer:on_sampler_sampled(_, _, accesses)
  if accesses ~= 320 then self:count "early" end
end
function observer:on_warp_end(warp)
  self:count("class_" .. self.sm:class_of(warp))
end
function observer:on_warps_changed()
  if self.sm.waiting & 1 == 1 and self.sm:class_of(0) ~= 0 and not self.state.ready then
    self.state.ready = true
    self:count("ready_0", self:cycle())
  end
end
return observer]])

local function expect_types(r, want)
  for _, name in ipairs { "all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss", "changes" } do
    harness.equal(types(r, name), want[name] or 0, name)
  end
end

harness.test("warps are of the type of their hit ratio, and so are all their requests", function()
  local r = kernel.run("warp_types:" .. one_sample .. "+" .. observer)
  expect_types(r, { all_hit = 2, mostly_hit = 2, balanced = 2, mostly_miss = 1, all_miss = 1 })
  for class, count in pairs { [0] = 8, 1, 1, 2, 2, 2 } do -- of the first launch, none is known
    harness.equal(checks.sum(r, "sm.observer.class_" .. class), count, "warps of class " .. class)
  end
  harness.equal(checks.sum(r, "sm.observer.early"), 0, "samples of another size")
end)

harness.test("a sample takes so many requests and no fewer", function()
  expect_types(kernel.run("warp_types:interval=10000000,over_ctas=false,warm_up=1280"),
    { all_hit = 2, mostly_hit = 2, balanced = 2, mostly_miss = 1, all_miss = 1 })
  expect_types(kernel.run("warp_types:interval=10000000,over_ctas=false,warm_up=1290"), {}) -- 40 rounds, a write, parameters
end)

harness.test("the cut-offs are as given", function()
  local r = kernel.run("warp_types:mostly_hit=0.91,mostly_miss=0.09," .. one_sample)
  expect_types(r, { all_hit = 2, balanced = 5, all_miss = 1 })
  r = kernel.run("warp_types:mostly_hit=0.90625,mostly_miss=0.09376," .. one_sample) -- exactly 29/32, and just above 3/32
  expect_types(r, { all_hit = 2, mostly_hit = 2, balanced = 2, mostly_miss = 1, all_miss = 1 })
end)

-- 17, 16, 15 of 32 lanes miss; 10, 9, 8: hit ratios of 22, 23 and 24 of 32, where 0.7 is 22.4.
harness.test("a warp most of whose requests miss is of type mostly-miss, unless it is told otherwise", function()
  expect_types(kernel.run("warp_types:" .. one_sample, { moving = "17 16 15 10 9 8 17 17" }),
    { mostly_miss = 3, balanced = 3, mostly_hit = 2 })
end)

harness.test("every interval the warps are sampled again, and a warp that changes is of another type", function()
  local r = kernel.run("warp_types:interval=2000,warm_up=64,over_ctas=false", { rounds = "200 0 0 0" })
  local sum = 0
  for _, name in ipairs { "all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss" } do sum = sum + types(r, name) end
  harness.equal(sum, checks.sum(r, "sm.sampler.samples"), "samples")
  assert(sum > 8 * 10, sum .. " samples")
  harness.equal(types(r, "changes"), 0, "changes of warps that go on as before")
  r = kernel.run("warp_types:interval=2000,warm_up=64,over_ctas=false", { rounds = "100 100 0 0" }) -- other lines: 32 that miss
  assert(types(r, "changes") > 0, "no warp has changed")
end)

-- Each warp makes 33 requests in the first launch, all of which miss, and then reads the same lines again, which hit.
local still = { moving = "0 0 0 0 0 0 0 0", rounds = "40 0 0 0" }
local seldom = "interval=10000000,warm_up="

harness.test("the counters of a warp's slot go on when a new CTA starts in it", function()
  expect_types(kernel.run("warp_types:" .. seldom .. "40", still), { mostly_miss = 8 }) -- 33 miss, 7 hit
  expect_types(kernel.run("warp_types:over_ctas=false," .. seldom .. "40", still), { all_hit = 8 })
end)

harness.test("the type of a warp's slot stays when a new CTA starts in it", function()
  local r = kernel.run("wbyp:" .. seldom .. "32+" .. observer, still)
  harness.equal(checks.sum(r, "sm.observer.class_1"), 16, "warps that end as all-miss")
  -- The new CTA bypasses from its first request on, and so do the writes of both.
  harness.equal(l2(r, "read_bypasses"), 8 * 32 * 40 + 1, "reads that bypass, one of them of parameters")
  harness.equal(l2(r, "write_bypasses"), 16, "writes that bypass")
  r = kernel.run("wbyp:over_ctas=false," .. seldom .. "32+" .. observer, still)
  harness.equal(checks.sum(r, "sm.observer.class_1"), 8, "warps that end as all-miss, each CTA's sampled")
  harness.equal(checks.sum(r, "sm.observer.class_5"), 8, "warps that end as all-hit, each CTA's sampled")
  harness.equal(l2(r, "read_bypasses"), 0, "reads that bypass, each CTA's sampled")
end)

-- Between the launches each warp gets no answer for more than 300 cycles; in the second, where all hit, none waits that long.
harness.test("a gap clears the counters of a warp's slot", function()
  local r = kernel.run("warp_types:gap=300," .. seldom .. "40", still)
  expect_types(r, { all_hit = 8 })
  assert(checks.sum(r, "sm.sampler.gaps") >= 8, "there was no gap")
  r = kernel.run("warp_types:gap=0," .. seldom .. "40", still)
  expect_types(r, { mostly_miss = 8 })
  harness.equal(checks.sum(r, "sm.sampler.gaps"), 0, "gaps")
end)

harness.test("warp_ratios has every sample at its hit ratio", function()
  local r = kernel.run("warp_ratios:" .. one_sample)
  for name, count in pairs { all = 2, from_90 = 2, from_50 = 2, from_0 = 1, none = 1, from_40 = 0, from_10 = 0 } do
    harness.equal(checks.sum(r, "sm.warp_ratios." .. name), count, name)
  end
end)

-- A warp reads 32 lines of a part of its own in the L2. In another launch, when the L1 is empty, it reads 32 lines of which some
-- are the same; then, by the same instruction, 32 new ones.
local known_lines = { 0, 3, 16, 29, 32 }
local by_parts = ww.workload "by_parts" { ptx = "../kernels/strided_kernel.ptx", sizes = { small = {} } }
function by_parts:run(gpu)
  local line, part = 128, 128 * 96
  local data, sums = gpu:upload(ww.array("u32", #known_lines * part // 4)), gpu:alloc(4 * 32)
  for i, known in ipairs(known_lines) do
    local first = (i - 1) * part
    gpu:launch(self.kernels.stride, { grid = 1, block = 32, args = { data + first, sums, line, 0, 0, 1 } })
    local moved = data + first + (32 - known) * line
    gpu:launch(self.kernels.stride, { grid = 1, block = 32, args = { moved, sums, line, 32 * line, 1, 2 } })
  end
  self:check("sums", gpu:download("u32", sums, 32), ww.array("u32", 32))
end

harness.test("load_ratios has every load at its own hit ratio", function()
  local r = checks.run { workload = by_parts, policy = "load_ratios", set = { sms = 1, partitions = 1 } }
  local want = { none = 2 * #known_lines + 1, from_0 = 1, from_50 = 1, from_90 = 1, all = 1 }
  for name in pairs(require("warpwright.load").get("policy", "warp_ratios").ranges "Loads") do
    harness.equal(checks.sum(r, "sm.load_ratios." .. name), want[name] or 0, name)
  end
end)

-- Section 3.2 ------------------------------------------------------------------------------------------------------------

harness.test("requests of warps that miss bypass the L2 from the sample on, and no others", function()
  local gto, r = kernel.run "gto", kernel.run("wbyp:" .. one_sample)
  local warps, rounds = 2, 40 - 10
  harness.equal(l2(r, "read_bypasses"), warps * rounds * 32, "reads that bypass")
  harness.equal(l2(r, "write_bypasses"), warps, "writes that bypass") -- the sums
  harness.equal(l2(gto, "read_hits") - l2(r, "read_hits"), rounds * 3, "hits lost") -- those of the mostly-miss warp
  harness.equal(l2(r, "accesses"), l2(gto, "accesses"), "accesses")
end)

harness.test("warps that bypass go through the L2 while they are sampled again, when bypassing requests tell nothing", function()
  local r = kernel.run("wbyp:interval=5000,warm_up=64,over_ctas=false,probes=false", { rounds = "200 0 0 0" })
  harness.equal(types(r, "changes"), 0, "changes")
  local most = 2 * 200 * 32
  local bypassed = l2(r, "read_bypasses")
  assert(bypassed > most / 3 and bypassed < most * 0.95, bypassed .. " of " .. most)
  assert(types(r, "all_miss") > 5, "too few samples to tell")
end)

--- Before: eight warps found to miss. Then they read 256 lines 200 times, of `rounds` those that are in the L2 or others.
local function turn(params, rounds)
  return kernel.run("wbyp:interval=4000,warm_up=32" .. params .. "+" .. observer, { moving = still.moving, rounds = rounds })
end

local function expect_comeback(r, least, most)
  harness.equal(types(r, "all_miss"), 8, "samples in which all missed")
  harness.equal(types(r, "changes"), 8, "changes")
  harness.equal(checks.sum(r, "sm.observer.class_5"), 8, "warps that end as all-hit")
  local bypassed = l2(r, "read_bypasses")
  assert(bypassed > least and bypassed < most, bypassed .. " reads bypass")
end

-- The first interval ends at cycle 4000, when five or six of 200 rounds of 256 reads are done.
harness.test("warps that bypass come back when they turn to lines of the L2", function()
  expect_comeback(turn(",shadow=0", "200 0 0 0"), 4 * 256, 6 * 256)
  expect_comeback(turn("", "200 0 0 0"), 4 * 256, 6 * 256)
end)

harness.test("warps that bypass come back when they turn to lines that would be in the L2, if there are tags for these", function()
  expect_comeback(turn("", "0 200 0 0"), 4 * 256, 6 * 256)
  for _, r in ipairs { turn(",shadow=0", "0 200 0 0"), turn(",shadow=128", "0 200 0 0") } do -- too few for 256 lines
    harness.equal(types(r, "changes"), 0, "changes")
    harness.equal(l2(r, "read_bypasses"), 8 * 32 * 200 + 1, "reads that bypass")
  end
end)

harness.test("warps that bypass and go on to miss keep their type while they are sampled again", function()
  local r = kernel.run("wbyp:interval=2000,warm_up=64,over_ctas=false", { rounds = "200 0 0 0" })
  harness.equal(types(r, "changes"), 0, "changes")
  assert(types(r, "all_miss") > 10 and types(r, "mostly_miss") > 10, "too few samples to tell")
  local all = 2 * 200 * 32 -- but for two or three rounds, the first sample, of each
  harness.equal(l2(r, "read_bypasses"), all - 2 * 2 * 32, "reads that bypass")
end)

-- Section 3.3 ------------------------------------------------------------------------------------------------------------

-- Ten rounds for the samples; two with other lines, which are then of known type; 60 of only the warps that miss, which
-- bring 64 lines each, 120 for each set; and one more.
local storm = { moving = "0 3 16 32 32 0 3 16", rounds = "12 2 60 1" }

-- The last round: 32 lanes of each all-hit warp, 29 and 16 of the others.
harness.test("lines of warps that miss go first", function()
  local gto, r = kernel.run("gto", storm), kernel.run("wip:" .. one_sample, storm)
  harness.equal(l2(r, "read_hits") - l2(gto, "read_hits"), 2 * (32 + 29 + 16), "hits won")
  harness.equal(l2(gto, "protected_evictions") + l2(gto, "low_priority_insertions"), 0, "lines that classes move without the policy")
  assert(l2(r, "protected_evictions") > 0, "no line was spared") -- few: what should go first has entered as the least recently used
  -- of the warps that miss, the balanced ones' still and moving lines, and what these write
  harness.equal(l2(r, "low_priority_insertions"), 2 * 32 * (2 + 2 + 60 + 1) + 2 * (16 + 16 * (2 + 2 + 1)) + 4, "lines that enter lower")
end)

harness.test("lines of warps that hit can go in the order of use", function()
  local r = kernel.run("wip:keep_hits=false," .. one_sample, storm)
  harness.equal(l2(r, "read_hits"), l2(kernel.run("wip:" .. one_sample, storm), "read_hits"), "hits") -- others go first
  harness.equal(l2(r, "protected_evictions"), 0, "lines of the same rank that were spared")
end)

harness.test("lines of balanced warps enter in the middle, others at the ends", function()
  local config = harness.folder() .. "/wip"
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small,n=4096", "--policy", "wip", "--out", config)
  harness.equal(status, 0, output)
  harness.contains(harness.read(config .. "/config.lua"), 'insertion_position = "0,255,255,8,0,0"', 'retention_priority = "1,0,0,1,2,2"',
    "retention_uses = 4096")
end)

-- Section 3.4 ------------------------------------------------------------------------------------------------------------

-- Seven warps that miss keep the queue full; warp 0 waits for three lines each round.
harness.test("requests of warps that hit go before all others at the memory controller", function()
  local crowd = { moving = "3 32 32 32 32 32 32 32", rounds = "60 0 0 0", set = { ["l2[*].mshrs"] = 256 } }
  local base = kernel.run("warp_types:" .. one_sample .. "+" .. observer, crowd)
  local r = kernel.run("wms:" .. one_sample .. "+" .. observer, crowd)
  harness.equal(types(r, "mostly_hit"), 1)
  harness.equal(types(r, "all_miss") + types(r, "mostly_miss"), 7) -- one has found the kernel's parameters in L2
  harness.equal(checks.sum(r, "mc.urgent"), 50 * 3, "requests of the first queue")
  local before, now = checks.sum(base, "sm.observer.ready_0"), checks.sum(r, "sm.observer.ready_0")
  assert(now < 0.7 * before, ("the mostly-hit warp is through in cycle %d, and without wms in cycle %d"):format(now, before))
end)

-- After the tenth round, which ends the sample, two rounds go on as before and two with other still lines, which miss first.
harness.test("all-hit and mostly-hit warps have the first queue, and nobody else", function()
  local r = kernel.run("wms:" .. one_sample, { rounds = "12 2 0 0" })
  local mostly_hit, all_hit = 2 * (29 + (2 + 2) * 3), 2 * 32
  harness.equal(checks.sum(r, "mc.urgent"), mostly_hit + all_hit, "requests of the first queue")
end)

harness.test("the misses of an all-hit warp go before those of others", function()
  local crowd = { moving = "0 32 32 32 32 32 32 32", rounds = "12 1 0 0", set = { ["l2[*].mshrs"] = 256 } }
  local turned = harness.write("turned.lua", [[
local policy = require "warpwright.policy"
local turned = policy "turned" { doc = "Cycles of warp 0 in the second phase", counters = { cycles = "" } }
function turned:on_warps_changed()
  local waits, state = self.sm.waiting & 1 == 1, self.state
  if self.sm:class_of(0) == 0 then return end
  if waits and not state.waits then
    if state.released then self:count("cycles", self:cycle() - state.released) end
    state.released = nil
    state.phase = (state.phase or 0) + 1
  elseif not waits and state.waits and state.phase == 1 then
    state.released = self:cycle()
  end
  state.waits = waits
end
return turned]])
  local base, r = kernel.run("warp_types:" .. one_sample .. "+" .. turned, crowd), kernel.run("wms:" .. one_sample .. "+" .. turned, crowd)
  harness.equal(types(r, "all_hit"), 1)
  harness.equal(checks.sum(r, "mc.urgent"), 32, "requests of the first queue")
  local before, now = checks.sum(base, "sm.turned.cycles"), checks.sum(r, "sm.turned.cycles")
  assert(now > 0 and now < 0.8 * before, ("%d cycles in the second phase, without wms %d"):format(now, before))
end)

-- All together -----------------------------------------------------------------------------------------------------------

harness.test("each part of medic alone is that policy, and without any nothing changes", function()
  local switches = { wbyp = "bypassing", wip = "insertion", wms = "scheduling", warp_types = "none" }
  for name, switch in pairs(switches) do
    local words = { "medic:" .. one_sample }
    for _, other in ipairs { "bypassing", "insertion", "scheduling" } do
      words[#words + 1] = other .. "=" .. tostring(other == switch)
    end
    local got = checks.text_of(kernel.run(table.concat(words, ","), storm))
    harness.equal(got, checks.text_of(kernel.run(name .. ":" .. one_sample, storm)), name)
    if name == "warp_types" then
      harness.equal(checks.text_of(kernel.run(table.concat(words, ","), storm), own_rows),
        checks.text_of(kernel.run("gto", storm)), "gto")
    end
  end
end)

harness.test("all parts act at once", function()
  local r = kernel.run("medic:" .. one_sample, storm)
  assert(l2(r, "read_bypasses") > 0 and checks.sum(r, "mc.urgent") > 0)
  harness.equal(l2(r, "read_bypasses"), 2 * 32 * (2 + 2 + 60 + 1), "reads that bypass")
  local gto = kernel.run("gto", storm)
  harness.equal(l2(r, "read_hits") - l2(gto, "read_hits"), 2 * (32 + 29 + 16), "hits won")
end)

for _, name in ipairs { "warp_types", "wbyp", "wip", "wms", "medic" } do
  checks.equals(name .. ":warm_up=0", "gto", "bfs")
end
checks.equals("medic:warm_up=0", "gto", "spmv")
checks.law("medic:interval=3000,warm_up=20", "bfs")
checks.law("medic:interval=3000,warm_up=20", "spmv")
checks.resumes("medic:interval=3000,warm_up=20", "bfs", 4)
checks.resumes("medic:interval=3000,warm_up=20", "spmv", 3)
checks.equals("gto+load_ratios", "gto", "bfs")
checks.law("load_ratios", "bfs")
checks.resumes("load_ratios", "bfs", 2)
checks.takes_over("medic:interval=3000,warm_up=20", "gto", "bfs", 20000)
checks.takes_over("gto", "medic:interval=3000,warm_up=20", "bfs", 20000)

harness.finish()
