-- FR-FCFS+Cap: so many row hits of a bank pass an older request for another row, and no more.
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"
local runs = require "tests.lib.policy_runs"

--- In place of row_cap: keeps by itself who waits, in the order of arrival, and what each bank served last; the policy's state
-- before a service, the service, and its state behind it must agree with that, and so must its picks.
local watcher <const> = [==[
local load = require "warpwright.load"
local row_cap = load.get("policy", "row_cap")
local p = policy "watcher" { scope = "mc", params = { cap = { 2 } },
  counters = { passed = "", held = "", most = "", ended = "" } }
p.configure, p.is_older = row_cap.functions.configure, row_cap.functions.is_older
function p:start()
  row_cap.functions.start(self)
  self.state.rows = {} -- by bank, the rows of those that wait, in the order of arrival
  for bank = 0, self.mc.banks - 1 do self.state.rows[bank] = {} end
end
function p:on_arrived(_, _, _, _, bank, row) table.insert(self.state.rows[bank], row) end
function p:on_served(sm, warp, class, write, bank, row, waited, pc, hit)
  local rows, before, at = self.state.rows[bank], self.state.passed[bank], 1
  while rows[at] and rows[at] ~= row do at = at + 1 end -- of its row, the oldest is served first
  assert(rows[at], "who did not arrive was served")
  table.remove(rows, at)
  local passes = hit == 1 and at > 1
  row_cap.functions.on_served(self, sm, warp, class, write, bank, row, waited, pc, hit)
  assert(self.state.passed[bank] == (passes and before + 1 or 0), "another count")
  if self.state.passed[bank] == self.params.cap then self:count "most" end
  assert(self.state.passed[bank] <= self.params.cap + 1, "more have passed") -- one may be on its way
  if before >= self.params.cap and not passes then self:count "ended" end
end
function p:pick(queue, requests, row_hits)
  local answer = row_cap.functions.pick(self, queue, requests, row_hits)
  if not answer then return nil end
  for rank in bits.each(requests & ~answer) do
    local _, _, _, bank = self.mc:request(queue, rank)
    assert(self.state.passed[bank] >= self.params.cap and bits.has(row_hits, rank), "who may be served was left out")
  end
  return answer
end
return p]==]

harness.test("the row hits of a bank that have passed an older request are counted, and end with the cap", function()
  local r = runs.good { policy = runs.file("watcher", watcher), workload = "spmv", set = { "sms=8", "partitions=2" } }
  for _, name in ipairs { "passed", "held", "most", "ended" } do
    assert(runs.stat(r, "mc[0].watcher." .. name) > 0, "never " .. name)
  end
end)

checks.equals("row_cap:cap=1000000000", "gto", "spmv", { "sms=2" })
checks.law("row_cap:cap=1", "bfs", { "sms=3", "partitions=1" })
checks.resumes("row_cap:cap=1", "spmv", 2)

harness.finish()
