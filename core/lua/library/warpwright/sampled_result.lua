-- The result of a run of which launches were sampled: every statistic is one of the estimated counters, and has a 95% interval.
local core = require "warpwright.core"
local measures = require "warpwright.measures"

local sampled_result = {}

--- All that the run is estimated to have counted: what had timing, and the launches that had not. What these have counted without, their
-- kernels, is in their estimates as well.
local function total_of(sampler, cycles)
  local list, weights = { measures.now(sampler, cycles) }, { 1 }
  for _, launch in ipairs(sampler.launches) do
    if launch.kind ~= "exact" then
      list[#list + 1], weights[#weights + 1] = measures.total(launch), 1
    end
    if launch.counted then list[#list + 1], weights[#weights + 1] = launch.counted, -1 end
  end
  return measures.sum(list, weights)
end

--- How often the estimate of a launch counts: for itself, and for those that are like it.
local function multiples(sampler)
  local times = {}
  for _, launch in ipairs(sampler.launches) do
    if launch.kind == "sampled" then times[launch] = (times[launch] or 0) + 1 end
    local instructions = 0
    for _, member in ipairs(launch.members or {}) do instructions = instructions + member.instructions end
    for _, member in ipairs(launch.members or {}) do times[member] = (times[member] or 0) + launch.instructions / instructions end
  end
  return times
end

--- "0, 1 and 2": the members of a launch like others.
local function numbers_of(members)
  local numbers = {}
  for i, member in ipairs(members) do numbers[i] = member.offer.number end
  return ("%s and %d"):format(table.concat(numbers, ", ", 1, #numbers - 1), numbers[#numbers])
end

--- A group for all launches that are like the same ones, whose errors are the same. What they themselves differ by adds to it.
local function add_groups_of_members(groups, sampler, total)
  local order, like = {}, {}
  for _, launch in ipairs(sampler.launches) do
    local key = launch.members and numbers_of(launch.members)
    if key and not like[key] then order[#order + 1], like[key] = key, {} end
    if key then table.insert(like[key], launch) end
  end
  for _, key in ipairs(order) do
    local group, members = {}, #like[key][1].members
    local by = math.sqrt(1 + members / #like[key])
    for i = 1, members do
      local list, weights = { total }, { 1 }
      for _, launch in ipairs(like[key]) do
        table.move({ measures.replicas(launch)[i], measures.total(launch) }, 1, 2, #list + 1, list)
        table.move({ by, -by }, 1, 2, #weights + 1, weights)
      end
      group[i] = measures.sum(list, weights)
    end
    groups[#groups + 1] = group
  end
end

--- Totals by measures.other_estimates: for each sampled launch, since what one is too high another need not be too low, and for all
-- launches like others together, which err as these do.
local function other_totals(sampler, total, times)
  local others, of_like = {}, {}
  for _, launch in ipairs(sampler.launches) do
    for i, estimate in ipairs(measures.other_estimates) do
      local other = estimate(launch)
      if other then
        local by = times[launch] or 1
        local base = launch.members and of_like[i] or total
        local changed = measures.sum({ base, other, measures.total(launch) }, { 1, by, -by })
        if launch.members then of_like[i] = changed else others[#others + 1] = changed end
      end
    end
  end
  for i in ipairs(measures.other_estimates) do others[#others + 1] = of_like[i] end
  return others
end

--- Groups of totals, those of a group each with one window, tail or member left out, with `degrees` of freedom if these are not one less
-- than they are; and other_totals().
local function alternatives(sampler, total)
  local groups, times = {}, multiples(sampler)
  for _, launch in ipairs(sampler.launches) do
    local by = times[launch] or 1
    if launch.windows then
      local group = {}
      for i, replica in ipairs(measures.replicas(launch)) do
        group[i] = measures.sum({ total, replica, measures.total(launch) }, { 1, by, -by })
      end
      groups[#groups + 1] = group
      for _, ends in ipairs(measures.groups_of_end(launch, by)) do
        for i, replica in ipairs(ends) do ends[i] = measures.sum({ total, replica, measures.total(launch) }, { 1, 1, -1 }) end
        groups[#groups + 1] = ends
      end
    end
  end
  add_groups_of_members(groups, sampler, total)
  return groups, other_totals(sampler, total, times)
end

-- Rows that are counted without timing as well.
local exact <const> = { ["run.warp_instructions"] = true, ["run.launches"] = true, ["run.memory_peak"] = true }

local function is_exact(name) return exact[name] or name:find "^launch%[%d+%]%.ctas$" or name:find "^launch%[%d+%]%.ctas_per_sm$"
  or name:find "^launch%[%d+%]%.warp_instructions$" end

local function values_of(r)
  local values, rows = {}, r.rows
  for i = 1, #rows do
    local _, value = rows:row(i)
    values[i] = value == value and value or 0
  end
  return values
end

-- Objects that are alike, all SMs or all slices of the L2, draw by one law what they count. So what replicas say of one object has
-- two parts: what they say of the mean of all, and what they say of objects around the mean, for which all of these speak.

--- Rows of objects that differ in an index alone, { rows = their numbers, is_count = } of each family of two and more; and the other
-- rows' numbers.
local function families_of(rows)
  local families, by_key, singles = {}, {}, {}
  for i = 1, #rows do
    local name, value = rows:row(i)
    local key = not name:find "^launch%[" and name:find "%[%d+%]" and name:gsub("%[%d+%]", "[]")
    if not key then
      singles[#singles + 1] = i
    elseif by_key[key] then
      table.insert(by_key[key].rows, i)
    else
      by_key[key] = { rows = { i }, is_count = math.type(value) == "integer" }
      families[#families + 1] = by_key[key]
    end
  end
  for k = #families, 1, -1 do
    local members = families[k].rows
    if #members == 1 then singles[#singles + 1] = table.remove(families, k).rows[1] end
  end
  return families, singles
end

local function mean_of(values, members)
  local sum = 0
  for _, i in ipairs(members) do sum = sum + values[i] end
  return sum / #members
end

--- How much of what all of a family vary by is a row's. Counts vary as much as they are large; ratios vary all alike.
local function share_of(family, value, mean) return family.is_count and mean > 0 and value / mean or 1 end

--- Variances of rows, in parts that each have degrees of freedom; together they have those of Welch and Satterthwaite.
local Chance = {}
Chance.__index = Chance

local function new_chance(count)
  local chance = setmetatable({ variances = {}, squares = {} }, Chance)
  for i = 1, count do chance.variances[i], chance.squares[i] = 0.0, 0.0 end
  return chance
end

function Chance:add(i, variance, degrees)
  self.variances[i], self.squares[i] = self.variances[i] + variance, self.squares[i] + variance ^ 2 / degrees
end

function Chance:half_width(i)
  local variance, square = self.variances[i], self.squares[i]
  return variance > 0 and measures.student(variance ^ 2 / square + 1e-9) * math.sqrt(variance) or 0.0
end

--- Shares among a family the variance around its mean.
function Chance:add_around_mean(family, values, sum_of_variances, degrees)
  local mean = mean_of(values, family.rows)
  for _, i in ipairs(family.rows) do
    self:add(i, sum_of_variances / #family.rows * share_of(family, values[i], mean), degrees)
  end
end

--- What replicas, lists of values, say of the rows of a family.
function Chance:add_family(family, values, replicas, degrees)
  local means, members = {}, family.rows
  for k, replica in ipairs(replicas) do means[k] = mean_of(replica, members) end
  local of_mean, mean, around = measures.jackknife(means) ^ 2, mean_of(values, members), 0
  for _, i in ipairs(members) do
    local deviations = {}
    for k, replica in ipairs(replicas) do deviations[k] = replica[i] - means[k] end
    around = around + measures.jackknife(deviations) ^ 2
    self:add(i, of_mean * share_of(family, values[i], mean) ^ 2, degrees)
  end
  self:add_around_mean(family, values, around * #members / (#members - 1), degrees * (#members - 1))
end

--- Launches with timing behind one without begin as that left the machine, and so do ends of launches: which object counts what is
-- left to chance, here and in a run that has all of its timing.
function Chance:add_disturbed(family, values, disturbed, part)
  local mean, squares, members = mean_of(disturbed, family.rows), 0, family.rows
  for _, i in ipairs(members) do squares = squares + (disturbed[i] - mean) ^ 2 end
  local by = family.is_count and 1 or part
  self:add_around_mean(family, values, 2 * by ^ 2 * squares * #members / (#members - 1), #members - 1)
end

--- The launches with timing behind the first without, and the ends of those without, together: { measure =, part = of all cycles }; or
-- nil.
local function disturbed_of(sampler, total)
  local list, weights, is_disturbed, times = {}, {}, false, multiples(sampler)
  for _, launch in ipairs(sampler.launches) do
    if launch.kind ~= "exact" then
      is_disturbed = true
      if launch.tail then list[#list + 1], weights[#weights + 1] = launch.tail, times[launch] end
    elseif is_disturbed then
      list[#list + 1], weights[#weights + 1] = launch.all, 1
    end
  end
  if not list[1] then return nil end
  local sum = measures.sum(list, weights)
  return { measure = sum, part = measures.header(sum) / measures.header(total) }
end

--- Of each row of a result the half-width by chance. `make` makes a result of a measure; `disturbed`: launches that begin as others
-- without timing left the machine, { measure =, part = of all cycles }, or nil.
function sampled_result.chances(groups, r, make, disturbed)
  local rows, values = r.rows, values_of(r)
  local chance, families, singles = new_chance(#rows), families_of(rows)
  for _, group in ipairs(groups) do
    local replicas, degrees = {}, group.degrees or #group - 1
    for k, replica in ipairs(group) do replicas[k] = values_of(make(replica)) end
    for _, family in ipairs(families) do chance:add_family(family, values, replicas, degrees) end
    for _, i in ipairs(singles) do
      local of_row = {}
      for k, replica in ipairs(replicas) do of_row[k] = replica[i] end
      chance:add(i, measures.jackknife(of_row) ^ 2, degrees)
    end
  end
  if disturbed then
    local of_disturbed = values_of(make(disturbed.measure))
    for _, family in ipairs(families) do chance:add_disturbed(family, values, of_disturbed, disturbed.part) end
  end
  local widths = {}
  for i = 1, #rows do widths[i] = chance:half_width(i) end
  return widths
end

--- Half-widths of the rows of launches, each by its own windows; a launch starts when all before it have ended.
local function widths_of_launches(sampler, widths)
  local function ipc(measure)
    local cycles, _, threads = measures.header(measure)
    return cycles > 0 and threads / cycles or 0
  end
  local of_row <const> = {
    cycles = function(measure) return (measures.header(measure)) end,
    thread_instructions = function(measure) return (select(3, measures.header(measure))) end,
    ipc = ipc,
  }
  local before = 0
  for _, launch in ipairs(sampler.launches) do
    local total = measures.total(launch)
    for name, value_of in pairs(of_row) do
      local bias = 0
      for _, estimate in ipairs(measures.other_estimates) do
        local other = estimate(launch)
        bias = bias + (other and math.abs(value_of(other) - value_of(total)) or 0)
      end
      local is_exact_one = launch.kind == "exact"
      widths[("launch[%d].%s"):format(launch.offer.number, name)] = not is_exact_one and measures.chance(launch, value_of) + bias or nil
    end
    widths[("launch[%d].start_cycle"):format(launch.offer.number)] = before > 0 and before or nil
    before = before + (widths[("launch[%d].cycles"):format(launch.offer.number)] or 0)
  end
end

--- By name: half-widths of the 95% intervals of estimated statistics. `make` makes a result of a total.
local function widths_of(sampler, r, total, make)
  local groups, others = alternatives(sampler, total)
  local values, rows, widths = values_of(r), r.rows, {}
  local chances = sampled_result.chances(groups, r, make, disturbed_of(sampler, total))
  for i, other in ipairs(others) do others[i] = values_of(make(other)) end
  for i = 1, #rows do
    local name = rows:row(i)
    if not is_exact(name) then
      widths[name] = chances[i]
      for _, other in ipairs(others) do widths[name] = widths[name] + math.abs(other[i] - values[i]) end
    end
  end
  widths_of_launches(sampler, widths)
  return widths
end

--- The line of the longest launch that had timing for a reason; nil without one.
local function longest_exact(sampler, lines)
  local longest, line
  for i, launch in ipairs(sampler.launches) do
    if launch.kind == "exact" and launch.why and not (longest and longest.instructions >= launch.instructions) then
      longest, line = launch, lines[i]
    end
  end
  return line
end

--- `cycles`: those until the last kernel has ended. What is still in flight then, write-backs and the like, is counted, but not the
-- time that it takes. `make`: of a measure, a result with these counters.
function sampled_result.new(sampler, cycles, make)
  sampler:end_exact(cycles)
  local total = total_of(sampler, cycles)
  local r = make(total)
  local summary, share, instructions = sampled_result.count(sampler), 0, 0
  for _, launch in ipairs(sampler.launches) do
    share = share + (launch.share or 0) * launch.instructions
    instructions = instructions + launch.instructions
  end
  local lines = sampled_result.lines(sampler)
  r.sampled = { sample = sampler.text, launches = summary.launches, sampled = summary.sampled, like_others = summary["like others"],
    exact = summary.exact, share_with_timing = instructions > 0 and share / instructions or 1.0, lines = lines,
    longest_exact = longest_exact(sampler, lines) }
  if sampled_result.is_exact(sampler) then
    r.sampled.widths = {}
  else
    r.sampled.find_widths = function(finished) return widths_of(sampler, finished, total, function(measure)
      local other = make(measure)
      local technology = rawget(finished, "technology")
      if technology then require("warpwright.result").add_energy(other, technology) end
      return other
    end) end
  end
  return r
end

--- The half-widths of a result's 95% intervals, by name; nil of one that was not sampled.
function sampled_result.widths(r)
  local sampled = rawget(r, "sampled")
  if not sampled then return nil end
  if not sampled.widths then
    sampled.widths, sampled.find_widths = sampled.find_widths(r), nil
  end
  return sampled.widths
end

-- For people ---------------------------------------------------------------------------------------------------------------------------

function sampled_result.count(sampler)
  local count = { launches = #sampler.launches, sampled = 0, exact = 0, ["like others"] = 0 }
  for _, launch in ipairs(sampler.launches) do count[launch.kind] = count[launch.kind] + 1 end
  return count
end

--- Had all launches timing?
function sampled_result.is_exact(sampler)
  local count = sampled_result.count(sampler)
  return count.exact == count.launches
end

--- A line for each launch, and one where a CUDA program's kernels ran in another order than without sampling.
function sampled_result.lines(sampler)
  local lines = {}
  for i, launch in ipairs(sampler.launches) do
    local text = launch.kind
    if launch.windows then
      local cycles, chance, bias = measures.interval_of_cycles(launch)
      text = ("sampled, %d windows of %d instructions after warm-ups of %d, %.1f%% with timing; cycles +-%.2f%% by chance, +-%.2f%% bias")
        :format(#launch.windows, launch.length, launch.warm_up, 100 * launch.share, 100 * chance / cycles, 100 * bias / cycles)
    elseif launch.members then
      text = "like launches " .. numbers_of(launch.members)
    elseif launch.why then
      text = "exact: " .. launch.why
    end
    lines[i] = ("launch %d, %s: %s"):format(launch.offer.number, launch.offer.kernel, text)
  end
  if sampler.serialises then
    lines[#lines + 1] = "kernels that run side by side without sampling ran one after the other: so are the cycles, also of exact launches"
  end
  return lines
end

local MARK <const> = "estimated, +-%.3g: %s"

--- Of a description in such rows: the half-width or nil, and the description alone.
function sampled_result.width_in(doc)
  local width, plain = doc:match "^estimated, %+%-([^ :]+): (.*)$"
  return tonumber(width), plain or doc
end

--- Rows of which those that are estimated say so, with their intervals.
function sampled_result.annotated(r, rows)
  local widths = sampled_result.widths(r)
  if not widths or not next(widths) then return rows end
  local marked = core.stats()
  for i = 1, #rows do
    local name, value, unit, doc, whole, of_policy = rows:row(i)
    local width = widths[name]
    if width then doc = MARK:format(width, doc) end
    marked:add(name, value, unit, doc, whole, of_policy)
  end
  return marked
end

return sampled_result
