-- warpwright compare: two runs, or two sweeps: what differs in their inputs, and which statistics by how much.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local energy = require "warpwright.energy"
local folder = require "warpwright.sweep.folder"
local names = require "warpwright.names"
local pairing = require "warpwright.sweep.pairing"
local ratio = require "warpwright.sweep.ratio"
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
  print(("A is %s, B is %s: +- is half of a 95%% interval of B/A\n"):format(words(a), words(b)))
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

--- The files of some runs have no more digits of a number that is not whole, and none behind the point where these are all.
local function are_same(x, y)
  if math.type(x) ~= "float" and math.type(y) ~= "float" then return x == y end
  return x and y and ("%.9g"):format(x) == ("%.9g"):format(y)
end

--- How far apart: 0 the same, 1 one of them is 0.
local function distance(x, y)
  if are_same(x, y) then return 0 end
  if type(x) ~= "number" or type(y) ~= "number" then return 1 end
  return math.abs(x - y) / math.max(math.abs(x), math.abs(y))
end

local insignificant <const> = "not significant"

--- The cells of a quotient: B/A, half of its interval where it is estimated, whether it may be 1; and whether it is not.
local function quotient_cells_of(quotient)
  local is_significant = ratio.is_significant(quotient)
  return ("%.3fx"):format(quotient.value), quotient.half_width and ("+-%.3f"):format(quotient.half_width) or "",
    is_significant and "" or insignificant, is_significant
end

--- The same of two quantities, as ratio.lua has them, without a value where there is none.
local function quotient_cells(x, y)
  local a, b = x.value, y.value
  if not a or not b then return "", "", "", true end
  if a ~= 0 and b ~= 0 then return quotient_cells_of(ratio.of(y, x)) end
  local is_significant = math.abs(a - b) > math.sqrt((x.half_width or 0) ^ 2 + (y.half_width or 0) ^ 2)
  return a == 0 and "" or "0.000x", "", is_significant and "" or insignificant, is_significant
end

--- The columns of rows that end with quotient_cells(); the last two only where something is estimated.
local function quotient_columns(rows, first)
  for _, row in ipairs(rows) do
    if row[5] ~= "" or row[6] ~= "" then return { first, "A", "B", "B/A", "+-", "" } end
  end
  return { first, "A", "B", "B/A" }
end

--- By pattern, in order: { pattern, of_a, of_b = quantities }. Counters are sums over indices, whose errors may be all alike.
local function sums_over_indices(a, b)
  local sums, order = {}, {}
  for side, run in ipairs { a, b } do
    for _, name in ipairs(run.list) do
      local pattern, value, half_width = name:gsub("%[%d+%]", "[*]"), run.values[name], run.half_widths[name]
      if not sums[pattern] then
        sums[pattern] = { pattern, {}, {} }
        order[#order + 1] = sums[pattern]
      end
      local sum = sums[pattern][side + 1]
      if math.type(value) == "integer" or name == pattern then
        sum.value, sum.half_width = (sum.value or 0) + value, half_width and (sum.half_width or 0) + half_width or sum.half_width
      end
    end
  end
  return order
end

local of_run = { ["energy.total"] = true }
for _, product in ipairs(energy.products) do of_run["energy." .. product.name] = true end

--- Rows of statistics that differ, how many were compared, and how many may be the same. Those of the run are first, then the farthest
-- apart, then what may be the same.
local function different_stats(a, b)
  local rows, compared, may_be_same = {}, 0, 0
  for _, sums in ipairs(sums_over_indices(a, b)) do
    local pattern, x, y = table.unpack(sums)
    if x.value or y.value then compared = compared + 1 end
    local apart = (x.value or y.value) and distance(x.value, y.value) or 0
    if apart > 0 then
      local quotient, half_width, mark, is_significant = quotient_cells(x, y)
      local row = { pattern, x.value, y.value, quotient, half_width, mark, distance = apart }
      row.place = (of_run[pattern] or pattern:find "^run%.") and 0 or is_significant and 1 or 2
      may_be_same = may_be_same + (is_significant and 0 or 1)
      rows[#rows + 1] = row
    end
  end
  table.sort(rows, function(x, y)
    if x.place ~= y.place then return x.place < y.place end
    if x.place > 0 and x.distance ~= y.distance then return x.distance > y.distance end
    return x[1] < y[1]
  end)
  return rows, compared, may_be_same
end

local function print_some(rows, columns, most)
  local shown = table.move(rows, 1, math.min(#rows, most), 1, {})
  io.write(text_table.text(columns, shown))
  if #rows > most then print(("... %d more: --all shows them"):format(#rows - most)) end
end

local function read_run(path)
  local list, values, half_widths = stored_run.read_stats(path, "compare", "the folder of a run or of a sweep")
  return { path = path, list = list, values = values, half_widths = half_widths, inputs = stored_run.read_inputs(path),
    is_estimated = next(half_widths) ~= nil }
end

local function compare_runs(path_a, path_b, most)
  local a, b = read_run(path_a), read_run(path_b)
  local rows, compared, may_be_same = different_stats(a, b)
  print(("A  %s\nB  %s\n"):format(path_a, path_b))
  print_inputs(a, b)
  print(("\n%d of %d statistics differ%s (counters summed over indices)"):format(#rows, compared,
    may_be_same > 0 and (", %d of them not significantly"):format(may_be_same) or ""))
  if rows[1] then print_some(rows, quotient_columns(rows, ""), most) end
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

--- Pairs that differ in their seed alone, together where several of them ended, in order.
local function by_seed(both)
  local groups, of_name = {}, {}
  for _, pair in ipairs(both) do
    local name = (pair.a.cycles or 0) > 0 and (pair.b.cycles or 0) > 0 and pair.name_without_seed
    local group = name and of_name[name]
    if not group then
      group = {}
      groups[#groups + 1] = group
      if name then of_name[name] = group end
    end
    group[#group + 1] = pair
  end
  return groups
end

local function is_same(pair) return pair.a.cycles == pair.b.cycles and pair.a.status == pair.b.status end

local function cycles_of(run) return { value = run.cycles, half_width = run.half_width } end

local function row_of_pair(pair)
  local a, b = pair.a, pair.b
  return { pair.name, a.cycles or a.status, b.cycles or b.status, quotient_cells(cycles_of(a), cycles_of(b)) }
end

--- Its cycles are means; B/A is that of quotients of the same seed.
local function row_of_seeds(group)
  local quotients, sum_a, sum_b = {}, 0, 0
  for i, pair in ipairs(group) do
    quotients[i], sum_a, sum_b = ratio.of(cycles_of(pair.b), cycles_of(pair.a)), sum_a + pair.a.cycles, sum_b + pair.b.cycles
  end
  local name = group[1].name_without_seed
  local function mean(sum) return math.floor(sum / #group + 0.5) end
  return { (name ~= "" and name .. ", " or "") .. ratio.seeds_text(#group, ratio.are_alike(quotients)), mean(sum_a), mean(sum_b),
    quotient_cells_of(ratio.over_seeds(quotients)) }
end

--- Rows of what differs, and how many runs do.
local function different_cycles(both)
  local rows, count = {}, 0
  for _, group in ipairs(by_seed(both)) do
    local different = 0
    for _, pair in ipairs(group) do different = different + (is_same(pair) and 0 or 1) end
    if different > 0 then rows[#rows + 1] = group[2] and row_of_seeds(group) or row_of_pair(group[1]) end
    count = count + different
  end
  return rows, count
end

local function compare_sweeps(a, b, most)
  local found, single = pairing.of(a, b), {}
  local rows, different = different_cycles(found.both)
  for i, run in ipairs(found.single) do single[i] = { run.name, run.side } end
  print(("A  %s, %d runs\nB  %s, %d runs\n"):format(a, found.runs[1], b, found.runs[2]))
  if found.since then print(found.since) end
  print_axes(found.axes)
  print(("%d runs with the same cycles, %d with others, %d in one of them only"):format(#found.both - different, different, #single))
  if rows[1] then print_some(rows, quotient_columns(rows, "cycles"), most) end
  if single[1] then print_some(single, { "only in", "" }, most) end
  return (rows[1] or single[1]) and 1 or 0
end

-- The command -----------------------------------------------------------------------------------------------------------------------------

function compare.main(args, first)
  local options, paths = arguments.read("compare", args, first)
  local most = options.all and math.maxinteger or 40
  if #paths ~= 2 then arguments.error("compare", "expected two folders, got %d", #paths) end
  for i, path in ipairs(paths) do paths[i] = path:gsub("(.)/+$", "%1") end
  local sweeps = {}
  for _, path in ipairs(paths) do
    if not core.real_path(path .. "/.") then names.expected("compare", "the folder of a run or of a sweep", path) end
  end
  for i, path in ipairs(paths) do sweeps[i] = core.is_file(folder.database(path)) end
  if sweeps[1] ~= sweeps[2] then core.user_error "compare: expected two runs or two sweeps, got one of each" end
  return (sweeps[1] and compare_sweeps or compare_runs)(paths[1], paths[2], most)
end

return compare
