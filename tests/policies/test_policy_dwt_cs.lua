-- Dynamic warp throttling via core sampling: detection, sampling, the coordinator's choice, its use to the end of the kernel
-- and in later launches, step by step as a second coordinator sees them.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

-- Runs behind dwt_cs in each period of 2000 cycles, N = 2, M = 3.
local observer = harness.write("observer.lua", [[
local policy = require "warpwright.policy"
local observer = policy "observer" {
  doc = "Watches dwt_cs", scope = "machine", period = "period",
  params = { period = { 2000 }, expect_all = { false } },
  counters = { periods = "", detected_in = "", sampled_for = "", wrong_samples = "", right_choice = "", wrong_choice = "",
    reused_in = "", changed_later = "" },
}

--- What the SMs are limited to: "all" without a limit, "sample" when SM i has i, else the number that all have.
local function limits(self)
  local first, same, ascending = self.sms[1].warp_limit, true, true
  for i, sm in ipairs(self.sms) do
    same = same and sm.warp_limit == first
    ascending = ascending and sm.warp_limit == i
  end
  return same and (first == 64 and "all" or first) or ascending and "sample" or "other"
end

local function instructions(self)
  local counts = {}
  for i, sm in ipairs(self.sms) do counts[i] = sm.thread_instructions end
  return counts
end

function observer:on_kernel_start()
  self.state.launch, self.state.period, self.state.seen = (self.state.launch or 0) + 1, 0, "all"
end

function observer:on_kernel_end()
  if limits(self) ~= "all" then self:count "wrong_samples" end
end

function observer:on_period()
  local state, counters, now = self.state, self.counters, limits(self)
  self:count "periods"
  state.period = state.period + 1
  if state.launch == 1 and state.seen == "all" and now == "sample" then
    state.begun = instructions(self)
    self:count("detected_in", state.period)
  elseif state.launch == 1 and state.seen == "sample" and now ~= "sample" then
    self:count("sampled_for", state.period - counters.detected_in)
    local best, most = 0, -1
    for i, count in ipairs(instructions(self)) do
      if count - state.begun[i] > most then best, most = i, count - state.begun[i] end
    end
    state.choice = best
    self:count(now == best and "right_choice" or "wrong_choice")
  elseif state.launch == 2 and state.seen == "all" and now ~= "all" then
    self:count("reused_in", state.period)
    self:count(now == state.choice and "right_choice" or "wrong_choice")
  elseif now ~= state.seen then
    self:count "changed_later"
  end
  state.seen = now
end

return observer
]])

-- k-means launches its kernel twice; each takes some 50,000 cycles when it is not throttled, and thrashes from the start.
harness.test("N periods, M periods of sampling, the best number for all, and again in the second launch", function()
  local r = checks.run {
    workload = "kmeans", policy = "dwt_cs:period=2000,consecutive=2,samples=3+" .. observer, set = { sms = 8 },
  }
  local function counter(name) return r["dispatcher.observer." .. name] end
  harness.equal(counter "detected_in", 2, "period of the detection")
  harness.equal(counter "sampled_for", 3, "periods of sampling")
  harness.equal(counter "right_choice", 2, "choices of the SM that committed the most, one for each launch")
  harness.equal(counter "wrong_choice", 0, "other choices")
  local reused_in = counter "reused_in" -- the first period is shorter, and may have few misses
  assert(reused_in == 2 or reused_in == 3, ("the number is used again from period %d on"):format(reused_in))
  harness.equal(counter "changed_later", 0, "changes afterwards")
  harness.equal(counter "wrong_samples", 0, "limits left at the end of a kernel")
  local function own(name) return r["dispatcher.dwt_cs." .. name] end
  harness.equal(own "detections", 2, "detections")
  harness.equal(own "samplings", 1, "samplings")
  harness.equal(own "throttled", 2, "kernels throttled")
end)

-- Warps may issue in one period of three. k-means thrashes in it; what is in flight misses in the second, nothing in the third.
local pauses = harness.write("pauses.lua", [[
local policy = require "warpwright.policy"
local pauses = policy "pauses" { scope = "machine", period = "period", params = { period = { 2000 } },
  counters = { paused = "" } }
function pauses:on_period()
  self.state.period = (self.state.period or 0) + 1
  local paused = self.state.period % 3 ~= 0
  if paused then self:count "paused" end
  for _, sm in ipairs(self.sms) do sm.may_issue = paused and 0 or -1 end
end
return pauses
]])

harness.test("N periods with too many misses that are not in a row start no sampling", function()
  local dwt_cs = "+dwt_cs:period=2000,consecutive=3,samples=3"
  local r = checks.run { workload = "kmeans", policy = pauses .. dwt_cs, set = { sms = 8 } }
  assert(r["dispatcher.pauses.paused"] > 10, "pauses: " .. r["dispatcher.pauses.paused"])
  harness.equal(r["dispatcher.dwt_cs.detections"], 0, "detections")
end)

harness.test("throttled k-means is faster", function()
  local gto = checks.run { workload = "kmeans", policy = "gto" }
  local dwt = checks.run { workload = "kmeans", policy = "dwt_cs:period=2000,consecutive=2,samples=2" }
  assert(gto.cycles > 1.5 * dwt.cycles, ("%d cycles, %d under gto"):format(dwt.cycles, gto.cycles))
end)

-- Vector addition likes all the warps that there are: with two SMs, 1 and 2 warps are sampled, then from 2 on, and so on.
harness.test("when the last SM wins, larger numbers are sampled", function()
  local r = checks.run {
    workload = "vecadd", set = { sms = 2 }, policy = "dwt_cs:period=1000,mpki=0,consecutive=1,samples=1",
  }
  local samplings, warps = r["dispatcher.dwt_cs.samplings"], r["dispatcher.dwt_cs.warps"]
  assert(samplings > 2, ("%d samplings"):format(samplings))
  harness.equal(r["dispatcher.dwt_cs.throttled"], 1, "kernels throttled")
  assert(warps == samplings or warps == samplings + 1, ("%d warps after %d samplings"):format(warps, samplings))
end)

-- Four schedulers for three warps: one of them has none.
harness.test("the best number is a warp at least where there are fewer warps than schedulers", function()
  local r = checks.run {
    workload = "delaunay", set = { sms = 2, ["sm[*].warps"] = 3, ["sm[*].schedulers"] = 4 },
    policy = "dwt_cs:period=200,mpki=0,consecutive=1,samples=1",
  }
  local throttled = r["dispatcher.dwt_cs.throttled"]
  assert(throttled > 0, "no kernel is throttled")
  harness.equal(r["dispatcher.dwt_cs.warps"], throttled, "warps per scheduler")
end)

checks.equals("dwt_cs:period=1000,consecutive=1", "gto", "spmv", { sms = 1 }) -- nothing to compare with
for _, workload in ipairs { "kmeans", "sgemm" } do checks.equals("dwt_cs:mpki=1e9", "gto", workload) end
checks.equals("dwt_cs", "gto", "sgemm") -- misses less than 10 times in 1000 instructions
checks.law("dwt_cs:period=2000,consecutive=1,samples=2", "kmeans")
checks.law("dwt_cs:period=1000,consecutive=1,samples=1", "bfs")
checks.resumes("dwt_cs:period=2000,consecutive=1,samples=2", "kmeans", 6)
checks.resumes("dwt_cs:period=1000,consecutive=1,samples=1", "bfs", 3)
checks.takes_over("dwt_cs:period=2000,consecutive=1,samples=1", "gto", "kmeans", 20000)
checks.takes_over("gto", "dwt_cs:period=2000,consecutive=1,samples=1", "kmeans", 20000)

harness.finish()
