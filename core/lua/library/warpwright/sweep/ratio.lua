-- Quotients of what runs have counted, with half-widths of 95% intervals: of estimates of sampled runs, and of runs over several seeds.
-- A quantity is { value =, half_width = or nil: exact }, and so is a quotient.
local measures = require "warpwright.measures"

local ratio = {}

local function relative(quantity) return quantity.half_width and quantity.half_width / math.abs(quantity.value) end

--- A quantity of this relative half-width, or nil.
local function quantity(value, width) return { value = value, half_width = width and width * math.abs(value) } end

--- Of errors that are independent, the sum of their squares; nil where all are exact.
local function squares_of(quantities)
  local sum
  for _, one in ipairs(quantities) do
    local width = relative(one)
    sum = width and (sum or 0) + width ^ 2 or sum
  end
  return sum
end

--- Neither is 0.
function ratio.of(a, b)
  local squares = squares_of { a, b }
  return quantity(a.value / b.value, squares and math.sqrt(squares))
end

local function logarithms_of(quotients)
  local logarithms = {}
  for i, one in ipairs(quotients) do logarithms[i] = math.log(one.value) end
  return measures.mean_and_deviation(logarithms)
end

--- Are there several, and all the same? Of runs over seeds these change nothing then, and say nothing of how far others would be.
function ratio.are_alike(quantities)
  for _, one in ipairs(quantities) do
    if one.value ~= quantities[1].value then return false end
  end
  return quantities[2] ~= nil
end

--- So many seeds, for a row of runs over them.
function ratio.seeds_text(count, are_alike) return ("%d seeds%s"):format(count, are_alike and ", all alike" or "") end

--- The geometric mean of quotients of several seeds, by how far apart they are; what each of them errs by, such as the bias of a
-- sampled run, may be the same in all.
function ratio.over_seeds(quotients)
  if not quotients[2] then return quotients[1] end
  local mean, deviation = logarithms_of(quotients)
  local by_seed, squares = measures.student(#quotients - 1) * deviation / math.sqrt(#quotients), squares_of(quotients)
  if ratio.are_alike(quotients) then return quantity(quotients[1].value, squares and math.sqrt(squares / #quotients)) end
  return quantity(math.exp(mean), math.sqrt(by_seed ^ 2 + (squares or 0) / #quotients))
end

--- The geometric mean of quotients of these very workloads: nothing is said of others.
function ratio.mean(quotients)
  local squares = squares_of(quotients)
  return quantity(math.exp((logarithms_of(quotients))), squares and math.sqrt(squares) / #quotients)
end

--- Does its interval leave out 1?
function ratio.is_significant(quotient) return not quotient.half_width or math.abs(quotient.value - 1) > quotient.half_width end

return ratio
