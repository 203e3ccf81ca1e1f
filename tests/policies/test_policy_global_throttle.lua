-- A coordinator that hears of all caches and limits all SMs.
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"
local runs = require "tests.lib.policy_runs"

--- Counts in each cache what the throttle hears of, and looks at the limits when it has decided.
local watcher = runs.file("watcher", [[
local p = policy "watcher" { scope = "machine", caches = "data", period = 1000, counters = {
  falls = "Of the limit after periods with many stops", rises = "", wrong = "Changes without their reason", uneven = "" } }
function p:start() self.state.limit, self.state.last = self.sms[1].warp_limit, { 0, 0 } end
function p:on_period()
  local stopped, served = 0, 0
  for _, l1 in ipairs(self.caches) do
    stopped = stopped + l1.line_fails + l1.mshr_entry_fails + l1.mshr_merge_fails + l1.miss_queue_fails
    served = served + l1.hits + l1.misses
  end
  local rate = (stopped - self.state.last[1]) / math.max(1, served - self.state.last[2])
  self.state.last = { stopped, served }
  for _, sm in ipairs(self.sms) do
    if sm.warp_limit ~= self.sms[1].warp_limit then self:count "uneven" end
  end
  local limit, before = self.sms[1].warp_limit, self.state.limit
  if limit < before then self:count(rate > 0.5 and "falls" or "wrong") end
  if limit > before then self:count(rate < 0.1 and "rises" or "wrong") end
  self.state.limit = limit
end
return p]])

harness.test("the limit of all SMs falls after periods in which the caches stopped many requests, and rises after others", function()
  local r = runs.good { policy = "global_throttle:period=1000+" .. watcher, workload = "kmeans" }
  local of = "dispatcher.watcher."
  assert(runs.stat(r, of .. "falls") > 0 and runs.stat(r, of .. "rises") > 0, "it never fell or never rose")
  harness.equal(runs.stat(r, of .. "wrong"), 0, "changes without their reason")
  harness.equal(runs.stat(r, of .. "uneven"), 0, "SMs with other limits")
  harness.equal(runs.stat(r, "dispatcher.global_throttle.lowered"), runs.stat(r, of .. "falls"), "counted")
end)

-- Six warps on four schedulers: two of these have two.
harness.test("the limit begins with the most warps that a scheduler has", function()
  local r = runs.good {
    policy = "global_throttle:period=200,high=0,low=0,least=1", workload = "delaunay",
    set = { "sms=1", "sm[*].warps=6", "sm[*].schedulers=4", "sm[*].l1d.mshrs=1" },
  }
  harness.equal(runs.stat(r, "dispatcher.global_throttle.lowered"), 1, "from two to one")
end)

checks.equals("global_throttle:high=1000000", "gto", "bfs", { "sms=2" })
checks.law("global_throttle:period=500", "bfs", { "sms=3" })
checks.resumes("global_throttle:period=500", "bfs", 2)

harness.finish()
