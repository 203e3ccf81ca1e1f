-- The report of a sweep, from its database: speed-ups, maps, scatters, and all runs.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local names = require "warpwright.names"
local page = require "warpwright.report.page"
local stored_run = require "warpwright.stored_run"

local sweep_report = {}

--- Statistics, by their last word, that stand beside cycles and IPC.
local of_interest <const> = { "miss_rate", "bandwidth_utilisation", "row_hit_rate", "average_load_latency" }

local run_axes <const> = { config = true, workload = true, size = true, policy = true }

-- Reading the database ------------------------------------------------------------------------------------------------------

--- What the database has of each run: { run =, status =, folder =, cycles =, half_width = of estimated cycles, ipc =, [axis] =,
-- [pattern] = }; the axes in order; figures: names of numbers; how many runs are estimated.
local function read(path)
  local file = core.open_database(folder.database(path), false)
  local axes, runs, by_number = {}, {}, {}
  for i, row in ipairs(file:prepare("SELECT axis FROM axes ORDER BY number"):rows()) do axes[i] = row[1] end
  for _, row in ipairs(file:prepare("SELECT run, status, error, folder, repetition, config, workload, size, policy, cycles, ipc, warp_ipc FROM runs ORDER BY run"):rows()) do
    local run = { run = row[1], status = row[2], error = row[3], folder = row[4], repetition = row[5], config = row[6], workload = row[7],
      size = row[8], policy = row[9], cycles = row[10], ipc = row[11], warp_ipc = row[12] }
    runs[#runs + 1], by_number[run.run] = run, run
  end
  for _, row in ipairs(file:prepare("SELECT run, axis, value FROM parameters"):rows()) do
    if not run_axes[row[2]] and by_number[row[1]] then by_number[row[1]][row[2]] = row[3] end
  end
  local estimated = 0
  for _, row in ipairs(file:prepare("SELECT run, half_width FROM counts JOIN names USING (name_id) "
    .. "WHERE name = 'run.cycles' AND half_width IS NOT NULL"):rows()) do
    by_number[row[1]].half_width, estimated = row[2], estimated + 1
  end
  local figures, seen, glob = { "cycles", "ipc", "warp_ipc" }, {}, {}
  for i, name in ipairs(of_interest) do glob[i] = ("pattern GLOB '*.%s'"):format(name) end
  local statement = file:prepare(("SELECT run, pattern, SUM(value * whole) / SUM(whole) FROM counts JOIN names USING (name_id) "
    .. "WHERE whole > 0 AND (%s) GROUP BY run, pattern ORDER BY MIN(name_id), run"):format(table.concat(glob, " OR ")))
  for _, row in ipairs(statement:rows()) do
    by_number[row[1]][row[2]] = row[3]
    if not seen[row[2]] then figures[#figures + 1] = row[2] end
    seen[row[2]] = true
  end
  return { axes = axes, runs = runs, figures = figures, estimated = estimated }
end

local function text_of(value) return value == nil and "" or page.plain(value) end

--- The values of an axis in the order of the runs.
local function values_of(found, axis)
  local values, seen = {}, {}
  for _, run in ipairs(found.runs) do
    local value = text_of(run[axis])
    if not seen[value] then values[#values + 1] = value end
    seen[value] = true
  end
  return values
end

-- Sections --------------------------------------------------------------------------------------------------------------------

local function summary(found)
  local counts, rows = { done = 0, failed = 0, missing = 0 }, {}
  for _, run in ipairs(found.runs) do counts[run.status] = (counts[run.status] or 0) + 1 end
  for _, axis in ipairs(found.axes) do rows[#rows + 1] = { axis, table.concat(values_of(found, axis), ", ") } end
  rows[#rows + 1] = { "runs", ("%d: %d done, %d failed, %d missing"):format(#found.runs, counts.done, counts.failed, counts.missing) }
  local text, failed = page.table({ "", "" }, rows), {}
  if found.estimated > 0 then
    text = page.paragraph("Estimated by sampling: the figures of %d of these runs, and what is computed of them; of their cycles, half of a 95%% "
      .. "interval stands among all runs, under +-.", found.estimated) .. text
  end
  for _, run in ipairs(found.runs) do
    if run.status == "failed" then failed[#failed + 1] = { run.run, run.error } end
  end
  return failed[1] and text .. page.table({ "run", "why it failed" }, failed) or text
end

--- What is compared: what was asked for; else the policies; where there is one, the last axis that has several values.
local function compared_axis(found, asked)
  local varied = {}
  for _, axis in ipairs(found.axes) do
    if #values_of(found, axis) > 1 then varied[#varied + 1] = axis end
    if axis == asked and varied[#varied] == axis then return axis end
  end
  if asked then core.user_error(("report: --compare: no axis with several values is '%s'%s"):format(asked, names.available(asked, varied))) end
  return #values_of(found, "policy") > 1 and "policy" or varied[#varied]
end

--- The values of an axis, that which the others are compared with first: the one asked for, else that of the first run.
local function from_base(values, asked)
  local list = { asked or values[1] }
  for _, value in ipairs(values) do
    if value ~= list[1] then list[#list + 1] = value end
  end
  if #list > #values then core.user_error(("report: --base: no value is '%s'%s"):format(asked, names.available(asked, values))) end
  return list
end

--- How many core cycles a second a run had, by the config that it left; nil: it has left none.
local function core_hertz(path, run)
  local number, unit = (stored_run.read_config(path .. "/" .. run.folder) or ""):match 'core = "([%d%.]+)([kMG]?)Hz"'
  return number and tonumber(number) * ({ [""] = 1, k = 1e3, M = 1e6, G = 1e9 })[unit]
end

--- By run, what it took, and what that is: cycles, or seconds where the core clocks of the runs differ and all are known.
local function durations(found, path)
  local cycles, seconds, clocks, unknown = {}, {}, {}, false
  for _, run in ipairs(found.runs) do
    if run.cycles then
      local hertz = core_hertz(path, run)
      cycles[run] = run.cycles
      if hertz then
        clocks[hertz], seconds[run] = true, run.cycles / hertz
      else
        unknown = true
      end
    end
  end
  if unknown or next(clocks, (next(clocks))) == nil then return cycles, "cycles" end
  return seconds, "simulated seconds"
end

--- Runs that differ in the compared axis alone, as rows { name =, [value of the axis] = of `took` }; of repetitions the first.
local function groups_of(found, compared, took)
  local groups, by_name = {}, {}
  for _, run in ipairs(found.runs) do
    local words = {}
    for _, axis in ipairs(found.axes) do
      if axis ~= compared and #values_of(found, axis) > 1 then words[#words + 1] = text_of(run[axis]) end
    end
    local name = #words > 0 and table.concat(words, ", ") or "all"
    if not by_name[name] then
      by_name[name] = { name = name }
      groups[#groups + 1] = by_name[name]
    end
    local value = text_of(run[compared])
    by_name[name][value] = by_name[name][value] or took[run]
  end
  return groups
end

local function speed_up_cell(value, most)
  if not value then return "-" end
  return { html = ('<span class=bar style="--share:%.2f%%">%.3f</span>'):format(100 * value / most, value) }
end

--- Over the rows that have a speed-up for each value, so that all means are of the same runs: { [value] = mean }, and how many rows.
local function means_of(groups, values)
  local sums, rows = {}, 0
  for _, group in ipairs(groups) do
    local is_whole = true
    for _, value in ipairs(values) do is_whole = is_whole and group.speed[value] ~= nil end
    if is_whole then
      rows = rows + 1
      for _, value in ipairs(values) do sums[value] = (sums[value] or 0.0) + math.log(group.speed[value]) end
    end
  end
  for value, sum in pairs(sums) do sums[value] = math.exp(sum / rows) end
  return sums, rows
end

local function speed_ups(found, path, options)
  local compared = compared_axis(found, options.compare)
  if not compared then return '<p class=missing>One point: nothing to compare.</p>\n' end
  local took, unit = durations(found, path)
  local values, groups, most = from_base(values_of(found, compared), options.base), groups_of(found, compared, took), 0
  local base = values[1]
  for _, group in ipairs(groups) do
    group.speed = {}
    for _, value in ipairs(values) do
      group.speed[value] = group[base] and group[value] and group[value] > 0 and group[base] / group[value] or nil
      most = math.max(most, group.speed[value] or 0)
    end
  end
  if most == 0 then return '<p class=missing>No two runs that ended can be compared.</p>\n' end
  local rows, columns = {}, { "" }
  for _, group in ipairs(groups) do
    local row = { group.name }
    for _, value in ipairs(values) do row[#row + 1] = speed_up_cell(group.speed[value], most) end
    rows[#rows + 1] = row
  end
  local means, count = means_of(groups, values)
  local mean = { count == #groups and "geometric mean" or ("geometric mean, %d of %d rows"):format(count, #groups) }
  for _, value in ipairs(values) do
    columns[#columns + 1] = value
    mean[#mean + 1] = speed_up_cell(means[value], most)
  end
  rows[#rows + 1] = mean
  return page.table(columns, rows, { id = "speed-ups", caption = ("%s of %s %s, over those of each other"):format(unit, compared, base) })
end

local function all_runs(found, path, out)
  local columns, rows = { "run" }, {}
  for _, axis in ipairs(found.axes) do columns[#columns + 1] = axis end
  for _, figure in ipairs(found.figures) do columns[#columns + 1] = figure end
  if found.estimated > 0 then columns[#columns + 1] = "cycles +-" end
  columns[#columns + 1] = "status"
  local base = (core.real_path(path) or path) .. "/"
  local beside = out:match "^(.*/)" or "./"
  for i, run in ipairs(found.runs) do
    local report = base .. run.folder .. "/report.html"
    local address = (core.real_path(beside) or "") .. "/" == base and run.folder .. "/report.html" or "file://" .. report
    local row = { core.is_file(report) and page.link(address, run.run) or run.run }
    for _, axis in ipairs(found.axes) do row[#row + 1] = run[axis] == nil and "" or run[axis] end
    for _, figure in ipairs(found.figures) do row[#row + 1] = run[figure] == nil and "" or run[figure] end
    if found.estimated > 0 then row[#row + 1] = run.half_width or "" end
    row[#row + 1] = run.status
    rows[i] = row
  end
  return page.table(columns, rows, { id = "runs", class = "sortable" })
end

--- What the script draws: runs that ended.
local function data_of(found)
  local varied, runs = {}, {}
  for _, axis in ipairs(found.axes) do
    if #values_of(found, axis) > 1 then varied[#varied + 1] = axis end
  end
  for _, run in ipairs(found.runs) do
    if run.status == "done" then
      local copy = { run = run.run }
      for _, axis in ipairs(found.axes) do copy[axis] = run[axis] end
      for _, figure in ipairs(found.figures) do copy[figure] = run[figure] end
      runs[#runs + 1] = copy
    end
  end
  return { axes = varied, figures = found.figures, runs = runs }
end

--- The report of the sweep in a folder, as a page; links lead from the file `out`. Options: compare, an axis, and base, a value of it.
function sweep_report.of(path, out, options)
  local found = read(path)
  local made = page.new("Sweep " .. path:match "[^/]*$")
  made.data.sweep = data_of(found)
  made:section("summary", "Summary", summary(found))
  made:section("speed-up", "Speed-up", speed_ups(found, path, options))
  made:section("map", "Map of two axes", "<div id=draw-heatmap></div>\n")
  made:section("figures", "Two figures", "<div id=draw-scatter></div>\n")
  made:section("all-runs", "All runs", all_runs(found, path, out))
  return made
end

return sweep_report
