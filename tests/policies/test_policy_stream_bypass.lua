-- Bypassing of streaming applications: the threshold to the access, the tags that go on, L1 and L2 each for itself.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

local period = 2000

-- Runs behind stream_bypass in each of its periods: what reads the cache had counted by then, tags of a cache that is off
-- included, and whether it is on.
local observer = harness.write("observer.lua", [[
local policy = require "warpwright.policy"
local counters = {}
for k = 1, 40 do counters["hits" .. k], counters["misses" .. k], counters["on" .. k] = "", "", "" end
local observer = policy "observer" {
  doc = "Watches stream_bypass", scope = "machine", period = "period", counters = counters,
  params = { period = { 2000 }, level = { "l1" } },
}

function observer:on_period()
  local cache, k = (self.params.level == "l1" and self.l1s or self.l2s)[1], (self.state.k or 0) + 1
  self.state.k = k
  if k > 40 then return end
  self:count("hits" .. k, cache.read_hits + cache.read_merges + cache.off_read_hits)
  self:count("misses" .. k, cache.read_misses + cache.off_read_misses)
  self:count("on" .. k, cache.enabled and 1 or 0)
end

return observer
]])

-- A warp walks along 32 rows, and misses in every fourth round; then it stays where it is, and hits.
local walk = checks.strided { threads = 32, stride = 4096 + 128, step = 32, moves = 100, rounds = 300 }

-- All threads read the same word, of another line in each round. In one SM the first warp's read misses in L1 and those of the
-- other warps find the line on its way; of four SMs that does the L2.
local shared = {
  l1 = checks.strided { threads = 128, stride = 0, step = 128, moves = 1000, rounds = 1000 },
  l2 = checks.strided { threads = 32, ctas = 4, stride = 0, step = 128, moves = 1000, rounds = 1000 },
}

--- Periods of a run: { misses =, accesses =, on = }, on: after the decision at the period's end.
local function periods(level, threshold, workload, sms)
  local r = checks.run {
    workload = workload or walk,
    policy = ("stream_bypass:period=%d,threshold=%.17g,l1=%s,l2=%s+%s:level=%s"):format(period, threshold, level == "l1",
      level == "l2", observer, level),
    set = { sms = sms or 1, partitions = 1, ["sm[*].l1d.enabled"] = level == "l1" },
  }
  local found, hits, misses = {}, 0, 0
  for k = 1, math.min(40, r.cycles // period) do
    local function counter(name) return r[("dispatcher.observer.%s%d"):format(name, k)] end
    local new_hits, new_misses = counter "hits" - hits, counter "misses" - misses
    hits, misses = counter "hits", counter "misses"
    found[k] = { misses = new_misses, accesses = new_hits + new_misses, on = counter "on" == 1 }
  end
  return found, r
end

for _, level in ipairs { "l1", "l2" } do
  harness.test(level .. ": off at a miss rate above the threshold, not at the threshold", function()
    local first = periods(level, 1)[1]
    local misses, accesses = first.misses, first.accesses
    assert(misses > 10 and misses < accesses, ("%d of %d miss: no use"):format(misses, accesses))
    for _, case in ipairs { { -0.5, false }, { 0, true }, { 0.5, true } } do
      local got = periods(level, (misses + case[1]) / accesses)[1]
      harness.equal(got.misses, misses, "misses")
      harness.equal(got.on, case[2], ("on at a threshold of %g of %d accesses"):format(misses + case[1], accesses))
    end
  end)

  harness.test(level .. ": on again at a miss rate of the tags below the threshold, not at the threshold", function()
    local off, k = periods(level, 0), 2 -- the first period in which the warp stood still for a part
    while off[k].misses / off[k].accesses > 0.8 * off[1].misses / off[1].accesses do k = k + 1 end
    local misses, accesses = off[k].misses, off[k].accesses
    for _, case in ipairs { { -0.5, false }, { 0, false }, { 0.5, true } } do
      if misses + case[1] >= 0 then
        local got = periods(level, (misses + case[1]) / accesses)
        for i = 1, k - 1 do harness.equal(got[i].on, false, "on after period " .. i) end
        harness.equal(got[k].misses, misses, "misses of the tags")
        harness.equal(got[k].on, case[2], ("on at a threshold of %g of %d accesses"):format(misses + case[1], accesses))
      end
    end
  end)
end

for _, case in ipairs { { "l1", 1, "sm.l1d" }, { "l2", 4, "l2" } } do
  local level, sms, cache = table.unpack(case)
  harness.test(level .. ": a request for a line on its way is no miss", function()
    local found, r = periods(level, 0.9, shared[level], sms)
    local function count(name) return checks.sum(r, cache .. "." .. name) end
    local hits, merges, misses = count "hits", count "merges", count "misses" + count "off_misses"
    assert(misses / (misses + hits) > 0.9 and misses / (misses + hits + merges) < 0.6,
      ("%d hits, %d merges, %d misses: no use"):format(hits, merges, misses))
    for k, period_found in ipairs(found) do harness.equal(period_found.on, true, "on after period " .. k) end
  end)
end

-- The tags while a cache is off --------------------------------------------------------------------------------------------

-- Switches the L1 off at the end of a period, or at the start, and on at the end of a later one.
local switch = harness.write("switch.lua", [[
local policy = require "warpwright.policy"
local switch = policy "switch" {
  doc = "", scope = "machine", period = 1000, params = { off = { 0 }, on = { 0 } },
}
function switch:start()
  self.state.period = 0
  self.l1s[1].enabled = self.params.off ~= 0
end
function switch:on_period()
  local k = self.state.period + 1
  self.state.period = k
  if k == self.params.off then self.l1s[1].enabled = false end
  if k == self.params.on then self.l1s[1].enabled = true end
end
return switch
]])

local function switched(launch, how)
  local r = checks.run { workload = checks.strided(launch), policy = switch .. ":" .. how, set = { sms = 1 } }
  return function(name) return checks.sum(r, "sm.l1d." .. name) end
end

local spread = 4096 + 128

harness.test("lines that were there when the L1 was switched off hit right after it is on again", function()
  local l1 = switched({ threads = 32, stride = spread, rounds = 200 }, "off=3,on=6")
  assert(l1 "off_hits" >= 32, "nothing was read while it was off")
  harness.equal(l1 "off_misses", 0, "misses of the tags")
  harness.equal(l1 "read_misses", 32, "misses: the first round's")
  harness.equal(l1 "read_hits", 199 * 32 - l1 "off_hits", "hits")
end)

harness.test("lines that came while it was off are known, and miss once for their data", function()
  local l1 = switched({ threads = 32, stride = spread, rounds = 200 }, "off=0,on=6")
  harness.equal(l1 "off_misses", 32, "misses of the tags: the first round's")
  assert(l1 "off_hits" >= 32, "nothing was read again while it was off")
  harness.equal(l1 "read_misses", 32, "misses of the round after it was on again")
  harness.equal(l1 "read_hits", 199 * 32 - l1 "off_hits" - 32, "hits")
end)

harness.test("what was read while it was off replaces older lines", function()
  local l1 = switched({ threads = 32, stride = spread, step = 128, moves = 1000, rounds = 1200 }, "off=2,on=4")
  local always = switched({ threads = 32, stride = spread, step = 128, moves = 1000, rounds = 1200 }, "off=1000,on=1001")
  harness.equal(l1 "read_misses" + l1 "off_misses", always "read_misses", "misses, those of the tags included")
end)

-- Workloads ------------------------------------------------------------------------------------------------------------------

local function counts(workload, params)
  local r = checks.run { workload = workload, policy = "stream_bypass:" .. params }
  return function(name) return r["dispatcher.stream_bypass." .. name] end, r
end

harness.test("vector addition runs past both caches", function()
  local own, r = counts("vecadd", "period=2000")
  for _, case in ipairs { { "l1", 15 }, { "l2", 6 } } do
    local level, number = case[1], case[2]
    harness.equal(own(level .. "_off"), number, level .. " switched off")
    harness.equal(own(level .. "_on"), 0, level .. " switched on")
    assert(own(level .. "_off_periods") >= number * (r.cycles // 2000 - 2), level .. " is on")
  end
  local gto = checks.run { workload = "vecadd", policy = "gto" }
  local name = "sm.l1d.mshr_entry_fail_cycles"
  assert(checks.sum(r, name) < checks.sum(gto, name) / 10, "the L1s still stall for MSHRs")
end)

-- y = a x + y: no read hits in the L2, and each write finds the line that its thread has read.
harness.test("an L2 that only writes hit is switched off and stays so; it comes back where writes count", function()
  local gto = checks.run { workload = "saxpy", policy = "gto" }
  local function count(name) return checks.sum(gto, "l2." .. name) end
  assert(count "read_hits" + count "read_merges" < count "read_misses" / 100, "reads hit in the L2: no use")
  assert(count "write_hits" > count "misses" / 4, "writes do not hit in the L2: no use")
  local own, r = counts("saxpy", "period=1000")
  harness.equal(own "l2_off", 6, "L2 slices switched off")
  harness.equal(own "l2_on", 0, "L2 slices switched on")
  assert(checks.sum(r, "l2.off_hits") > checks.sum(r, "l2.off_read_hits") + 1000, "writes find the lines of reads while it is off")
  own = counts("saxpy", "period=1000,l2_writes=true")
  assert(own "l2_on" >= 6, "the L2 slices stay off where writes count")
end)

harness.test("L1 and L2 are watched apart", function()
  for _, case in ipairs { { "l1=true,l2=false", 15, 0 }, { "l1=false,l2=true", 0, 6 } } do
    local own = counts("vecadd", "period=2000," .. case[1])
    harness.equal(own "l1_off", case[2], "L1s off with " .. case[1])
    harness.equal(own "l2_off", case[3], "L2s off with " .. case[1])
  end
end)

harness.test("a kernel with locality is left alone", function()
  local own = counts("kmeans", "period=10000")
  harness.equal(own "l1_off" + own "l2_off", 0, "caches off")
  own = counts("vecadd", "period=2000,least=1000000")
  harness.equal(own "l1_off" + own "l2_off", 0, "caches off in periods with too few accesses")
end)

for _, workload in ipairs { "vecadd", "gesummv" } do
  checks.equals("stream_bypass:threshold=1,period=2000", "gto", workload)
end
checks.equals("stream_bypass:l1=false,l2=false,period=2000", "gto", "vecadd")
checks.law("stream_bypass:period=1000", "vecadd")
checks.law("stream_bypass:period=2000", "spmv") -- off, and on again
checks.resumes("stream_bypass:period=2000", "spmv", 4)

harness.test("a run that is saved while all caches are off goes on the same", function()
  local function run(...)
    local out = harness.folder() .. "/" .. select("#", ...)
    local status, output = harness.run("run", "--out", out, ...)
    harness.equal(status, 0, "exit status, output " .. output)
    return harness.read(out .. "/stats.txt"), out
  end
  local whole, out = run("gtx480", "vecadd", "--size", "small", "--policy", "stream_bypass:period=2000", "--checkpoint-at", "9008")
  local own = whole:match "dispatcher%.stream_bypass%.l1_on +(%d+)"
  harness.equal(own, "0", "L1s switched on")
  harness.equal(run("--resume", out .. "/9008.ckpt"), whole, "stats")
end)

checks.takes_over("stream_bypass:period=1000", "gto", "vecadd", 10000)
checks.takes_over("gto", "stream_bypass:period=1000", "vecadd", 10000)

harness.finish()
