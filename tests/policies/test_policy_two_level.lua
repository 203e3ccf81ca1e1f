-- Two-level scheduling: groups as large as the SM are greedy-then-oldest or round robin, byte for byte; smaller ones are
-- neither. Which warp issues in which cycle is in the unit tests (sm_timing).
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

-- Of each issue that leaves the group of the scheduler's last warp: was none of that group's warps ready?
local observer = harness.write("observer.lua", [[
local policy = require "warpwright.policy"
local observer = policy "observer" { doc = "Watches the groups", counters = { switches = "", early = "" } }

local function group(warp) return warp // 8 end -- 4 warps of each of 2 schedulers

function observer:pick(scheduler, ready)
  self.state[scheduler] = ready
end

function observer:on_issue(warp)
  local state, scheduler = self.state, warp % 2
  local ready, last = state[scheduler], state[scheduler + 2]
  state[scheduler + 2] = warp
  if not last or group(last) == group(warp) then return end
  self:count "switches"
  if ready & 0xff << 8 * group(last) ~= 0 then self:count "early" end
end

return observer
]])

for _, arbitration in ipairs { "gto", "lrr" } do
  harness.test(("%s leaves a group only when none of its warps is ready"):format(arbitration), function()
    local policy = ("two_level:group_size=4,arbitration=%s+%s"):format(arbitration, observer)
    local r = checks.run { workload = "spmv", policy = policy, set = { sms = 4 } }
    assert(checks.sum(r, "sm.observer.switches") > 1000, "too few changes of group to tell")
    harness.equal(checks.sum(r, "sm.observer.early"), 0, "changes of group with a ready warp in the old one")
  end)
  for _, workload in ipairs { "spmv", "sgemm", "vecadd" } do
    checks.equals("two_level:group_size=24,arbitration=" .. arbitration, arbitration, workload)
  end
  checks.law("two_level:arbitration=" .. arbitration, "spmv")
  checks.resumes("two_level:arbitration=" .. arbitration, "bfs", 3)
end

harness.test("groups of 8 are another order than gto and than lrr", function()
  local gto = checks.run { workload = "sgemm", policy = "gto" }.cycles
  local lrr = checks.run { workload = "sgemm", policy = "lrr" }.cycles
  local two_level = checks.run { workload = "sgemm", policy = "two_level" }.cycles
  local tls = checks.run { workload = "sgemm", policy = "two_level:arbitration=lrr" }.cycles
  assert(two_level ~= gto and tls ~= lrr and two_level ~= tls)
end)

checks.takes_over("two_level", "lrr", "spmv", 20000)

harness.test("bad parameters are refused by name", function()
  local status, output = harness.run("run", "gtx480", "vecadd", "--size", "small", "--policy", "two_level:arbitration=old")
  harness.equal(status, 2, "exit status")
  harness.contains(output, "sm[0].group_order", "old", "lrr", "gto")
end)

harness.finish()
