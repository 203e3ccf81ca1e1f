-- scripts/best_rand_byp: its rows are runs under rand_byp, and the best is named. What it shares with best_swl is tested there.
local checks = require "tests.lib.policy_checks"
local harness = require "tests.lib.harness"
local sweep_checks = require "tests.lib.sweep_checks"

harness.test("rates from 0.1 to 1 are tried, and the best is named", function()
  local output, found = sweep_checks.figures("best_rand_byp", "--size", "small", "gtx480", "spmv")
  harness.equal(#found.rows, 10, "rates tried")
  for i, row in ipairs(found.rows) do assert(math.abs(row.rate - i / 10) < 1e-9, "rate " .. row.rate) end
  local best = sweep_checks.best_row(found, "rate")
  harness.contains(output, ("best: a rate of %.3g, %d cycles, "):format(best.rate, best.cycles), "L2 miss rate")
  harness.equal(found.base.cycles, checks.run { workload = "spmv", policy = "gto" }.cycles, "cycles without it")
  harness.equal(found.rows[3].cycles, checks.run { workload = "spmv", policy = "rand_byp:rate=0.3" }.cycles, "cycles at 0.3")
end)

harness.test("rates that are none are named", function()
  local cases = {}
  for i, rate in ipairs { "2", "-0.1", "x", "" } do
    cases[i] = { { "--rates", "0.5," .. rate, "gtx480", "spmv" }, ("--rates: expected a part from 0 to 1, got '%s'"):format(rate) }
  end
  sweep_checks.refuses("best_rand_byp", cases)
end)

harness.finish()
