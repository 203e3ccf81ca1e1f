-- warpwright compare: two runs, or two sweeps: what differs in their inputs, and which statistics by how much.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local names = require "warpwright.names"
local pairing = require "warpwright.sweep.pairing"
local stored_run = require "warpwright.stored_run"
local text_table = require "warpwright.sweep.table"

local compare = {}

-- Runs ----------------------------------------------------------------------------------------------------------------------------------

--- A line for each parameter, with its object, and for each wire.
local function read_config(path)
  local text, lines, object = stored_run.read_config(path) or "", {}, nil
  for line in text:gmatch "[^\n]+" do
    line = line:match "^%s*(.-),?%s*$"
    object = line:match '^m:%w+ "([^"]+)" {$' or line ~= "}" and object or nil
    if line:find "^[%w_]+ = " and object then line = ("%s.%s"):format(object, line) end
    if line ~= "}" then lines[#lines + 1] = line end
  end
  return lines
end

--- Lines that only one of two texts has, objects that differ in an index only together.
local function different_lines(a, b)
  local count, order = {}, {}
  local function visit(lines, side)
    for _, line in ipairs(lines) do
      local key = line:gsub("%[%d+%]", "[*]")
      if not count[key] then
        count[key] = { 0, 0 }
        order[#order + 1] = key
      end
      count[key][side] = count[key][side] + 1
    end
  end
  visit(a, 1)
  visit(b, 2)
  local found = {}
  for _, key in ipairs(order) do
    if count[key][1] ~= count[key][2] then found[#found + 1] = { key, count[key][1], count[key][2] } end
  end
  return found
end

--- Estimates differ from exact results, and from one another, by chance.
local function warn_of_estimates(a, b)
  if not a.is_estimated and not b.is_estimated then return end
  local function words(run) return run.is_estimated and ("estimated by sampling (%s)"):format(run.inputs.sampled or "?") or "exact" end
  print(("A is %s, B is %s: what differs by less than their intervals may be the same\n"):format(words(a), words(b)))
end

local function print_inputs(a, b)
  local of_a, of_b, all = a.inputs, b.inputs, {}
  for name in pairs(of_a) do all[name] = true end
  for name in pairs(of_b) do all[name] = true end
  local rows = {}
  for _, name in ipairs(names.sorted_keys(all)) do
    if of_a[name] ~= of_b[name] then rows[#rows + 1] = { name, of_a[name] or "-", of_b[name] or "-" } end
  end
  warn_of_estimates(a, b)
  print(rows[1] and "inputs that differ" or "inputs: the same machine, workload, policy and files by name")
  if rows[1] then io.write(text_table.text({ "", "A", "B" }, rows)) end
  local lines = different_lines(read_config(a.path), read_config(b.path))
  if lines[1] then
    print "\nlines of the configuration, and how often A and B have them"
    io.write(text_table.text({ "A", "B", "" }, (function()
      local shown = {}
      for i, line in ipairs(lines) do shown[i] = { line[2], line[3], line[1] } end
      return shown
    end)()))
  end
end

--- The files of some runs have no more digits of a number that is not whole.
local function stored_text(value) return math.type(value) == "float" and ("%.9g"):format(value) or value end

--- How far apart: 0 the same, 1 one of them is 0.
local function distance(x, y)
  if stored_text(x) == stored_text(y) then return 0 end
  if type(x) ~= "number" or type(y) ~= "number" then return 1 end
  return math.abs(x - y) / math.max(math.abs(x), math.abs(y))
end

local function ratio_text(x, y)
  return type(x) == "number" and type(y) == "number" and x ~= 0 and ("%.3fx"):format(y / x) or ""
end

--- Rows of statistics that differ; those of the run first, then the farthest apart. Sums over indices.
local function different_stats(a, b)
  local sums, order = {}, {}
  for side, run in ipairs { a, b } do
    for _, name in ipairs(run.list) do
      local pattern, value = name:gsub("%[%d+%]", "[*]"), run.values[name]
      if not sums[pattern] then
        sums[pattern] = { pattern }
        order[#order + 1] = pattern
      end
      local row = sums[pattern]
      if math.type(value) == "integer" or name == pattern then row[side + 1] = (row[side + 1] or 0) + value end
    end
  end
  local rows, compared = {}, 0
  for _, pattern in ipairs(order) do
    local row = sums[pattern]
    if row[2] or row[3] then
      compared = compared + 1
      row.distance = distance(row[2], row[3])
      row[4] = ratio_text(row[2], row[3])
      row.place = pattern:find "^run%." and 0 or 1
      if row.distance > 0 then rows[#rows + 1] = row end
    end
  end
  table.sort(rows, function(x, y)
    if x.place ~= y.place then return x.place < y.place end
    if x.place == 1 and x.distance ~= y.distance then return x.distance > y.distance end
    return x[1] < y[1]
  end)
  return rows, compared
end

local function print_some(rows, columns, most)
  local shown = table.move(rows, 1, math.min(#rows, most), 1, {})
  io.write(text_table.text(columns, shown))
  if #rows > most then print(("... %d more: --all shows them"):format(#rows - most)) end
end

local function read_run(path)
  local list, values, half_widths = stored_run.read_stats(path, "compare", "the folder of a run or of a sweep")
  return { path = path, list = list, values = values, inputs = stored_run.read_inputs(path), is_estimated = next(half_widths) ~= nil }
end

local function compare_runs(path_a, path_b, most)
  local a, b = read_run(path_a), read_run(path_b)
  local rows, compared = different_stats(a, b)
  print(("A  %s\nB  %s\n"):format(path_a, path_b))
  print_inputs(a, b)
  print(("\n%d of %d statistics differ (counters summed over indices)"):format(#rows, compared))
  if rows[1] then print_some(rows, { "", "A", "B", "B/A" }, most) end
  return rows[1] and 1 or 0
end

-- Sweeps --------------------------------------------------------------------------------------------------------------------------------

--- What keeps the runs of the two apart, and what one of them says of all of its runs and the other does not.
local function print_axes(axes)
  for _, axis in ipairs(axes) do
    if axis.keeps_apart then print(("%s keeps runs apart: A has %s, B %s"):format(axis.name, axis.a, axis.b)) end
    if axis.is_left_out then print(("%s: A has %s, B %s; taken for the same"):format(axis.name, axis.a, axis.b)) end
  end
end

local function compare_sweeps(a, b, most)
  local found = pairing.of(a, b)
  local rows, single = {}, {}
  for _, pair in ipairs(found.both) do
    local x, y = pair.a, pair.b
    if x.cycles ~= y.cycles or x.status ~= y.status then
      rows[#rows + 1] = { pair.name, x.cycles or x.status, y.cycles or y.status, ratio_text(x.cycles, y.cycles) }
    end
  end
  for i, run in ipairs(found.single) do single[i] = { run.name, run.side } end
  print(("A  %s, %d runs\nB  %s, %d runs\n"):format(a, found.runs[1], b, found.runs[2]))
  print_axes(found.axes)
  print(("%d runs with the same cycles, %d with others, %d in one of them only"):format(#found.both - #rows, #rows, #single))
  if rows[1] then print_some(rows, { "cycles", "A", "B", "B/A" }, most) end
  if single[1] then print_some(single, { "only in", "" }, most) end
  return (rows[1] or single[1]) and 1 or 0
end

-- The command -----------------------------------------------------------------------------------------------------------------------------

function compare.main(args, first)
  local paths, most = {}, 40
  for i = first, #args do
    if args[i] == "--all" then
      most = math.maxinteger
    elseif args[i]:sub(1, 1) == "-" then
      core.user_error(("compare: unknown option '%s'; available: --all"):format(args[i]))
    else
      paths[#paths + 1] = (args[i]:gsub("(.)/+$", "%1"))
    end
  end
  if #paths ~= 2 then core.user_error(("compare: expected two folders, got %d; see warpwright compare --help"):format(#paths)) end
  local sweeps = {}
  for _, path in ipairs(paths) do
    if not core.real_path(path .. "/.") then names.expected("compare", "the folder of a run or of a sweep", path) end
  end
  for i, path in ipairs(paths) do sweeps[i] = core.is_file(folder.database(path)) end
  if sweeps[1] ~= sweeps[2] then core.user_error "compare: expected two runs or two sweeps, got one of each" end
  return (sweeps[1] and compare_sweeps or compare_runs)(paths[1], paths[2], most)
end

return compare
