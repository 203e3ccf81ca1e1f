-- What parts of a launch have counted, and what follows for all of it. A measure is a string of doubles: cycles, warp and thread
-- instructions, loads from memory, cycles of conflicts in shared memory, then every counter of the machine in the order of
-- core.counter_vector().
local core = require "warpwright.core"

local measures = {}

local HEADER <const> = "<ddddd"
local HEADER_BYTES <const> = string.packsize(HEADER)

--- Of a sampler's machine since it was made. `cycles`: if others than those by now are meant.
function measures.now(sampler, cycles)
  local totals = sampler.gpu:totals()
  return string.pack(HEADER, cycles or totals.cycles, totals.warp_instructions, totals.thread_instructions, core.loads(sampler.gpu))
    .. core.counter_vector(sampler.built)
end

--- Cycles, warp instructions, thread instructions, warp instructions that load from memory, cycles of conflicts in shared memory.
function measures.header(measure) return string.unpack(HEADER, measure) end

--- The machine's counters alone.
function measures.counters(measure) return measure:sub(HEADER_BYTES + 1) end

function measures.sum(list, weights) return core.weighted_sum(list, weights) end

function measures.mean(list)
  local weights = {}
  for i = 1, #list do weights[i] = 1 / #list end
  return core.weighted_sum(list, weights)
end

function measures.difference(a, b) return core.weighted_sum({ a, b }, { 1, -1 }) end

-- Statistics ------------------------------------------------------------------------------------------------------------------------

local quantiles <const> = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
  2.120, 2.110, 2.101, 2.093, 2.086 }

--- The 97.5% quantile of Student's t.
function measures.student(degrees)
  if degrees < 1 then return quantiles[1] end
  return quantiles[math.floor(degrees)] or 1.96 + 2.5 / degrees
end

function measures.mean_and_deviation(values)
  local sum, squares = 0, 0
  for _, value in ipairs(values) do sum = sum + value end
  local mean = sum / #values
  for _, value in ipairs(values) do squares = squares + (value - mean) ^ 2 end
  return mean, math.sqrt(squares / math.max(1, #values - 1))
end

-- A launch --------------------------------------------------------------------------------------------------------------------------

--- Head, tail, and windows that each stand for a part of the middle. `without`: the number of a window for which the others stand;
-- `which`: "all", "second" for the second halves alone, or "early" for those after half the warm-up; `kind`: each by its factor of this
-- number.
local function of_windows(launch, which, without, kind)
  local list, weights, middle, kept = { launch.head, launch.tail }, { 1, 1 }, 0, 0
  for i, window in ipairs(launch.windows) do
    middle = middle + window.weight
    if i ~= without then kept = kept + window.weight end
  end
  for i, window in ipairs(launch.windows) do
    if i ~= without then
      local _, instructions = measures.header(window[which])
      list[#list + 1] = window[which]
      weights[#weights + 1] = window.weight * middle / kept / math.max(1, instructions) * (kind and window.factors[kind] or 1)
    end
  end
  return measures.sum(list, weights)
end

--- A launch like others: as many cycles and events per instruction as they had. `totals`: theirs.
local function of_members(launch, totals)
  local instructions, weights = 0, {}
  for _, total in ipairs(totals) do
    local _, own = measures.header(total)
    instructions = instructions + own
  end
  for i = 1, #totals do weights[i] = launch.instructions / instructions end
  return measures.sum(totals, weights)
end

local function totals_of(launches)
  local totals = {}
  for i, launch in ipairs(launches) do totals[i] = measures.total(launch) end
  return totals
end

--- What all of the launch is estimated to count.
function measures.total(launch)
  if launch.all then return launch.all end
  if not launch.estimate then
    if launch.members then
      launch.estimate = of_members(launch, totals_of(launch.members))
    else
      launch.estimate = of_windows(launch, "all")
    end
  end
  return launch.estimate
end

--- Estimates as they would be with one of the windows left out; of a launch like others, with one of these left out. Empty for one
-- that had timing.
function measures.replicas(launch)
  local replicas = {}
  for i = 1, #(launch.windows or {}) do replicas[i] = of_windows(launch, "all", i) end
  for i in ipairs(launch.members or {}) do
    local others = totals_of(launch.members)
    table.remove(others, i)
    replicas[i] = of_members(launch, others)
  end
  return replicas
end

--- What a part took beyond what its instructions take in the middle, by windows.
local function beyond_middle(launch, part)
  local list, weights, middle = { part }, { 1 }, 0
  local _, instructions = measures.header(part)
  for _, window in ipairs(launch.windows) do middle = middle + window.weight end
  for i, window in ipairs(launch.windows) do
    local _, own = measures.header(window.all)
    list[i + 1], weights[i + 1] = window.all, -window.weight / middle * instructions / math.max(1, own)
  end
  return measures.sum(list, weights), instructions / middle
end

--- The standard deviation of when the last of so many SMs ends, as a part of how much later than their mean it does so on average, when
-- each ends at any time of an interval: what is left over for it when CTAs are handed out.
local function deviation_of_last(sms)
  local n = math.max(2, sms)
  return 2 * math.sqrt(n / (n + 2)) / (n - 1)
end

--- Groups of totals of which the jackknife says how far the end of a launch like this one is from that of the estimate by chance, each
-- with its `degrees` of freedom: which SM gets which of the last CTAs depends on when all those before them ended. `count`: launches
-- whose estimate this is, of which each has an end of its own. Tails say it, and what they took beyond their instructions, which counts
-- as one more of them: SMs that end apart leave as much of the machine idle, and all of few tails may have had their CTAs alike. None for
-- launches without a tail.
function measures.groups_of_end(launch, count)
  local tails, total, groups = launch.tails, measures.total(launch), {}
  if not tails then return groups end
  local n = #tails
  local deviations = math.sqrt(count * (count + n)) -- standard errors of their mean
  if n > 1 then
    local group, by = { degrees = n - 1 }, deviations * math.sqrt((n - 1) / n)
    for i in ipairs(tails) do
      local others = table.move(tails, 1, n, 1, {})
      table.remove(others, i)
      group[i] = measures.sum({ total, measures.mean(others), launch.tail }, { 1, by, -by })
    end
    groups[1] = group
  end
  local drain, by = beyond_middle(launch, launch.tail), deviations / n * deviation_of_last(launch.offer.sms)
  groups[#groups + 1] = { measures.sum({ total, drain }, { 1, by }), measures.sum({ total, drain }, { 1, -by }), degrees = n > 1 and n or math.huge }
  return groups
end

--- The estimate by the second halves of windows; nil for launches without windows.
function measures.by_second_halves(launch) return launch.windows and of_windows(launch, "second") or nil end

--- The estimate as it would be if the middle took as much more or less than in windows as a part of the head did, which had its
-- timing from the beginning, than the window that checks it; nil for launches without windows.
function measures.by_check(launch)
  local check = launch.check
  if not check then return nil end
  local _, timed = measures.header(check.timed)
  local _, windowed = measures.header(check.all)
  return measures.sum({ measures.total(launch), check.timed, check.all },
    { 1, check.middle / math.max(1, timed), -check.middle / math.max(1, windowed) })
end

local LEAST_CHANGE <const> = 0.01 -- of cycles per instruction, beyond chance

--- The estimate if the middle took what a window takes that went on for long, where that is other than windows differ by chance: queues
-- fill for longer than warm-ups are. Nil where it is not, or is not known.
function measures.by_long_window(launch)
  if not launch.long then return nil end
  local rates = {}
  for i, window in ipairs(launch.windows) do
    local cycles, instructions = measures.header(window.all)
    rates[i] = cycles / math.max(1, instructions)
  end
  local mean, deviation = measures.mean_and_deviation(rates)
  local change, part = beyond_middle(launch, launch.long)
  local cycles, instructions = measures.header(change), select(2, measures.header(launch.long))
  local chance = measures.student(#rates - 1) * deviation * math.sqrt(1 + 1 / #rates)
  if math.abs(cycles) / math.max(1, instructions) <= math.max(LEAST_CHANGE * mean, chance) then return nil end
  return measures.sum({ measures.total(launch), change }, { 1, 1 / part })
end

--- The estimate by windows after warm-ups half as long; nil where there are none.
function measures.by_early_windows(launch)
  return launch.windows and launch.windows[1].early and of_windows(launch, "early") or nil
end

--- The estimate as it would be if parts took as much more or less than their windows as they may by what they ask for, or a launch than
-- those that it is like, of the kind by which cycles change most; nil where nothing is asked for beyond what is known.
function measures.by_profile(launch)
  local most, estimate = 0, nil
  local factors = launch.windows and launch.windows[1].factors or launch.factors or {}
  for kind = 1, #factors do
    local other = launch.windows and of_windows(launch, "all", nil, kind) or measures.sum({ measures.total(launch) }, { factors[kind] })
    local change = measures.change_of_cycles(launch, other)
    if change > most then most, estimate = change, other end
  end
  return estimate
end

--- Of a launch like others: as many cycles and events as each of these had on average, whatever its instructions; nil for others.
-- What does not grow with instructions is counted so.
function measures.by_launches(launch)
  if not launch.members then return nil end
  return measures.mean(totals_of(launch.members))
end

--- Other estimates of a launch, functions of it: what each differs by is a bias that the estimate may have.
measures.other_estimates = { measures.by_second_halves, measures.by_check, measures.by_early_windows, measures.by_long_window,
  measures.by_profile, measures.by_launches }

--- By how many cycles another estimate differs from that of the launch; 0 if there is none.
function measures.change_of_cycles(launch, other)
  return other and math.abs(measures.header(other) - measures.header(measures.total(launch))) or 0
end

--- The standard error that replicas say an estimate has: the jackknife.
function measures.jackknife(values)
  local mean, deviation = measures.mean_and_deviation(values)
  return #values < 2 and 0 or deviation * (#values - 1) / math.sqrt(#values), mean
end

local function values_of(replicas, value_of)
  local values = {}
  for i, replica in ipairs(replicas) do values[i] = value_of(replica) end
  return values
end

--- Half the width of the 95% interval of variances, { { variance, degrees of freedom }, ... }, by the degrees of Welch and Satterthwaite.
function measures.half_width(parts)
  local variance, square = 0, 0
  for _, part in ipairs(parts) do variance, square = variance + part[1], square + part[1] ^ 2 / part[2] end
  return variance > 0 and measures.student(variance ^ 2 / square + 1e-9) * math.sqrt(variance) or 0.0
end

--- How far a value, a function of measures, of the launch is from its estimate by chance: half-width.
function measures.chance(launch, value_of)
  local values = values_of(measures.replicas(launch), value_of)
  local parts = { { measures.jackknife(values) ^ 2, math.max(1, #values - 1) } }
  for _, group in ipairs(measures.groups_of_end(launch, 1)) do
    parts[#parts + 1] = { measures.jackknife(values_of(group, value_of)) ^ 2, group.degrees }
  end
  return measures.half_width(parts)
end

--- Of a sampled launch: cycles, and half the width that windows alone have by chance.
function measures.chance_of_windows(launch)
  local values = values_of(measures.replicas(launch), measures.header)
  return measures.header(measures.total(launch)), measures.student(#values - 1) * measures.jackknife(values)
end

--- Of a sampled launch: cycles, and the parts of the 95% interval's half-width: chance and bias.
function measures.interval_of_cycles(launch)
  local bias = 0
  for _, estimate in ipairs(measures.other_estimates) do
    bias = bias + measures.change_of_cycles(launch, estimate(launch))
  end
  return measures.header(measures.total(launch)), measures.chance(launch, measures.header), bias
end

return measures
