-- MeDiC and its parts, class by class, with warps of known types: what each is found to be, and what then happens to its
-- requests in the L2 and at the memory controller.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local kernel = require "tests.kernels.warp_types_kernel"

-- A sample is of ten rounds, so hit ratios are exact: 0, 3, 16, 29 and 32 of 32 lanes miss. One sample per warp.
local one_sample = "interval=10000000,warm_up=320"
local own_rows = { "%.warp_types%.", "%.sampler%." }

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
  expect_types(kernel.run("warp_types:interval=10000000,warm_up=1280"),
    { all_hit = 2, mostly_hit = 2, balanced = 2, mostly_miss = 1, all_miss = 1 })
  expect_types(kernel.run("warp_types:interval=10000000,warm_up=1290"), {}) -- 40 rounds, a write, parameters
end)

harness.test("the cut-offs are as given", function()
  local r = kernel.run("warp_types:mostly_hit=0.91,mostly_miss=0.09," .. one_sample)
  expect_types(r, { all_hit = 2, balanced = 5, all_miss = 1 })
  r = kernel.run("warp_types:mostly_hit=0.90625,mostly_miss=0.09376," .. one_sample) -- exactly 29/32, and just above 3/32
  expect_types(r, { all_hit = 2, mostly_hit = 2, balanced = 2, mostly_miss = 1, all_miss = 1 })
end)

harness.test("every interval the warps are sampled again, and a warp that changes is of another type", function()
  local r = kernel.run("warp_types:interval=2000,warm_up=64", { rounds = "200 0 0 0" })
  local sum = 0
  for _, name in ipairs { "all_hit", "mostly_hit", "balanced", "mostly_miss", "all_miss" } do sum = sum + types(r, name) end
  harness.equal(sum, checks.sum(r, "sm.sampler.samples"), "samples")
  assert(sum > 8 * 10, sum .. " samples")
  harness.equal(types(r, "changes"), 0, "changes of warps that go on as before")
  r = kernel.run("warp_types:interval=2000,warm_up=64", { rounds = "100 100 0 0" }) -- other lines: 32 that miss
  assert(types(r, "changes") > 0, "no warp has changed")
end)

harness.test("warp_ratios has every sample at its hit ratio", function()
  local r = kernel.run("warp_ratios:" .. one_sample)
  for name, count in pairs { all = 2, from_90 = 2, from_50 = 2, from_0 = 1, none = 1, from_40 = 0, from_10 = 0 } do
    harness.equal(checks.sum(r, "sm.warp_ratios." .. name), count, name)
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

harness.test("warps that bypass go through the L2 while they are sampled again", function()
  local r = kernel.run("wbyp:interval=5000,warm_up=64", { rounds = "200 0 0 0" })
  harness.equal(types(r, "changes"), 0, "changes")
  local most = 2 * 200 * 32
  local bypassed = l2(r, "read_bypasses")
  assert(bypassed > most / 3 and bypassed < most * 0.95, bypassed .. " of " .. most)
  assert(types(r, "all_miss") > 5, "too few samples to tell")
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
  harness.contains(harness.read(config .. "/config.lua"), 'insertion_position = "0,255,255,8,0,0"', 'retention_priority = "1,0,0,1,2,2"')
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
  checks.equals(name .. ":warm_up=0", "gto", "bfs", own_rows)
end
checks.equals("medic:warm_up=0", "gto", "spmv", own_rows)
checks.law("medic:interval=3000,warm_up=20", "bfs")
checks.law("medic:interval=3000,warm_up=20", "spmv")
checks.resumes("medic:interval=3000,warm_up=20", "bfs", 4)
checks.resumes("medic:interval=3000,warm_up=20", "spmv", 3)
checks.takes_over("medic:interval=3000,warm_up=20", "gto", "bfs", 20000)
checks.takes_over("gto", "medic:interval=3000,warm_up=20", "bfs", 20000)

harness.finish()
