-- results.sqlite of a sweep: made anew from the folders of its runs, in the order of their numbers, so that the same results give the
-- same file. Nothing of the host's time stands in it.
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local inputs = require "warpwright.inputs"
local results = require "warpwright.sweep.results"
local sampled_result = require "warpwright.sampled_result"

local database = {}

local schema <const> = [[
CREATE TABLE runs (
  run INTEGER PRIMARY KEY,   -- its number in the sweep, from 1 on
  status TEXT NOT NULL,      -- done, failed, missing
  error TEXT,                -- why it failed, or which of its files is damaged
  folder TEXT NOT NULL,      -- below that of the sweep
  repetition INTEGER NOT NULL,
  config TEXT NOT NULL, workload TEXT NOT NULL, size TEXT NOT NULL, policy TEXT NOT NULL,
  cycles INTEGER, ipc REAL, warp_ipc REAL, warp_instructions INTEGER, thread_instructions INTEGER,
  launches INTEGER, memory_peak INTEGER, checks INTEGER,
  warm_up_cycles INTEGER, warm_up_seconds REAL -- the part of cycles and of run.seconds that is of the sweep's warm-up
);
CREATE TABLE axes (axis TEXT PRIMARY KEY, number INTEGER NOT NULL);
CREATE TABLE parameters (run INTEGER NOT NULL, axis TEXT NOT NULL, value, PRIMARY KEY (run, axis)) WITHOUT ROWID;
CREATE TABLE launches (
  run INTEGER NOT NULL, launch INTEGER NOT NULL, kernel TEXT NOT NULL, start_cycle INTEGER NOT NULL, cycles INTEGER NOT NULL,
  ctas INTEGER NOT NULL, warp_instructions INTEGER NOT NULL, thread_instructions INTEGER NOT NULL, PRIMARY KEY (run, launch)
) WITHOUT ROWID;
CREATE TABLE names (
  name_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
  pattern TEXT NOT NULL,     -- with [*] for every index
  unit TEXT NOT NULL, description TEXT NOT NULL
);
CREATE TABLE counts (
  run INTEGER NOT NULL, name_id INTEGER NOT NULL, value,
  whole REAL,                -- of a ratio: what the value is a part of
  half_width REAL,           -- of an estimate of a sampled run: of its 95% interval; NULL: exact
  PRIMARY KEY (run, name_id)
) WITHOUT ROWID;
CREATE TABLE counts_since (    -- the same of what was counted since the end of the sweep's warm-up, if it has one
  run INTEGER NOT NULL, name_id INTEGER NOT NULL, value, whole REAL, PRIMARY KEY (run, name_id)
) WITHOUT ROWID;
CREATE TABLE intervals (       -- of runs with stats_every
  run INTEGER NOT NULL, interval INTEGER NOT NULL,
  from_cycle INTEGER NOT NULL, to_cycle INTEGER NOT NULL,
  launch INTEGER,            -- that runs at its end, or has just ended
  PRIMARY KEY (run, interval)
) WITHOUT ROWID;
CREATE TABLE interval_columns (column_id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE interval_counts (
  run INTEGER NOT NULL, interval INTEGER NOT NULL, column_id INTEGER NOT NULL, value,
  PRIMARY KEY (run, interval, column_id)
) WITHOUT ROWID;
CREATE VIEW interval_stats AS SELECT run, interval, from_cycle, to_cycle, launch, name, value
  FROM interval_counts JOIN intervals USING (run, interval) JOIN interval_columns USING (column_id);
CREATE TABLE histograms (      -- of runs with histograms: a row for each bucket that has counted anything
  run INTEGER NOT NULL, name TEXT NOT NULL,
  from_value INTEGER NOT NULL, to_value INTEGER NOT NULL, -- the latter not included
  count INTEGER NOT NULL, unit TEXT NOT NULL,
  PRIMARY KEY (run, name, from_value)
) WITHOUT ROWID;
CREATE VIEW percentiles AS SELECT run, name, unit, max(total) AS count,
    min(CASE WHEN 100 * below >= 50 * total THEN to_value - 1 END) AS p50,
    min(CASE WHEN 100 * below >= 90 * total THEN to_value - 1 END) AS p90,
    min(CASE WHEN 100 * below >= 99 * total THEN to_value - 1 END) AS p99,
    max(to_value) - 1 AS max
  FROM (SELECT *, sum(count) OVER (PARTITION BY run, name ORDER BY from_value) AS below,
      sum(count) OVER (PARTITION BY run, name) AS total FROM histograms)
  GROUP BY run, name;
CREATE INDEX names_by_pattern ON names (pattern);
CREATE VIEW stats AS SELECT run, name, value, half_width, unit, description FROM counts JOIN names USING (name_id);
CREATE VIEW stats_since AS SELECT run, name, value, unit, description FROM counts_since JOIN names USING (name_id);
]]

-- Writing ------------------------------------------------------------------------------------------------------------------------------

local Writer = {}
Writer.__index = Writer

local function open(path)
  local file = core.open_database(path, true)
  file:execute "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA page_size = 4096"
  file:execute(schema)
  file:execute "BEGIN"
  return setmetatable({
    file = file, ids = {}, next_id = 1, column_ids = {}, next_column = 1,
    interval = file:prepare "INSERT INTO intervals VALUES (?,?,?,?,?)",
    interval_column = file:prepare "INSERT INTO interval_columns VALUES (?,?)",
    interval_count = file:prepare "INSERT INTO interval_counts VALUES (?,?,?,?)",
    bucket = file:prepare "INSERT INTO histograms VALUES (?,?,?,?,?,?)",
    run = file:prepare "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    axis = file:prepare "INSERT INTO axes VALUES (?,?)",
    parameter = file:prepare "INSERT INTO parameters VALUES (?,?,?)",
    launch = file:prepare "INSERT INTO launches VALUES (?,?,?,?,?,?,?,?)",
    name = file:prepare "INSERT INTO names VALUES (?,?,?,?,?)",
    count = file:prepare "INSERT INTO counts VALUES (?,?,?,?,?)",
    count_since = file:prepare "INSERT INTO counts_since VALUES (?,?,?,?)",
  }, Writer)
end

function Writer:id_of(name, unit, doc)
  local id = self.ids[name]
  if not id then
    id = self.next_id
    self.ids[name], self.next_id = id, id + 1
    self.name:run(id, name, (name:gsub("%[%d+%]", "[*]")), unit, doc)
  end
  return id
end

--- What launches cost stands in a table of its own, or follows from it; what they had, with count_by_kernel, does not.
local of_any_launch <const> = { start_cycle = true, cycles = true, warp_instructions = true, thread_instructions = true, ipc = true,
  ctas = true, ctas_per_sm = true, together = true }

function Writer:add_stats(number, visit)
  visit(function(name, value, whole, unit, doc)
    if of_any_launch[name:match "^launch%[%d+%]%.([%w_]+)$"] then return end
    local width, plain = sampled_result.width_in(doc)
    self.count:run(number, self:id_of(name, unit, plain), value == value and value or nil, whole, width)
  end)
end

--- Those of launches have no numbers of their own: `launches` and the statistics of the run have all.
function Writer:add_since(number, visit)
  visit(function(name, value, whole, unit, doc)
    if not name:find "^launch%[" then self.count_since:run(number, self:id_of(name, unit, doc), value == value and value or nil, whole) end
  end)
end

function Writer:id_of_column(name)
  local id = self.column_ids[name]
  if not id then
    id = self.next_column
    self.column_ids[name], self.next_column = id, id + 1
    self.interval_column:run(id, name)
  end
  return id
end

function Writer:add_intervals(number, intervals)
  local ids = {}
  for i, name in ipairs(intervals.columns) do ids[i] = self:id_of_column(name) end
  for interval, row in ipairs(intervals.rows) do
    self.interval:run(number, interval - 1, row.from, row.to, row.launch)
    for i, cell in ipairs(row.cells) do
      if cell ~= "" then self.interval_count:run(number, interval - 1, ids[i], tonumber(cell)) end
    end
  end
end

function Writer:add_histograms(number, list)
  for _, one in ipairs(list) do
    for _, bucket in ipairs(one.buckets) do
      self.bucket:run(number, one.name, bucket.from, bucket.last + 1, bucket.count, one.unit)
    end
  end
end

--- Without the hint how to go on, which has the path of the sweep: equal errors are to be equal texts.
local function error_of(failure) return (failure:gsub("%s+$", ""):gsub("; go on with: warpwright [^\n]*$", "")) end

--- Returns what of the run's files is damaged, or nil: such a run is missing.
function Writer:add_run(path, runs, entry, axes)
  local run, number, shown = entry.run, entry.number, entry.shown or entry.point
  local result = runs:stored(run)
  local failure = not result and inputs.read_file(runs:problem_path(run))
  local stem = runs:path_of(run):gsub("%.lua$", "")
  local contents, damage
  if result then contents, damage = results.read(stem, result) end
  local r = contents and result or {}
  local why = damage or failure and error_of(failure) or nil
  self.run:run(number, contents and "done" or failure and "failed" or "missing", why,
    (stem:gsub("^" .. path:gsub("%p", "%%%0") .. "/", "")), entry.repetition, shown.config, shown.workload or run.workload,
    shown.size or run.program and "cuda" or "medium", shown.policy or "default", r.cycles, r.ipc, r.warp_ipc, r.warp_instructions, r.thread_instructions,
    r.launches and #r.launches, r.memory_peak, r.checks, r.warm_up_cycles, r.warm_up_seconds)
  for _, axis in ipairs(axes) do
    if shown[axis] ~= nil then self.parameter:run(number, axis, shown[axis]) end
  end
  for i, launch in ipairs(r.launches or {}) do
    self.launch:run(number, i - 1, launch.kernel, launch.start_cycle, launch.cycles, launch.ctas, launch.warp_instructions,
      launch.thread_instructions)
  end
  if contents then
    self:add_stats(number, contents.visit_stats)
    if contents.visit_since then self:add_since(number, contents.visit_since) end
    self:add_intervals(number, contents.intervals)
    self:add_histograms(number, contents.histograms)
  end
  return damage
end

local run_columns <const> = { config = true, workload = true, size = true, policy = true }

local function quoted(name) return '"' .. name:gsub('"', '""') .. '"' end

--- `results`: a row for each run, its axes as columns.
function Writer:add_results_view(axes)
  local columns = {}
  for _, axis in ipairs(axes) do
    if not run_columns[axis] then
      columns[#columns + 1] = (", (SELECT value FROM parameters p WHERE p.run = runs.run AND axis = '%s') AS %s"):format(
        axis:gsub("'", "''"), quoted(axis))
    end
  end
  self.file:execute(("CREATE VIEW results AS SELECT runs.*%s FROM runs"):format(table.concat(columns)))
end

--- Writes the file; returns the runs that are left out.
local function write(file, path, plan, runs)
  local damaged = {}
  local writer = open(file)
  for i, axis in ipairs(plan.axes) do writer.axis:run(axis, i) end
  for _, entry in ipairs(plan.runs) do
    local problem = writer:add_run(path, runs, entry, plan.axes)
    if problem then damaged[#damaged + 1] = { entry = entry, problem = problem } end
  end
  writer:add_results_view(plan.axes)
  writer.file:execute "COMMIT"
  for _, statement in ipairs { "run", "axis", "parameter", "launch", "name", "count", "count_since", "interval", "interval_column",
    "interval_count", "bucket" } do writer[statement]:finish() end
  writer.file:close()
  return damaged
end

--- What the system says, without the name of the file.
local function unnamed(problem, path) return problem:sub(1, #path + 2) == path .. ": " and problem:sub(#path + 3) or problem end

--- database.build(path of the sweep, plan, runs = a runner): makes the file anew, whole or not at all. Returns its path, and a list of
-- { entry =, problem = } of runs that were left out, since a file of theirs is damaged.
function database.build(path, plan, runs)
  local target, damaged = folder.database(path), nil
  local temporary = inputs.temporary_of(target) -- another may collect at the same time
  inputs.remove_left_behind(target)
  local file, open_problem = io.open(temporary, "wb") -- SQLite would only say that it is no database
  if not file then core.user_error(("%s: expected a file that can be written, got: %s"):format(target, unnamed(open_problem, temporary))) end
  file:close()
  local ok, problem = pcall(function() damaged = write(temporary, path, plan, runs) end)
  if not ok then
    os.remove(temporary)
    error((core.thrown_text(problem):gsub(temporary:gsub("%W", "%%%0"), target)), 0)
  end
  local renamed, rename_problem = os.rename(temporary, target)
  if not renamed then
    os.remove(temporary)
    core.user_error(("%s: expected a file that can be written, got: %s"):format(target, rename_problem))
  end
  return target, damaged
end

-- Reading ------------------------------------------------------------------------------------------------------------------------------

--- Has it the columns of warm-ups? Those of older programs have not.
function database.knows_warm_ups(file)
  return file:prepare("SELECT 1 FROM pragma_table_info('runs') WHERE name = 'warm_up_cycles'"):rows()[1] ~= nil
end

--- The half-widths of estimated cycles, by the number of the run, and how many there are.
function database.half_widths_of_cycles(file)
  local widths, count = {}, 0
  for _, row in ipairs(file:prepare("SELECT run, half_width FROM counts JOIN names USING (name_id) "
    .. "WHERE name = 'run.cycles' AND half_width IS NOT NULL"):rows()) do
    widths[row[1]], count = row[2], count + 1
  end
  return widths, count
end

return database
