-- What policies read of objects is the same whoever sleeps, in any tick order, on any number of threads, and after a resume:
-- counters of cycles, which an object that sleeps does not count itself, too.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local runs = require "tests.lib.policy_runs"

local of_sm = runs.file("of_sm", [[
local p = policy "of_sm" { order = "gto", period = 500, counters = { period = "", fill = "", cta = "" } }
local function sum(self)
  local sm, l1, lsu = self.sm, self.l1, self.lsu
  return sm.slots_idle + sm.slots_memory + sm.slots_scoreboard + sm.slots_lsu + l1.mshr_entry_fail_cycles + l1.line_fail_cycles +
    l1.miss_queue_fail_cycles + l1.response_stall_cycles + lsu.stall_cycles + lsu.shared_loads + lsu.bank_conflict_cycles
end
function p:on_period() self:count("period", sum(self)) end
function p:on_l1_fill() self:count("fill", sum(self)) end
function p:on_cta_end() self:count("cta", sum(self)) end
return p]])

local of_l2 = runs.file("of_l2", [[
local p = policy "of_l2" { scope = "l2", period = 500, counters = { period = "", served = "", hit = "", waited = "" } }
local function sum(self)
  local mc, l2 = self.mc, self.l2
  return mc.queue_entry_cycles + mc.queue_full_cycles + mc.cycles + l2.mshr_entry_fail_cycles + l2.line_fail_cycles +
    l2.response_stall_cycles + l2.miss_queue_fail_cycles
end
function p:on_period()
  self:count("period", sum(self))
  local _, _, _, _, _, _, waited = self.mc:request(0, 0)
  self:count("waited", waited or 0)
end
function p:on_mc_served() self:count("served", sum(self)) end
function p:on_hit() self:count("hit", sum(self)) end
return p]])

local of_machine = runs.file("of_machine", [[
local p = policy "of_machine" { scope = "machine", period = 700, counters = { period = "", cta = "" } }
function p:on_period()
  for i, sm in ipairs(self.sms) do
    self:count("period", sm.slots_idle + sm.slots_memory + self.l1s[i].mshr_entry_fail_cycles)
  end
  for i, mc in ipairs(self.mcs) do self:count("period", mc.queue_entry_cycles + mc.cycles + self.l2s[i].line_fail_cycles) end
end
function p:on_sm_cta_end(sm) self:count("cta", sm.slots_idle + sm.slots_memory) end
return p]])

for _, policy in ipairs { of_sm, of_l2, of_machine } do
  local name = policy:match "[^/]+$"
  for _, workload in ipairs { "kmeans", "spmv" } do
    local want = checks.text_of(checks.run { workload = workload, policy = policy })
    for _, how in ipairs { { order = "restless" }, { order = "reversed" }, { order = "shuffled:3", threads = 2 } } do
      harness.test(("%s on %s, order %s"):format(name, workload, how.order), function()
        harness.same_text(checks.text_of(checks.run { workload = workload, policy = policy, order = how.order, threads = how.threads }), want)
      end)
    end
  end
  checks.resumes(policy, "spmv", 3)
end

harness.test("a policy that reads counters leaves the statistics of others as they are", function()
  local plain = checks.text_of(checks.run { workload = "spmv", policy = "gto" })
  for _, policy in ipairs { of_sm, of_l2, of_machine } do
    local r = checks.run { workload = "spmv", policy = "gto+" .. policy }
    harness.same_text(checks.text_of(r, { "of_sm", "of_l2", "of_machine" }), plain)
  end
end)

harness.finish()
