-- A sweep at work: its runs side by side, what is there already, and what has become of each.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local database = require "warpwright.sweep.database"
local folder = require "warpwright.sweep.folder"
local inputs = require "warpwright.inputs"
local mistakes = require "warpwright.sweep.mistakes"
local names = require "warpwright.names"
local one_run = require "warpwright.sweep.one_run"
local output = require "warpwright.output"
local plan_of = require "warpwright.sweep.plan"
local processes = require "warpwright.processes"
local result = require "warpwright.result"
local results = require "warpwright.sweep.results"
local runner = require "warpwright.runner"

local sweeps = { EXIT_STOPPED = processes.EXIT_STOPPED }

local Sweep = {}
Sweep.__index = Sweep

--- sweeps.open(folder, plan, { jobs =, say =, stats =, checkpoint_every =, file = that lists the runs, here = folder
-- from which they name files }): { path =, plan =, runs = a
-- runner }.
function sweeps.open(path, plan, o)
  local sweep = setmetatable({ path = path, plan = plan, say = o.say or print, stats = o.stats }, Sweep)
  local options = { stats = o.stats, checkpoint_every = o.checkpoint_every, stem_of = function(run) return sweep:stem_of(run) end }
  sweep.runs = runner.new {
    folder = folder.runs(path), jobs = o.jobs or core.host().cores, say = sweep.say,
    simulate = function(run) return one_run.simulate(options, run, sweep:stem_of(run)) end,
    log_path = function(run) return sweep:stem_of(run) .. ".log" end,
    apart = o.file and core.real_path(o.file), prior = one_run.warm_up_of, here = o.here,
  }
  return sweep
end

--- The folder of a run.
function Sweep:stem_of(run) return (self.runs:path_of(run):gsub("%.lua$", "")) end

--- Those that missing runs need, each once, as runs of the runner.
function Sweep:warm_ups()
  local list, seen = {}, {}
  for _, entry in ipairs(self.plan.runs) do
    local warm = one_run.warm_up_of(entry.run)
    local path = warm and self.runs:path_of(warm)
    if warm and not seen[path] and not self.runs:stored(entry.run) then
      list[#list + 1], seen[path] = warm, true
    end
  end
  return list
end

--- Removes the folders that were made for it, unless something is in them.
function Sweep:remove_folders()
  for i = #self.runs.made, 1, -1 do os.remove(self.runs.made[i]) end
end

--- A mistake in the description is an error before anything runs.
function Sweep:check()
  local path, missing = self.path, setmetatable({ runs = {} }, { __index = self.plan })
  for _, entry in ipairs(self.plan.runs) do
    if not self.runs:stored(entry.run) then table.insert(missing.runs, entry) end
  end
  local problems = processes.run({ missing }, { jobs = 1, work = mistakes.check, name = function() return "check" end, say = function() end,
    problem_path = function() return path .. "/check.problem" end })
  os.remove(path .. "/check.problem")
  if problems[1] and not core.stop_asked() then
    self:remove_folders()
    error((problems[1].problem:gsub("^warpwright: error: ", "")), 0)
  end
end

--- What went wrong in the warm-ups, by path of the warm-up.
function Sweep:run_warm_ups()
  local problems = {}
  for _, problem in ipairs(self.runs:run(self:warm_ups())) do
    if problem.status ~= sweeps.EXIT_STOPPED then problems[self.runs:path_of(problem.run)] = problem.problem end
  end
  return problems
end

--- What of a run that is stored is damaged, or left out although it is asked for now; or nil.
function Sweep:defect_of(run)
  local stored = self.runs:stored(run)
  if not stored then return nil end
  if one_run.is_warm_up(run) then
    local good, problem = pcall(core.inspect_checkpoint, self:stem_of(run) .. ".ckpt")
    return not good and tostring(problem) or nil
  end
  if self.stats and not output.has_stats(stored.stats, self.stats) then return "its statistics are those of --stats " .. stored.stats end
  return select(2, results.read(self:stem_of(run), stored))
end

--- Runs and warm-ups with a defect are to be made again.
function Sweep:forget_defective()
  local function look_at(run)
    local defect = self:defect_of(run)
    if not defect then return end
    self.say(("%s: %s; it is made again"):format(runner.name(run), defect))
    os.remove(self.runs:path_of(run))
  end
  for _, entry in ipairs(self.plan.runs) do look_at(entry.run) end
  for _, warm in ipairs(self:warm_ups()) do look_at(warm) end
end

--- Makes these runs; returns how many failed, or cannot be made as things are.
function Sweep:make(list, ended)
  local failed, problems, obstacle = 0, self.runs:run(list, ended)
  for _, problem in ipairs(problems) do
    if problem.status ~= sweeps.EXIT_STOPPED then failed = failed + 1 end
  end
  if obstacle then self.say(("no more runs are started: %s; the same command goes on"):format(obstacle)) end
  return failed + (obstacle and 1 or 0)
end

--- Keeps it as the problem of a run, which cannot be made.
function Sweep:note_failed_warm_up(run, problem)
  local text = ("its warm-up failed: %s: %s"):format(runner.name(one_run.warm_up_of(run)), problem)
  inputs.write_file(self.runs:problem_path(run), text .. "\n")
  self.say(("%s: FAILED: %s"):format(runner.name(run), text))
end

--- Makes what is missing, once core.supervise() was called. `ended`, or nil, is called with each entry that is there, or that has failed or stopped, as it comes to
-- that. Returns how many failed, and the signal that stopped it, or nil.
function Sweep:run(ended)
  self:forget_defective()
  local warm_problems, list, entries, failed = self:run_warm_ups(), {}, {}, 0
  local function tell(run)
    for _, entry in ipairs(ended and entries[self.runs:path_of(run)] or {}) do ended(entry) end
  end
  for _, entry in ipairs(self.plan.runs) do
    local run, path = entry.run, self.runs:path_of(entry.run)
    local warm = one_run.warm_up_of(run)
    local problem = warm and warm_problems[self.runs:path_of(warm)]
    entries[path] = entries[path] or {}
    table.insert(entries[path], entry)
    if problem then
      self:note_failed_warm_up(run, problem)
      failed = failed + 1
    else
      list[#list + 1] = run
    end
    if problem or self.runs:stored(run) then tell(run) end
  end
  if not core.stop_asked() then failed = failed + self:make(list, tell) end
  return failed, core.stop_asked()
end

--- Makes the runs of these numbers, or their warm-ups: a task of many. Returns as run() does.
function Sweep:run_some(numbers, warm_ups)
  local list, failed = {}, 0
  for _, number in ipairs(numbers) do
    local run = self.plan.runs[number].run
    local warm = one_run.warm_up_of(run)
    if not warm_ups and warm and not self.runs:stored(run) and not self.runs:stored(warm) then
      local problem = inputs.read_file(self.runs:problem_path(warm)) or "it has no result"
      self:note_failed_warm_up(run, (problem:gsub("%s+$", "")))
      failed = failed + 1
    else
      list[#list + 1] = warm_ups and warm or run
    end
  end
  return failed + self:make(list), core.stop_asked()
end

--- results.sqlite, made anew. Returns its path, and a list of { entry =, problem = } of runs that were left out: of damaged files.
function Sweep:collect() return database.build(self.path, self.plan, self.runs) end

-- What has become of a run ------------------------------------------------------------------------------------------------------------

--- done, failed, stopped (it, or the warm-up that it waits for, left a checkpoint) or missing
function Sweep:state_of(entry)
  if self.runs:stored(entry.run) then return "done" end
  if core.is_file(self.runs:problem_path(entry.run)) then return "failed" end
  local warm = one_run.warm_up_of(entry.run)
  return (checkpoint.newest(self:stem_of(entry.run)) or warm and checkpoint.newest(self:stem_of(warm))) and "stopped" or "missing"
end

function Sweep:counts()
  local count = { done = 0, failed = 0, stopped = 0, missing = 0 }
  for _, entry in ipairs(self.plan.runs) do
    local state = self:state_of(entry)
    count[state] = count[state] + 1
  end
  return count
end

--- How many of the missing runs were made by another program, or of other inputs.
function Sweep:count_outdated()
  local count = 0
  for _, entry in ipairs(self.plan.runs) do count = count + (self.runs:is_outdated(entry.run) and 1 or 0) end
  return count
end

--- Mean seconds of runs that are there, by their host program.
function Sweep:seconds_known()
  local sums, counted = {}, {}
  for _, entry in ipairs(self.plan.runs) do
    local stored, key = self.runs:stored(entry.run), runner.host_program(entry.run)
    if stored then sums[key], counted[key] = (sums[key] or 0) + stored.host_seconds, (counted[key] or 0) + 1 end
  end
  for key, count in pairs(counted) do sums[key] = sums[key] / count end
  return sums
end

-- Results in scripts -----------------------------------------------------------------------------------------------------------------------

--- A core.stats() of these.
local function rows_of(visit)
  local rows = core.stats()
  visit(function(name, value, whole, unit, doc) rows:add(name, value, unit, doc, whole) end)
  return rows
end

--- What a run counted since its warm-up, as r:since() gives it, but for times of the host; `fields`: of the run's result.
local function result_since(rows, fields)
  local since, launches = { checks = fields.checks, machine = fields.machine, workload = fields.workload, size = fields.size,
    policy = fields.policy, out = fields.out }, fields.launches
  for _, key in ipairs { "cycles", "ipc", "warp_ipc", "warp_instructions", "thread_instructions", "memory_peak" } do
    since[key] = rows:value("run." .. key)
  end
  since.launches = table.move(launches, #launches - rows:value "run.launches" + 1, #launches, 1, {})
  return result.from_rows(since, rows)
end

--- All statistics of a run, as ww.run gives them, and those since its warm-up, if it has one; nil when there are none.
local function read_result(path, stored)
  local contents = stored and core.is_file(path .. "/stats.zst") and results.read(path, stored)
  if not contents then return nil end
  local fields = {}
  for _, key in ipairs { "cycles", "ipc", "warp_ipc", "warp_instructions", "thread_instructions", "memory_peak", "checks", "machine",
    "launches" } do
    fields[key] = stored[key]
  end
  fields.workload, fields.size, fields.policy, fields.out = stored.workload_name, stored.size_name, stored.policy_name, path
  local since = contents.visit_since and result_since(rows_of(contents.visit_since), fields)
  return result.from_rows(fields, rows_of(contents.visit_stats)), since or nil
end

--- A row: the point's axes with their labels, number, status, error or nil, folder, result or nil, and what of that is of the
-- warm-up, if there is one, and since = what was counted since then.
function Sweep:row(entry)
  local row, path = {}, self:stem_of(entry.run)
  for axis, value in pairs(entry.shown or entry.point) do row[axis] = value end
  row.number, row.repetition, row.status, row.folder = entry.number, entry.repetition, self:state_of(entry), path
  row.error = row.status == "failed" and inputs.read_file(self.runs:problem_path(entry.run)):gsub("%s+$", "") or nil
  local stored = self.runs:stored(entry.run)
  row.result, row.since = read_result(path, stored)
  if stored then row.warm_up_cycles, row.warm_up_seconds = stored.warm_up_cycles, stored.warm_up_seconds end
  return row
end

--- sweeps.each { axes =, runs =, keep =, repetitions =, warm_up =, out = folder, jobs =, stats =, say = } -> an iterator over the rows as they
-- finish; the database is there when it has ended. When the loop is left before, the runs at work stop, with checkpoints.
function sweeps.each(description)
  if type(description) ~= "table" then names.expected("ww.sweep", "{ axes =, out = ... }", description) end
  local path, say, jobs = description.out, description.say, description.jobs
  if type(path) ~= "string" or path == "" then names.expected("ww.sweep: out", "a folder", path) end
  if say and type(say) ~= "function" then names.expected("ww.sweep: say", "a function of a line", say) end
  if jobs ~= nil and (math.type(jobs) ~= "integer" or jobs < 1) then names.expected("ww.sweep: jobs", "a whole number from 1 on", jobs) end
  checkpoint.check { checkpoint_every = description.checkpoint_every }
  output.check_stats(description.stats)
  local options, given = { out = true, jobs = true, stats = true, say = true, checkpoint_every = true }, {}
  for key, value in pairs(description) do
    if not options[key] then given[key] = value end
  end
  local plan = plan_of.new("ww.sweep", given)
  local sweep = sweeps.open(path, plan, { jobs = jobs, say = say or function() end, stats = description.stats,
    checkpoint_every = description.checkpoint_every })
  local work, is_left, signal
  local advance = coroutine.wrap(function()
    work = coroutine.running()
    local _ <close> = core.lock_folder(path)
    core.supervise()
    sweep:check()
    folder.write_plan(path, plan, "")
    local _, stopped = sweep:run(function(entry)
      if not is_left then coroutine.yield(sweep:row(entry)) end
    end)
    sweep:collect()
    if not is_left then signal = stopped end
    if signal then core.user_error(("ww.sweep: stopped by %s; the same script goes on"):format(signal)) end
  end)
  local function leave()
    if not work or coroutine.status(work) ~= "suspended" then return end
    is_left, signal = true, core.stop_asked()
    core.ask_to_stop()
    advance()
  end
  return advance, nil, nil, setmetatable({}, { __close = leave })
end

return sweeps
