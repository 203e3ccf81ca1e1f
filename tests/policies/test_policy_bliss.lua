-- BLISS: who has been served too often in a row goes last; and tenant_classes, by which it tells tenants apart.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local checks = require "tests.lib.policy_checks"
local runs = require "tests.lib.policy_runs"

--- In place of bliss: keeps what was served since the last clearing, finds the list from that, and compares.
local watcher <const> = [==[
local load = require "warpwright.load"
local bliss = load.get("policy", "bliss")
local p = policy "watcher" { scope = "mc", period = "clear",
  params = { tenants = { false }, streak = { 4 }, clear = { 2000 } },
  uses = { { "tenant_classes", when = "tenants" } },
  counters = { listed = "", held = "", all_listed = "", cleared = "" } }
p.configure = bliss.functions.configure
function p:start()
  bliss.functions.start(self)
  self.state.served, self.state.expected = {}, {}
end
function p:on_period()
  bliss.functions.on_period(self)
  if next(self.state.expected) then self:count "cleared" end
  self.state.expected = {}
end
function p:on_served(sm, warp, class)
  bliss.functions.on_served(self, sm, warp, class)
  local served, expected = self.state.served, self.state.expected
  local who = self.params.tenants and class or sm
  served[#served + 1] = who
  local row = 0
  while row < self.params.streak and served[#served - row] == who do row = row + 1 end
  if row == self.params.streak and not expected[who] then expected[who], self.state.served = true, {} end
  for other = 0, 14 do assert((self.state.is_listed[other] or false) == (expected[other] or false), "another list") end
end
function p:pick(queue, requests)
  local answer, good = bliss.functions.pick(self, queue, requests), 0
  for rank = 0, 63 do
    if requests >> rank & 1 == 1 then
      local sm, _, class = self.mc:request(queue, rank)
      if not self.state.expected[self.params.tenants and class or sm] then good = good | 1 << rank end
    end
  end
  if good == 0 then self:count "all_listed" end
  assert((answer or requests) == (good == 0 and requests or good), "another answer")
  return answer
end
return p]==]

harness.test("who was served four times in a row goes behind the others until the list is cleared", function()
  local path = runs.file("watcher", watcher)
  local r = runs.good { policy = path, workload = "spmv" }
  for _, name in ipairs { "listed", "held", "all_listed", "cleared" } do
    assert(runs.stat(r, "mc[0].watcher." .. name) > 0, "never " .. name)
  end
end)

harness.test("it goes by tenants, also within SMs", function()
  for _, several in ipairs { 1, 2 } do
    local r = runs.good { policy = runs.file("watcher", watcher) .. ":tenants=true", workload = "tenants",
      set = { "sms=4", "dispatcher.sharing=evenly", "dispatcher.kernels_per_sm=" .. several } }
    local ctas = 0
    for sm = 0, 3 do ctas = ctas + runs.stat(r, ("sm[%d].tenant_classes.ctas"):format(sm)) end
    harness.equal(ctas, runs.stat(r, "dispatcher.ctas_dispatched"), "CTAs with a class")
    assert(runs.stat(r, "mc[0].watcher.held") > 0, "no tenant was held back")
  end
end)

harness.test("classes that a run gets in the middle of a kernel are there at once", function()
  local sim = ww.build("gtx480", { policy = "gto", set = { sms = 2, ["dispatcher.sharing"] = "evenly" } })
  sim:start("tenants", "small,of=spmv+spmv")
  sim:run { until_cycle = 5000 }
  local seen = runs.file("seen", [==[
local p = policy "seen" { uses = { "tenant_classes" }, period = 100, counters = { right = "", wrong = "" } }
function p:on_period()
  for warp in bits.each(self.sm.live) do
    self:count(self.sm:class_of(warp) == self.sm:tenant_of(warp) and self.sm:tenant_of(warp) > 0 and "right" or "wrong")
  end
end
return p]==])
  sim:change { policy = seen }
  sim:run { until_cycle = 5200 }
  local r = sim:result()
  assert(r["sm[*].seen.right"] > 0, "no warp with a class")
  harness.equal(r["sm[*].seen.wrong"], 0, "warps with another class")
end)

-- without tenants all are one; a streak that never comes; classes that nobody asks for
checks.equals("bliss", "gto", "spmv", { "sms=2" })
checks.equals("bliss:tenants=false,streak=1000000000", "gto", "spmv", { "sms=2" })
checks.equals("gto+tenant_classes", "gto", "bfs", { "sms=2" })
checks.law("bliss:clear=1000,tenants=false", "bfs", { "sms=3" })
checks.law("bliss:clear=1000", "tenants", { "sms=3" })
checks.resumes("bliss:clear=1000", "tenants", 2)

harness.finish()
