-- Whether the windows of a pass can stand for their launch.
local measures = require "warpwright.measures"

local window_checks = {}

local LEAST_DRIFT <const> = 0.01
local LEAST_UNLIKE <const> = 0.05 -- of loads per instruction
local LEAST_MISS <const> = 0.03 -- of cycles per instruction

--- Are these beyond chance and `least`, and their mean.
local function is_beyond_chance(differences, least)
  local mean, deviation = measures.mean_and_deviation(differences)
  local chance = measures.student(#differences - 1) * deviation / math.sqrt(#differences)
  return math.abs(mean) > math.max(chance, least), mean
end

--- Does the second half of windows differ from the first?
function window_checks.drifts(windows)
  local differences = {}
  for i, window in ipairs(windows) do
    local cycles, instructions = measures.header(window.all)
    local second_cycles, second = measures.header(window.second)
    local first = (cycles - second_cycles) / math.max(1, instructions - second)
    differences[i] = (second_cycles / math.max(1, second) - first) / (cycles / math.max(1, instructions))
  end
  return is_beyond_chance(differences, LEAST_DRIFT)
end

--- Do windows load more or less often than the parts that they stand for, whose loads are counted without timing? Then their CTAs
-- are not where CTAs of the launch are: all at their beginnings, say.
function window_checks.are_unlike(seen)
  local differences = {}
  for i, window in ipairs(seen.windows) do
    local _, instructions, _, loads = measures.header(window.all)
    local wanted = seen.loads[i] * instructions / math.max(1, seen.parts[i])
    differences[i] = wanted > 0 and loads / wanted - 1 or 0
  end
  return is_beyond_chance(differences, LEAST_UNLIKE)
end

--- Does the window that checks the hand-over take more or less than the same instructions do in the head, which has had its timing
-- from the beginning of the launch?
function window_checks.misses(seen)
  local windowed, own = measures.header(seen.check.all)
  local timed, same = measures.header(seen.head.checked)
  local by = windowed / math.max(1, own) * same / math.max(1, timed) - 1
  return math.abs(by) > LEAST_MISS, by
end

return window_checks
