-- The runs of two sweeps that are of the same point: what agrees is paired, and what keeps runs apart has a name.
local core = require "warpwright.core"
local database = require "warpwright.sweep.database"
local folder = require "warpwright.sweep.folder"
local names = require "warpwright.names"

local pairing = {}

--- Its runs: { point = texts by axis, repetition =, status =, cycles =, half_width = of estimated cycles, warm_up_cycles = or nil }; and
-- whether it has a warm-up.
local function read(path)
  local file, runs, has_warm_up = core.open_database(folder.database(path), false), {}, false
  local widths = database.half_widths_of_cycles(file)
  local parameters = file:prepare "SELECT axis, value FROM parameters WHERE run = ?"
  local columns = "run, repetition, status, cycles, size, " .. (database.knows_warm_ups(file) and "warm_up_cycles" or "NULL")
  for i, row in ipairs(file:prepare(("SELECT %s FROM runs ORDER BY run"):format(columns)):rows()) do
    local point = {}
    for _, parameter in ipairs(parameters:rows(row[1])) do point[parameter[1]] = tostring(parameter[2]) end
    point.size = row[5] -- where it is no axis, the default
    runs[i] = { point = point, repetition = row[2], status = row[3], cycles = row[4], half_width = widths[row[1]], warm_up_cycles = row[6] }
    has_warm_up = has_warm_up or row[6] ~= nil
  end
  return runs, has_warm_up
end

--- Which cycles of the runs are compared: those since the warm-ups, which would bring all quotients nearer to 1; all where
-- one sweep has none: no part of its runs is like the warm-up of the other.
local function leave_out_warm_ups(a, b, a_has, b_has)
  if a_has ~= b_has then return ("all cycles are compared: %s has a warm-up, %s has none"):format(a_has and "A" or "B", a_has and "B" or "A") end
  if not a_has then return nil end
  for _, runs in ipairs { a, b } do
    for _, run in ipairs(runs) do run.cycles = run.cycles and run.cycles - (run.warm_up_cycles or 0) end
  end
  return "cycles are those since the warm-up"
end

--- The values of an axis in the order of the runs, false for runs without it.
local function values_of(runs, axis)
  local order, seen = {}, {}
  for _, run in ipairs(runs) do
    local value = run.point[axis] or false
    if not seen[value] then order[#order + 1] = value end
    seen[value] = true
  end
  return order, seen
end

local most_values <const> = 8

local function values_text(order)
  local texts = {}
  for i, value in ipairs(order) do texts[i] = value or "none" end
  local text = table.concat(texts, ", ", 1, math.min(#texts, most_values))
  return #texts > most_values and ("%s and %d more"):format(text, #texts - most_values) or text
end

--- { name =, a =, b = texts of its values, is_left_out =, keeps_apart =, varies = } of each axis of either, in order. An axis that one
-- sweep has, with one value for all of its runs, and the other has not, is left out.
local function axes_of(a, b)
  local all, axes = {}, {}
  for _, runs in ipairs { a, b } do
    for _, run in ipairs(runs) do
      for axis in pairs(run.point) do all[axis] = true end
    end
  end
  for i, name in ipairs(names.sorted_keys(all)) do
    local of_a, of_b, in_b = (values_of(a, name)), values_of(b, name)
    local agrees = false
    for _, value in ipairs(of_a) do agrees = agrees or in_b[value] ~= nil end
    local varies = #of_a > 1 or #of_b > 1
    local is_left_out = not varies and (of_a[1] == false) ~= (of_b[1] == false)
    axes[i] = { name = name, a = values_text(of_a), b = values_text(of_b), is_left_out = is_left_out,
      keeps_apart = not agrees and not is_left_out, varies = varies or not agrees }
  end
  return axes
end

--- The axes of a run in words: all, by which it is found; those that are not the same for all; and, where it has a seed, these without
-- it.
local function words_of(run, axes)
  local key, shown, without_seed = {}, {}, {}
  for _, axis in ipairs(axes) do
    local word = run.point[axis.name] and not axis.is_left_out and ("%s=%s"):format(axis.name, run.point[axis.name])
    key[#key + 1] = word or nil
    if word and axis.varies then shown[#shown + 1] = word end
    if word and axis.varies and axis.name ~= "seed" then without_seed[#without_seed + 1] = word end
  end
  if run.repetition > 1 then
    for _, words in ipairs { key, shown, without_seed } do words[#words + 1] = "repetition=" .. run.repetition end
  end
  return table.concat(key, "\n"), table.concat(shown[1] and shown or key, " "), run.point.seed and table.concat(without_seed, " ")
end

--- pairing.of(folders of two sweeps): { axes =, runs = { how many each has }, both = { { name =, name_without_seed = or nil, a =, b = } ... },
-- single = { { name =, side = "A" or "B" } ... }, since = what of the cycles counts where there are warm-ups, in words }. Runs are { cycles =, half_width =, status = }; `axes`: { name =, a =, b = texts of
-- its values, is_left_out =, keeps_apart = }.
function pairing.of(path_a, path_b)
  local a, a_has = read(path_a)
  local b, b_has = read(path_b)
  local found = { since = leave_out_warm_ups(a, b, a_has, b_has), axes = axes_of(a, b), runs = { #a, #b }, both = {}, single = {} }
  local by_key, is_paired = {}, {}
  for _, run in ipairs(b) do by_key[(words_of(run, found.axes))] = run end
  for _, run in ipairs(a) do
    local key, name, name_without_seed = words_of(run, found.axes)
    local other = by_key[key]
    if other then
      found.both[#found.both + 1], is_paired[key] = { name = name, name_without_seed = name_without_seed, a = run, b = other }, true
    else
      found.single[#found.single + 1] = { name = name, side = "A" }
    end
  end
  for _, run in ipairs(b) do
    local key, name = words_of(run, found.axes)
    if not is_paired[key] then found.single[#found.single + 1] = { name = name, side = "B" } end
  end
  return found
end

return pairing
