-- Tenants have SMs of their own, lend them while they have no CTA, and get them back.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"
local ww = require "warpwright"

--- Counts the CTAs of each tenant on each SM.
local observer = runs.file("whose", [==[
local p = policy "whose" { counters = { tenant_0 = "", tenant_1 = "", tenant_2 = "" } }
function p:on_cta_start(_, warps) self:count("tenant_" .. self.sm:tenant_of(bits.lowest(warps))) end
return p]==])

local function run(policy, set, workload)
  local all = { sms = 4 }
  for key, value in pairs(set or {}) do all[key] = value end
  return checks.run { workload = workload or "tenants", policy = ("gto+%s+%s"):format(policy, observer), set = all }
end

--- CTAs of a tenant on SMs from `first` to `last`.
local function ctas(r, tenant, first, last)
  local sum = 0
  for sm = first, last do sum = sum + r[("sm[%d].whose.tenant_%d"):format(sm, tenant)] end
  return sum
end

harness.test("strictly, no SM has a CTA of another tenant, whatever runs", function()
  for _, several in ipairs { 1, 2 } do
    local r = run("tenant_sms:parts=1/3,strict=true", { ["dispatcher.kernels_per_sm"] = several })
    local what = several .. " kernels in an SM: "
    harness.equal(ctas(r, 1, 1, 3) + ctas(r, 2, 0, 0), 0, what .. "CTAs of the other tenant")
    assert(ctas(r, 1, 0, 0) > 0 and ctas(r, 2, 1, 3) > 0, what .. "a tenant had no CTA")
    harness.equal(r["dispatcher.tenant_sms.own"], r["dispatcher.ctas_dispatched"], what .. "own")
  end
end)

--- Tenant 2 begins with a long kernel, tenant 1 comes later: its SMs have been lent until then.
local late = ww.workload "late" { ptx = "../kernels/in_flight_kernel.ptx", sizes = { small = {} } }
function late:run(gpu)
  local function spin(tenant, grid, rounds)
    return { kernel = self.kernels.spin, grid = grid, block = 128, tenant = tenant, args = { gpu:alloc(4 * 128 * grid), rounds } }
  end
  gpu:launch_async { spin(2, 200, 40) }
  gpu:launch_async { spin(2, 1, 1) }
  gpu:wait(nil, 600)
  local number = gpu:launch_async { spin(1, 40, 40) }
  gpu:wait(number)
  gpu:wait()
end

harness.test("an SM is lent, and goes back when its tenant has a kernel again", function()
  local r = run("tenant_sms:parts=2/2", nil, late)
  assert(ctas(r, 2, 0, 1) > 0, "tenant 2 got no SM of tenant 1")
  assert(ctas(r, 1, 0, 1) > 0 and ctas(r, 1, 2, 3) == 0, "tenant 1 did not get its SMs")
  harness.equal(r["dispatcher.tenant_sms.called_back"], 2, "SMs called back")
  harness.equal(r["dispatcher.tenant_sms.lent"], ctas(r, 2, 0, 1), "CTAs of others")
  local strictly = run("tenant_sms:parts=2/2,strict=true", nil, late)
  harness.equal(ctas(strictly, 2, 0, 1), 0, "CTAs of tenant 2, strictly")
  harness.equal(strictly["dispatcher.tenant_sms.called_back"], 0, "called back, strictly")
end)

harness.test("parts are of all SMs, rounded down one after the other", function()
  for parts, first in pairs { ["1/1"] = 2, ["1/2"] = 1, ["300/100"] = 3, ["0/5"] = 0 } do
    local r = run("tenant_sms:strict=" .. tostring(first > 0) .. ",parts=" .. parts)
    harness.equal(ctas(r, 2, 0, first - 1), 0, parts .. ": CTAs of tenant 2")
    if first > 0 then harness.equal(ctas(r, 1, first, 3), 0, parts .. ": CTAs of tenant 1") end
  end
end)

harness.test("wrong parts are refused", function()
  runs.fails({ policy = "tenant_sms:parts=a/b" }, "parts: expected numbers up to 1024, such as 7/8, got 'a/b'")
  runs.fails({ policy = "tenant_sms:parts=1/" }, "parts: expected numbers up to 1024, such as 7/8, got '1/'")
  runs.fails({ policy = "tenant_sms:parts=0/0" }, "parts: expected one above 0, got '0/0'")
end)

-- without tenants all SMs are lent
checks.equals("tenant_sms", "gto", "kmeans", { "sms=2" })
checks.law("tenant_sms:parts=1/2", "tenants", { "sms=3" })
checks.resumes("tenant_sms:parts=7/8,strict=true", "tenants", 2)

harness.finish()
