-- scripts/best_rand_byp: its rows are runs under rand_byp, and the best is named. What it shares with best_swl is tested there.
local checks = require "policy_checks"
local harness = require "harness"
local json = require "scripts.lib.json"

local figures = harness.folder() .. "/figures.json"

local function best_rand_byp(...)
  local status, output = harness.run("scripts/best_rand_byp.lua", "--json", figures, ...)
  harness.equal(status, 0, output)
  return output, json.decode(harness.read(figures))
end

harness.test("rates from 0.1 to 1 are tried, and the best is named", function()
  local output, found = best_rand_byp("--size", "small", "gtx480", "spmv")
  harness.equal(#found.rows, 10, "rates tried")
  local best = found.rows[1]
  for i, row in ipairs(found.rows) do
    assert(math.abs(row.rate - i / 10) < 1e-9, "rate " .. row.rate)
    if row.cycles <= best.cycles then best = row end
  end
  harness.equal(found.best, best.rate, "best rate")
  harness.contains(output, ("best: a rate of %.3g, %d cycles, "):format(best.rate, best.cycles), "L2 miss rate")
  harness.equal(found.base.cycles, checks.run { workload = "spmv", policy = "gto" }.cycles, "cycles without it")
  harness.equal(found.rows[3].cycles, checks.run { workload = "spmv", policy = "rand_byp:rate=0.3" }.cycles, "cycles at 0.3")
end)

harness.test("rates that are none are named", function()
  for _, rate in ipairs { "2", "-0.1", "x", "" } do
    local status, output = harness.run("scripts/best_rand_byp.lua", "--rates", "0.5," .. rate, "gtx480", "spmv")
    assert(status ~= 0, "it ran")
    harness.contains(output, ("--rates: '%s' is not a part from 0 to 1"):format(rate), "see scripts/best_rand_byp --help")
  end
end)

harness.finish()
