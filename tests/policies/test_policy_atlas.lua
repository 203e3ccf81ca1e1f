-- ATLAS: controllers rank the SMs by what all of them have served.
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"
local runs = require "tests.lib.policy_runs"

--- After atlas, in each controller: the ranks of all controllers are those of the sums, and each pick is of the SM that
-- comes first among those with requests.
local watcher = runs.file("watcher", [==[
local p = policy "watcher" { scope = "mc", period = 2000, shares = { order = { 1 }, served = { 2 } }, counters = {
  ranked = "Quanta in which the SM served less by all goes first", other = "In which it does not",
  local_other = "In which this controller alone would rank otherwise", unequal = "In which controllers differ", picks = "", bad = "" } }
local atlas = require "warpwright.load".get("policy", "atlas")
local pick = atlas.functions.pick
function p:start() self.state.own, self.state.all, self.state.last, self.state.attained = { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } end
function p:on_served(sm)
  self.state.own[sm + 1] = self.state.own[sm + 1] + 1
  self:share("served", self.state.own[sm + 1], sm + 1)
end
function p:on_period()
  local s = self.state
  for i = 1, 2 do
    local all = 0
    for _, served in ipairs((self:shared("served", i))) do all = all + served end
    s.attained[i] = 0.5 * s.attained[i] + 0.5 * (all - s.all[i])
    s.all[i] = all
  end
  s.first = s.attained[1] <= s.attained[2] and 1 or 2
  if (s.own[1] <= s.own[2] and 1 or 2) ~= s.first then self:count "local_other" end
  self:share("order", s.first)
  local firsts = self:shared "order"
  if firsts[1] ~= firsts[2] then self:count "unequal" end
end
return p]==])

harness.test("atlas serves the SM first that all controllers have served least", function()
  -- what it does is seen from outside: a policy behind it answers nothing, and reads its answer from the requests served
  local path = runs.file("asker", [==[
local load = require "warpwright.load"
local atlas = load.get("policy", "atlas")
local p = policy "asker" { scope = "mc", period = 2000, shares = { served = { 1024 } },
  params = { alpha = { 0.5 }, threshold = { 1000000 } }, counters = { ranked = "", aged = "", first = "", other = "", skipped = "" } }
for _, name in ipairs { "start", "on_served", "served_by_all", "on_period" } do p[name] = atlas.functions[name] end
function p:pick(queue, requests)
  local answer = atlas.functions.pick(self, queue, requests)
  local order, attained = self.state.order, self.state.attained
  if #order == 2 then
    assert(attained[order[1]] <= attained[order[2]], "not the least first")
    local own = self.mc:of_sm(queue, order[1] - 1) & requests
    if own ~= 0 then self:count(answer == own and "first" or "other") else self:count "skipped" end
  end
  return answer
end
return p]==])
  local r = runs.good { policy = path, workload = "spmv" }
  for mc = 0, 1 do
    local at = ("mc[%d].asker."):format(mc)
    assert(runs.stat(r, at .. "first") > 100, "the first SM was never preferred")
    harness.equal(runs.stat(r, at .. "other"), 0, "the second one preferred")
    assert(runs.stat(r, at .. "skipped") > 0, "never had the second one only")
  end
end)

harness.test("controllers agree on the ranks, which none of them would find alone", function()
  local r = runs.good { policy = "atlas:quantum=2000,alpha=0.5+" .. watcher, workload = "spmv" }
  assert(runs.stat(r, "mc[0].atlas.ranked") > 100)
  assert(runs.stat(r, "mc[0].watcher.local_other") + runs.stat(r, "mc[1].watcher.local_other") > 0, "each would find them alone")
  harness.equal(runs.stat(r, "mc[0].watcher.unequal"), 0, "quanta in which they differ")
end)

harness.test("a request that has waited too long goes before the ranks", function()
  local r = runs.good { policy = "atlas:quantum=2000,threshold=20", workload = "spmv" }
  assert(runs.stat(r, "mc[0].atlas.aged") > 0, "none waited so long")
  harness.equal(runs.stat(runs.good { policy = "atlas:quantum=2000,threshold=1000000", workload = "spmv" }, "mc[0].atlas.aged"), 0, "aged")
end)

harness.test("what no SM has asked for is nobody's service", function()
  -- lines that the host has copied, changed by atomics, and written back
  local r = runs.good { policy = "atlas:quantum=2000", workload = "tests/kernels/racing_kernel.lua",
    set = { "sms=2", "partitions=1", "l2[*].host_copies=true", "l2[*].size=4KiB", "l2[*].ways=1" } }
  assert(runs.stat(r, "mc[0].writes") > 0, "nothing was written back")
end)

-- before the first ranking it has no opinion
checks.equals("atlas:quantum=100000000", "gto", "spmv", { "sms=2" })
checks.law("atlas:quantum=1000", "bfs", { "sms=3" })
checks.resumes("atlas:quantum=1000", "bfs", 2)

harness.finish()
