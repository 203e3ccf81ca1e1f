-- The report of a sweep, from its database: speed-ups, maps, scatters, and all runs.
local core = require "warpwright.core"
local database = require "warpwright.sweep.database"
local folder = require "warpwright.sweep.folder"
local page = require "warpwright.report.page"
local speed_ups = require "warpwright.report.speed_ups"

local sweep_report = {}

--- Statistics of runs that stand beside cycles and IPC, where runs have them.
local of_runs <const> = { "run.seconds", "energy.total", "energy.edp", "energy.ed2p" }

--- And such as are ratios, by their last word.
local of_interest <const> = { "miss_rate", "bandwidth_utilisation", "row_hit_rate", "average_load_latency" }

local run_axes <const> = { config = true, workload = true, size = true, policy = true }

-- Reading the database ------------------------------------------------------------------------------------------------------

--- Its path, and what the database has of each run: { run =, status =, folder =, cycles =, half_width = of estimated cycles, ipc =, [axis] =,
-- [pattern] = }; the axes in order; figures: names of numbers; how many runs are estimated.
local function read(path)
  local file = core.open_database(folder.database(path), false)
  local axes, runs, by_number = {}, {}, {}
  for i, row in ipairs(file:prepare("SELECT axis FROM axes ORDER BY number"):rows()) do axes[i] = row[1] end
  for _, row in ipairs(file:prepare(("SELECT run, status, error, folder, repetition, config, workload, size, policy, cycles, ipc, warp_ipc, "
    .. "%s FROM runs ORDER BY run"):format(database.knows_warm_ups(file) and "warm_up_cycles, warm_up_seconds" or "NULL, NULL")):rows()) do
    local run = { run = row[1], status = row[2], error = row[3], folder = row[4], repetition = row[5], config = row[6], workload = row[7],
      size = row[8], policy = row[9], cycles = row[10], ipc = row[11], warp_ipc = row[12], warm_up_cycles = row[13], warm_up_seconds = row[14] }
    runs[#runs + 1], by_number[run.run] = run, run
  end
  for _, row in ipairs(file:prepare("SELECT run, axis, value FROM parameters"):rows()) do
    if not run_axes[row[2]] and by_number[row[1]] then by_number[row[1]][row[2]] = row[3] end
  end
  local widths, estimated = database.half_widths_of_cycles(file)
  for number, half_width in pairs(widths) do by_number[number].half_width = half_width end
  local figures, seen, glob = { "cycles", "ipc", "warp_ipc" }, {}, {}
  local function add(rows)
    for _, row in ipairs(rows) do
      by_number[row[1]][row[2]] = row[3]
      if not seen[row[2]] then figures[#figures + 1] = row[2] end
      seen[row[2]] = true
    end
  end
  add(file:prepare(("SELECT run, name, value FROM counts JOIN names USING (name_id) WHERE name IN ('%s') ORDER BY name_id, run"):format(
    table.concat(of_runs, "', '"))):rows())
  for i, name in ipairs(of_interest) do glob[i] = ("pattern GLOB '*.%s'"):format(name) end
  add(file:prepare(("SELECT run, pattern, SUM(value * whole) / SUM(whole) FROM counts JOIN names USING (name_id) "
    .. "WHERE whole > 0 AND (%s) GROUP BY run, pattern ORDER BY MIN(name_id), run"):format(table.concat(glob, " OR "))):rows())
  return { path = path, axes = axes, runs = runs, figures = figures, estimated = estimated }
end

-- Sections --------------------------------------------------------------------------------------------------------------------

local function summary(found)
  local counts, rows = { done = 0, failed = 0, missing = 0 }, {}
  for _, run in ipairs(found.runs) do counts[run.status] = (counts[run.status] or 0) + 1 end
  for _, axis in ipairs(found.axes) do rows[#rows + 1] = { axis, table.concat(speed_ups.values_of(found, axis), ", ") } end
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

--- A quotient with half of its interval and, where it may be 1, the mark of that.
local function speed_up_cell(quotient, most)
  if not quotient then return "-" end
  return { html = ('<span class=bar style="--share:%.2f%%">%s</span>'):format(100 * quotient.value / most, speed_ups.text(quotient)) }
end

local function speed_up_table(found, options)
  local ups = speed_ups.of(found, options.compare, options.base)
  if not ups.rows then return ('<p class=missing>%s</p>\n'):format(page.escape(ups.missing)) end
  local rows, columns, most = {}, { ups.of_rows, table.unpack(ups.values) }, 0
  for _, row in ipairs(ups.rows) do
    for _, quotient in pairs(row.speed) do most = math.max(most, quotient.value) end
  end
  for i, row in ipairs(ups.rows) do
    rows[i] = { row.label }
    for _, value in ipairs(ups.values) do table.insert(rows[i], speed_up_cell(row.speed[value], most)) end
  end
  return page.table(columns, rows, { id = "speed-ups", caption = ups.caption })
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
    if #speed_ups.values_of(found, axis) > 1 then varied[#varied + 1] = axis end
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
  made:section("speed-up", "Speed-up", speed_up_table(found, options))
  made:section("map", "Map of two axes", "<div id=draw-heatmap></div>\n")
  made:section("figures", "Two figures", "<div id=draw-scatter></div>\n")
  made:section("all-runs", "All runs", all_runs(found, path, out))
  return made
end

--- The speed-ups alone, as speed_ups.of() has them.
function sweep_report.speed_ups(path, options)
  local ups = speed_ups.of(read(path), options.compare, options.base)
  if not ups.rows then core.user_error(("report: %s: expected runs that can be compared, got none"):format(path)) end
  return ups
end

return sweep_report
