-- What the tests of scripts that sweep over a policy's parameter share: best_swl, best_rand_byp.
local harness = require "tests.lib.harness"
local json = require "warpwright.json"

local checks = {}

--- Runs scripts/NAME.lua; returns what it printed and its figures.
function checks.figures(name, ...)
  local path = harness.folder() .. "/figures.json"
  local status, output = harness.run(("scripts/%s.lua"):format(name), "--json", path, ...)
  harness.equal(status, 0, output)
  return output, json.decode(harness.read(path))
end

--- The row with the fewest cycles, of equally good ones the last; the figures must name it as the best.
function checks.best_row(found, parameter)
  local best
  for _, row in ipairs(found.rows) do
    if not best or row.cycles <= best.cycles then best = row end
  end
  harness.equal(found.best, best[parameter], "best " .. parameter)
  return best
end

--- Each case: arguments, and what the error says.
function checks.refuses(name, cases)
  for _, case in ipairs(cases) do
    local output = harness.refused(case[2], ("scripts/%s.lua"):format(name), table.unpack(case[1]))
    harness.contains(output, ("see scripts/%s --help"):format(name))
  end
end

return checks
