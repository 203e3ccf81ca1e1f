-- Counters of each DRAM bank: they add up to those of their controllers, and change nothing. Rows that policies close.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"

local shared <const> = { "row_hits", "row_misses", "row_conflicts", "activates" }

harness.test("the banks of a controller have what it has", function()
  local r = checks.run { workload = "bfs", policy = "dram_banks", set = { ["mc[*].page_policy"] = "timeout" } }
  for i = 0, 5 do
    local mc, served = ("mc[%d]."):format(i), 0
    for _, name in ipairs(shared) do
      harness.equal(r[mc .. "bank[*]." .. name], r[mc .. name], mc .. name)
      if name ~= "activates" then served = served + r[mc .. name] end
    end
    harness.equal(r[mc .. "bank[*].requests"], served, mc .. "requests")
  end
  local banks = 0
  for name in r:stats() do
    if name:find "^mc%[0%]%.bank%[%d+%]%.requests$" then banks = banks + 1 end
  end
  harness.equal(banks, 16, "banks")
end)

harness.test("requests that all go to one bank are counted there", function()
  local r = checks.run { workload = "vecadd", policy = "dram_banks", set = { ["map.bank_mask"] = 0 } }
  assert(r["mc[*].bank[0].requests"] > 100, r["mc[*].bank[0].requests"])
  harness.equal(r["mc[*].bank[0].requests"], r["mc[*].bank[*].requests"], "those of all banks")
end)

checks.equals("dram_banks", "gto", "bfs")
checks.law("dram_banks", "bfs")
checks.resumes("dram_banks", "bfs", 2)

local closing = harness.write("closing.lua", [[
local policy = require "warpwright.policy"
local p = policy "closing" { scope = "mc", counters = { closed = "", kept = "" } }
function p:on_served(_, _, _, _, bank, row)
  local mc = self.mc
  assert(mc:open_row(bank) == row)
  if mc:of_bank(0, bank) & mc:row_hits(0) ~= 0 then
    self:count "kept"
  else
    assert(mc:close_row(bank) and mc:open_row(bank) == nil)
    self:count "closed"
  end
end
return p]])

harness.test("a policy that closes each row once nobody waits for it leaves no row conflicts", function()
  local plain = checks.run { workload = "spmv" }
  local r = checks.run { workload = "spmv", policy = closing }
  assert(checks.sum(plain, "mc.row_conflicts") > 100)
  harness.equal(checks.sum(r, "mc.row_conflicts"), 0)
  harness.equal(checks.sum(r, "mc.closing.closed"), checks.sum(r, "mc.precharges"))
  assert(checks.sum(r, "mc.closing.closed") > 100 and checks.sum(r, "mc.closing.kept") > 100)
end)

checks.law(closing, "spmv")
checks.resumes(closing, "spmv", 1)

harness.finish()
