-- Whether the windows of a pass can stand for their launch.
local measures = require "warpwright.measures"

local window_checks = {}

local LEAST_DRIFT <const> = 0.01
local LEAST_UNLIKE <const> = 0.05 -- of loads per instruction
local MOST_MISS <const> = 0.03 -- of cycles per instruction
local LEAST_MISS <const> = 0.01 -- likewise, beyond chance

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

--- Cycles per instruction of windows: their mean, and how far a single one's is from it by chance.
local function rate_of(windows)
  local rates = {}
  for i, window in ipairs(windows) do
    local cycles, instructions = measures.header(window.all)
    rates[i] = cycles / math.max(1, instructions)
  end
  local mean, deviation = measures.mean_and_deviation(rates)
  return mean, measures.student(#rates - 1) * deviation
end

--- Does the window that checks the hand-over take more or less than the same instructions do in the head, which has had its timing
-- from the beginning of the launch? Both are two windows long, so they differ by chance as much as a window does from the mean.
function window_checks.misses(seen)
  local windowed, own = measures.header(seen.check.all)
  local timed, same = measures.header(seen.head.checked)
  local by = windowed / math.max(1, own) * same / math.max(1, timed) - 1
  local mean, chance = rate_of(seen.windows)
  return math.abs(by) > math.min(MOST_MISS, math.max(LEAST_MISS, chance / mean)), by
end

--- May the machine need longer from the hand-over to where it would be? Windows take other than the head does, beyond chance, and it
-- is not the launch that differs so: they took other than now `before`, after warm-ups half as long, or nothing is known of these.
function window_checks.may_settle(seen, before)
  local timed, same = measures.header(seen.head.checked)
  local mean, chance = rate_of(seen.windows)
  local head = timed / math.max(1, same)
  if math.abs(mean - head) <= math.max(LEAST_MISS * head, chance * math.sqrt(1 / 2 + 1 / #seen.windows)) then return false end
  if not before then return true end
  local differences = {}
  for i, window in ipairs(seen.windows) do
    local cycles, instructions = measures.header(window.all)
    local earlier, own = measures.header(before[i].all)
    differences[i] = cycles / math.max(1, instructions) / mean - earlier / math.max(1, own) / mean
  end
  return is_beyond_chance(differences, LEAST_MISS)
end

return window_checks
