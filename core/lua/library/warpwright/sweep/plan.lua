-- The runs of a sweep, from the file that describes it: axes, whose values are combined in every way, a list of runs, or both.
local core = require "warpwright.core"
local cuda = require "warpwright.cuda"
local histograms = require "warpwright.histograms"
local intervals = require "warpwright.intervals"
local names = require "warpwright.names"
local own_state = require "warpwright.own_state"
local run_kernel = require "warpwright.run_kernel"

--- Axes that are options of ww.run, the slowest first; `seed` is a parameter of the size. Others are parameters of the machine.
local run_axes <const> = { "config", "workload", "program", "size", "seed", "policy", "capability", "timed", "max_cycles", "memory",
  "bounds", "energy", "fast_forward", "sample" }
local plan = { run_axes = run_axes }

local fields <const> = { "axes", "runs", "keep", "repetitions", "warm_up", "name", "stats_every", "stats_of",
  "histograms", "labels" }

local is_run_axis = {}
for _, name in ipairs(run_axes) do is_run_axis[name] = true end

-- Values of an axis ---------------------------------------------------------------------------------------------------------------

--- Its values from 1 on, `what` they are: a name without quotes is nil, and leaves a hole.
local function check_list(where, what, list)
  local count = 0
  for _, key in ipairs(names.sorted_keys(list)) do
    if math.type(key) ~= "integer" or key < 1 then core.user_error(("%s: expected %s, got the key %s"):format(where, what, names.shown(key))) end
    count = count + 1
    if list[count] == nil then core.user_error(("%s[%d]: expected a value, got nil"):format(where, count)) end
  end
  if count == 0 then core.user_error(("%s: expected one value or more, got none"):format(where)) end
end

local values_of

--- { "swl", limit = { 1, 2 }, level = "l1" } as { "swl:level=l1,limit=1", "swl:level=l1,limit=2" }.
local function policies_of(where, entry)
  local texts = { "" }
  for _, key in ipairs(names.sorted_keys(entry)) do
    if key ~= 1 then
      local values = values_of(("%s: %s"):format(where, key), nil, entry[key])
      local longer = {}
      for _, text in ipairs(texts) do
        for _, value in ipairs(values) do longer[#longer + 1] = ("%s,%s=%s"):format(text, key, tostring(value)) end
      end
      texts = longer
    end
  end
  for i, text in ipairs(texts) do texts[i] = entry[1] .. (text ~= "" and ":" .. text:sub(2) or "") end
  return texts
end

--- Is it a policy and not a list of them?
local function has_parameters(given)
  for key in pairs(given) do
    if type(key) == "string" then return true end
  end
  return false
end

--- { "./spmv", "my matrix.mtx" }: of a program and its arguments, or a PTX file and options of a launch.
local function words_of(where, entry)
  check_list(where, "a command line, word by word", entry)
  for _, word in ipairs(entry) do
    if type(word) ~= "string" then names.expected(where, "a command line, word by word", word) end
  end
  return entry
end

local function append_all(list, more)
  for _, value in ipairs(more) do list[#list + 1] = value end
end

--- 1e5 as 100000: a run is known by how its numbers are written.
local function whole(value) return type(value) == "number" and math.tointeger(value) or value end

local function is_plain(value) return type(value) == "string" or type(value) == "number" or type(value) == "boolean" end

--- The same value twice would be runs that are the same: `repetitions` asks for these.
local function check_different(where, values)
  local seen = {}
  for _, value in ipairs(values) do
    if seen[value] then core.user_error(("%s: expected different values, got '%s' twice"):format(where, tostring(value))) end
    seen[value] = true
  end
end

--- One value, or a list of them; each a text, a number or a boolean.
function values_of(where, axis, given)
  if axis == "max_cycles" then given = whole(given) end
  if is_plain(given) then return { given } end
  if type(given) ~= "table" then names.expected(where, "a value or a list of values", given) end
  if axis == "policy" and has_parameters(given) then given = { given } end
  check_list(where, "a value or a list of values", given)
  local values = {}
  for _, value in ipairs(given) do
    if axis == "policy" and type(value) == "table" and type(value[1]) == "string" then
      append_all(values, policies_of(where, value))
    elseif (axis == "program" or axis == "workload") and type(value) == "table" then
      values[#values + 1] = names.command_line(words_of(where, value))
    elseif is_plain(value) then
      values[#values + 1] = axis == "max_cycles" and whole(value) or value
    else
      names.expected(where, "texts, numbers or booleans", value)
    end
  end
  check_different(where, values)
  return values
end

-- Points ----------------------------------------------------------------------------------------------------------------------------

local function axes_in_order(axes)
  local list = {}
  for _, name in ipairs { "config", "workload", "program", "size", "seed" } do
    if axes[name] ~= nil then list[#list + 1] = name end
  end
  for _, name in ipairs(names.sorted_keys(axes)) do
    if not is_run_axis[name] then list[#list + 1] = name end
  end
  for _, name in ipairs { "capability", "timed", "max_cycles", "memory", "bounds", "energy", "fast_forward", "sample", "policy" } do
    if axes[name] ~= nil then list[#list + 1] = name end
  end
  return list
end

--- All combinations, as tables by axis, the last axis fastest.
local function points_of(where, axes)
  if type(axes) ~= "table" then names.expected(where, "a table of axes", axes) end
  local points = { {} }
  for _, axis in ipairs(axes_in_order(axes)) do
    if type(axis) ~= "string" then names.expected(where, "axes by name", axis) end
    local longer = {}
    for _, point in ipairs(points) do
      for _, value in ipairs(values_of(("%s: %s"):format(where, axis), axis, axes[axis])) do
        local copy = {}
        for key, known in pairs(point) do copy[key] = known end
        copy[axis] = value
        longer[#longer + 1] = copy
      end
    end
    points = longer
  end
  return points
end

--- A CUDA program has arguments in the place of a size, and options that workloads have not.
local function check_host_program(where, point)
  local alone, beside = { "workload", "size", "seed" }, { "capability", "timed" }
  for _, name in ipairs(point.program and alone or beside) do
    if point[name] ~= nil then
      core.user_error(("%s: expected runs with %s %s program, got one with%s"):format(where, name, point.program and "and no" or "and a",
        point.program and " both" or "out"))
    end
  end
  local name = point.program and "program" or "workload"
  for _, axis in ipairs { "config", name } do
    if type(point[axis]) ~= "string" then names.expected(("%s: %s"):format(where, axis), "a name or a path", point[axis]) end
  end
end

--- The program of a point, as the run has it: its words, its name where a workload's stands, and the bounds of such runs.
local function set_program(where, run, point)
  run.program = names.words_of_shell(point.program)
  if not run.program or not run.program[1] then
    names.expected(where .. ": program", "a command line, its quotes closed", point.program)
  end
  run.workload = cuda.name_of(run.program)
  run.bounds = run.bounds or "hardware"
end

--- What ww.run takes, of a point.
local function run_of(where, point, repetition, of_all)
  check_host_program(where, point)
  local run = { set = {}, repetition = repetition }
  for key, value in pairs(of_all) do run[key] = value end
  for _, axis in ipairs(axes_in_order(point)) do
    if axis == "capability" or axis == "timed" then
      run[axis] = tostring(point[axis])
    elseif axis == "seed" then
      run.size = ("%s,seed=%s"):format(run.size or "medium", point.seed)
    elseif is_run_axis[axis] then
      run[axis] = point[axis]
    else
      run.set[#run.set + 1] = ("%s=%s"):format(axis, tostring(point[axis]))
    end
  end
  if not run.set[1] then run.set = nil end
  if point.program then set_program(where, run, point) end
  local kernel = point.workload and run_kernel.name_of_line(point.workload)
  if kernel then run.workload = kernel end
  return run
end

-- Checks ------------------------------------------------------------------------------------------------------------------------------

local function read_warm_up(where, warm_up)
  if warm_up == nil then return nil end
  names.check_keys(where .. ": warm_up", warm_up, { "cycles", "launches", "policy" })
  local cycles, launches = whole(warm_up.cycles), whole(warm_up.launches)
  if cycles ~= nil and launches ~= nil then core.user_error(where .. ": warm_up: expected cycles or launches, got both") end
  local name, unit = launches == nil and "cycles" or "launches", launches == nil and "cycle" or "launch"
  local length = launches == nil and cycles or launches
  if math.type(length) ~= "integer" or length < 1 then
    names.expected(("%s: warm_up.%s"):format(where, name), ("1 %s or more"):format(unit), length)
  end
  if warm_up.policy ~= nil and type(warm_up.policy) ~= "string" then
    names.expected(where .. ": warm_up.policy", "the name of a policy", warm_up.policy)
  end
  return { cycles = cycles, launches = launches, policy = warm_up.policy }
end

local function read_repetitions(where, repetitions)
  if repetitions == nil then return 1 end
  repetitions = whole(repetitions)
  if math.type(repetitions) ~= "integer" or repetitions < 1 then
    names.expected(where .. ": repetitions", "a whole number from 1 on", repetitions)
  end
  return repetitions
end

local function read_list_of_runs(where, runs)
  local what <const> = "a list of runs, { { config =, workload = ... } ... }"
  if runs == nil then return end
  if type(runs) ~= "table" then names.expected(where .. ": runs", what, runs) end
  check_list(where .. ": runs", what, runs)
end

-- Labels ------------------------------------------------------------------------------------------------------------------------------

--- The values of an axis that runs have, as texts: a list, and as keys.
local function values_in(points, axis)
  local list, seen = {}, {}
  for _, point in ipairs(points) do
    local value = point[axis] ~= nil and tostring(point[axis])
    if value and not seen[value] then list[#list + 1], seen[value] = value, true end
  end
  return list, seen
end

--- Labels of an axis by value, as a text; two values that look alike would be one in tables.
local function read_labels_of(where, given, values, seen)
  local labels, value_of = {}, {}
  if type(given) ~= "table" then names.expected(where, "labels by value", given) end
  for _, value in ipairs(names.sorted_keys(given)) do
    local label = given[value]
    if not seen[tostring(value)] then
      core.user_error(("%s: no value is '%s'%s"):format(where, tostring(value), names.available(tostring(value), values)))
    end
    if type(label) ~= "string" or not label:find "^%C+$" then names.expected(("%s: %s"):format(where, tostring(value)), "a text", label) end
    labels[tostring(value)] = label
  end
  for _, value in ipairs(values) do
    local label = labels[value] or value
    if value_of[label] then
      core.user_error(("%s: expected different labels, got '%s' for '%s' and '%s'"):format(where, label, value_of[label], value))
    end
    value_of[label] = value
  end
  return labels
end

--- Texts by axis and value; nil for none.
local function read_labels(where, given, points)
  if given == nil then return nil end
  if type(given) ~= "table" then names.expected(where, "labels by axis and value", given) end
  local labels = {}
  for _, axis in ipairs(names.sorted_keys(given)) do
    local values, seen = values_in(points, axis)
    if not values[1] then core.user_error(("%s: expected an axis of the sweep, got '%s'"):format(where, tostring(axis))) end
    labels[axis] = read_labels_of(("%s: %s"):format(where, axis), given[axis], values, seen)
  end
  return labels
end

--- A point with its labels; nil where there are none.
local function with_labels(point, labels)
  if not labels then return nil end
  local shown = {}
  for axis, value in pairs(point) do shown[axis] = labels[axis] and labels[axis][tostring(value)] or value end
  return shown
end

-- The whole -------------------------------------------------------------------------------------------------------------------------------

--- What reads a field of the description knows nothing of where that is.
local function check_field(where, read, value)
  if value == nil then return end
  local ok, problem = xpcall(read, core.message_handler, value)
  if not ok then core.user_error(("%s: %s"):format(where, core.thrown_text(problem))) end
end

--- stats_of and histograms may be functions of a point: policies count what others do not.
local function fields_of_point(where, point, of_all)
  local own = {}
  for key, value in pairs(of_all) do own[key] = value end
  for _, field in ipairs { "stats_of", "histograms" } do
    if type(own[field]) == "function" then own[field] = own_state.result_of(own[field], point) end
  end
  check_field(where, histograms.words_of, own.histograms)
  return own
end

--- plan.new(where, description): { runs = list of { number =, point =, run = }, axes = names in order, name =, where = }. `where`, the
-- file where there is one, begins messages. A point has the values of the axes by name; `shown`, of a sweep with labels, these.
function plan.new(where, description)
  names.check_keys(where, description, fields)
  read_list_of_runs(where, description.runs)
  if description.name ~= nil and type(description.name) ~= "string" then names.expected(where .. ": name", "a text", description.name) end
  if description.keep ~= nil and type(description.keep) ~= "function" then
    names.expected(where .. ": keep", "a function of a point", description.keep)
  end
  if not description.axes and not description.runs then core.user_error(where .. ": expected axes or runs, got neither") end
  local points = description.axes and points_of(where .. ": axes", description.axes) or {}
  for i, run in ipairs(description.runs or {}) do
    append_all(points, points_of(("%s: runs[%d]"):format(where, i), run))
  end
  local of_all = { warm_up = read_warm_up(where, description.warm_up), stats_every = description.stats_every,
    stats_of = description.stats_of, histograms = description.histograms }
  check_field(where, intervals.read_every, of_all.stats_every)
  local labels = read_labels(where .. ": labels", description.labels, points)
  local made, axes = { where = where, runs = {}, name = description.name }, {}
  for _, point in ipairs(points) do
    if not description.keep or own_state.result_of(description.keep, point) then
      for _, axis in ipairs { "sample", "fast_forward" } do
        if of_all.warm_up and point[axis] ~= nil then
          core.user_error(("%s: warm_up: expected runs without %s, got one with it"):format(where, axis))
        end
      end
      for axis in pairs(point) do axes[axis] = true end
      local of_run = fields_of_point(where, point, of_all)
      for repetition = 1, read_repetitions(where, description.repetitions) do
        made.runs[#made.runs + 1] = {
          number = #made.runs + 1, point = point, shown = with_labels(point, labels), repetition = repetition,
          run = run_of(where, point, repetition > 1 and repetition or nil, of_run),
        }
      end
    end
  end
  made.axes = axes_in_order(axes)
  if not made.runs[1] then core.user_error(where .. ": expected runs, but `keep` keeps none of them") end
  return made
end

--- What ww.run takes of a point that lacks some axes, and of a sweep that lacks some fields: `without` has them as keys.
function plan.run_without(entry, without)
  local point, of_all = {}, {}
  for axis, value in pairs(entry.point) do
    if not without[axis] then point[axis] = value end
  end
  for _, field in ipairs { "warm_up", "stats_every", "stats_of", "histograms" } do
    if not without[field] then of_all[field] = entry.run[field] end
  end
  return run_of("", point, nil, of_all)
end

return plan
