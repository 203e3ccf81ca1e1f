-- What a launch asks of the machine, from the beginning of its grid to the end: counted without timing, so of all of it. A part that
-- asks for other than the window that stands for it may take other than that, too.
local core = require "warpwright.core"

local launch_profile = {}

local HIT <const>, MISS <const> = 40, 400 -- cycles that an access keeps a warp waiting, as without timing: core/gpu/device/forward.h

-- What is counted, in the order of core.forward_until(): its name, and how many cycles one of it costs an SM at the most, when nothing
-- else is done meanwhile. The SMs' own time is cycles already.
local kinds <const> = { { "cycles" }, { "loads", MISS }, { "accesses", HIT }, { "requests", MISS }, { "sectors", MISS } }

--- Executes until so many CTAs have ended: a look, { warp instructions, cycles, loads, accesses, requests, sectors } so far.
function launch_profile.look(gpu, ctas)
  local instructions, _, loads, cycles, accesses, requests, sectors = core.forward_until(gpu, ctas)
  return { instructions, cycles, loads, accesses, requests, sectors }
end

--- What looks say of the launch's first so many instructions, evenly between two of them.
local function until_instruction(looks, instruction)
  local before, after = looks[1], looks[#looks]
  for _, look in ipairs(looks) do
    if look[1] <= instruction then before = look end
  end
  for i = #looks, 1, -1 do
    if looks[i][1] >= instruction then after = looks[i] end
  end
  local values, length = {}, after[1] - before[1]
  local share = length > 0 and math.max(0, math.min(1, (instruction - before[1]) / length)) or 0
  for k, value in ipairs(before) do values[k] = value + share * (after[k] - value) end
  return values
end

--- Of a piece of the launch, from instruction `first` to `last`, how many of each kind there are per instruction.
function launch_profile.rates(looks, first, last)
  local from, to, rates = until_instruction(looks, first), until_instruction(looks, last), {}
  for k in ipairs(kinds) do rates[k] = (to[k + 1] - from[k + 1]) / math.max(1, last - first) end
  return rates
end

--- Of all of a launch, as a look says that was taken at its end.
function launch_profile.rates_of_all(look)
  local rates = {}
  for k in ipairs(kinds) do rates[k] = look[k + 1] / math.max(1, look[1]) end
  return rates
end

--- Of rates of several pieces, { least, most } of each kind.
function launch_profile.ranges(pieces)
  local ranges = {}
  for k in ipairs(kinds) do
    local least, most = math.huge, 0
    for _, rates in ipairs(pieces) do least, most = math.min(least, rates[k]), math.max(most, rates[k]) end
    ranges[k] = { least, most }
  end
  return ranges
end

--- By what part more or less, than where the rate is `known`, a piece with another rate may take: as much as it has more or less, if
-- this is all that counts; but not more than that costs when one comes after the other.
local function most_change(rate, known, cost)
  local more = rate - known
  if more == 0 then return 0.0 end
  return math.max(-cost * math.abs(more), math.min(cost * math.abs(more), more / known))
end

--- How many cycles, of those of an instruction, one of a kind costs at the most.
local function cost_of(kind, cycles_per_instruction, sms)
  return kind[2] and kind[2] / (sms * cycles_per_instruction) or math.huge
end

--- By what part more or less a piece with this rate may take than those that say a range.
local function change_beyond(rate, range, cost) return most_change(rate, math.max(range[1], math.min(range[2], rate)), cost) end

--- Of each kind, by what factor a launch with such rates may take more or less than launches say that range so far, and take so many
-- cycles per instruction; and whether that is this part at the most.
function launch_profile.factors_beyond(rates, ranges, cycles_per_instruction, sms, part)
  local factors, is_near = {}, true
  for k, kind in ipairs(kinds) do
    local change = change_beyond(rates[k], ranges[k], cost_of(kind, cycles_per_instruction, sms))
    factors[k], is_near = 1 + change, is_near and math.abs(change) <= part
  end
  return factors, is_near
end

--- From instruction `first` to `last` of a launch, of each kind by what factor this piece may take more or less than windows say that
-- stand for it: what these ask for ranges so far, and beyond that they say nothing. They take so many cycles per instruction on so
-- many SMs.
function launch_profile.factors(looks, first, last, ranges, cycles_per_instruction, sms)
  local factors = {}
  for k, kind in ipairs(kinds) do
    local sum, cost = 0, cost_of(kind, cycles_per_instruction, sms)
    for i = 2, #looks do
      local length = looks[i][1] - looks[i - 1][1]
      if length > 0 and looks[i - 1][1] >= first and looks[i][1] <= last then
        sum = sum + length * change_beyond((looks[i][k + 1] - looks[i - 1][k + 1]) / length, ranges[k], cost)
      end
    end
    factors[k] = 1 + sum / math.max(1, last - first)
  end
  return factors
end

return launch_profile
