-- What a launch asks of the machine, from the beginning of its grid to the end: counted without timing, so of all of it. A part that
-- asks for other than the window that stands for it may take other than that, too.
local core = require "warpwright.core"

local launch_profile = {}

local HIT <const>, MISS <const> = 40, 400 -- cycles that an access keeps a warp waiting, as without timing: core/gpu/device/forward.h

-- What is counted, in the order of looks: its name, and how many cycles one of it costs an SM at the most, when nothing else is done
-- meanwhile. The SMs' own time is cycles already. Requests to each slice of an L2 stand behind the others: of a piece of the launch, there
-- are those of all slices, and those of the one that has most of them, which serves all SMs.
local counts <const> = { { "cycles" }, { "loads", MISS }, { "accesses", HIT }, { "sectors", MISS }, { "conflicts", 1 }, { "constants", 1 } }
local CONFLICTS <const> = 5 -- of these
local kinds <const> = table.move({ { "requests", MISS }, { "busiest", HIT, serves_all = true } }, 1, 2, #counts + 1, { table.unpack(counts) })

--- Executes until so many CTAs have ended: a look, { warp instructions, cycles, loads, ... } so far.
function launch_profile.look(gpu, ctas)
  local instructions, _, counted, requests = core.forward_until(gpu, ctas)
  local look = { instructions }
  for _, count in ipairs(counts) do look[#look + 1] = counted[count[1]] end
  return table.move(requests, 1, #requests, #look + 1, look)
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

--- Of the piece of the launch between two looks, how many of each kind there are per instruction.
local function rates_between(from, to)
  local rates, length, all, most = {}, math.max(1, to[1] - from[1]), 0, 0
  for k in ipairs(counts) do rates[k] = (to[k + 1] - from[k + 1]) / length end
  for k = #counts + 2, #to do
    local of_slice = to[k] - from[k]
    all, most = all + of_slice, math.max(most, of_slice)
  end
  rates[#counts + 1], rates[#counts + 2] = all / length, most / length
  return rates
end

--- Likewise, from instruction `first` to `last`. `conflicts`: how many cycles of them an instruction of this piece has, where that is known:
-- looks know it of some CTAs, once these have ended.
function launch_profile.rates(looks, first, last, conflicts)
  local from, to = until_instruction(looks, first), until_instruction(looks, last)
  from[1], to[1] = first, last
  local rates = rates_between(from, to)
  rates[CONFLICTS] = conflicts or rates[CONFLICTS]
  return rates
end

--- Of all of a launch, as a look says that was taken at its end.
function launch_profile.rates_of_all(look)
  local begin = {}
  for k = 1, #look do begin[k] = 0 end
  return rates_between(begin, look)
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
  return kind[2] and kind[2] / ((kind.serves_all and 1 or sms) * cycles_per_instruction) or math.huge
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
  local sums, factors = {}, {}
  for k in ipairs(kinds) do sums[k] = 0 end
  for i = 2, #looks do
    local length = looks[i][1] - looks[i - 1][1]
    if length > 0 and looks[i - 1][1] >= first and looks[i][1] <= last then
      local rates = rates_between(looks[i - 1], looks[i])
      for k, kind in ipairs(kinds) do
        sums[k] = sums[k] + length * change_beyond(rates[k], ranges[k], cost_of(kind, cycles_per_instruction, sms))
      end
    end
  end
  for k, sum in ipairs(sums) do factors[k] = 1 + sum / math.max(1, last - first) end
  return factors
end

return launch_profile
