-- Sweeps on a cluster with Slurm: job arrays, a task for a few runs each. The sweep's folder is all that the tasks share. A task that
-- is told to stop makes checkpoints, ends with 75 and is put back into the queue.
local core = require "warpwright.core"
local inputs = require "warpwright.inputs"
local literal = require "warpwright.literal"
local one_run = require "warpwright.sweep.one_run"

local slurm = {}

--- Seconds before the end of a task's time in which it makes its checkpoints.
local NOTICE <const> = 60
--- Where Slurm does not say what it is.
local MAX_ARRAY_SIZE <const> = 1001

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

--- The output of a command; an error when it fails.
local function output_of(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local text = pipe:read "a"
  local ok = pipe:close()
  if not ok then core.user_error(("sweep --slurm: %s: %s"):format(command:match "^%S+", (text:gsub("%s+$", "")))) end
  return text
end

-- Scripts of the jobs -----------------------------------------------------------------------------------------------------------------------

--- Signals reach the shell, which passes them on, as sbatch's --signal=B: says. `arguments`: behind "sweep".
local function job_script(arguments)
  return table.concat({
    "#!/bin/sh",
    "#SBATCH --requeue --open-mode=append",
    ("#SBATCH --signal=B:TERM@%d"):format(NOTICE),
    ("%s sweep %s &"):format(quoted(core.real_path "/proc/self/exe"), arguments),
    "run=$!",
    "trap 'kill -TERM $run 2>/dev/null' TERM",
    "status=0",
    "wait $run || status=$?",
    "while kill -0 $run 2>/dev/null; do",
    "    status=0",
    "    wait $run || status=$?",
    "done",
    'if [ "$status" -eq 75 ]; then',
    '    id=$SLURM_JOB_ID',
    '    if [ -n "${SLURM_ARRAY_JOB_ID-}" ]; then id=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID; fi',
    '    scontrol requeue "$id"',
    "fi",
    "exit $status",
  }, "\n") .. "\n"
end

-- Tasks -----------------------------------------------------------------------------------------------------------------------------------

--- Lists of run numbers, `size` in each; those of one warm-up stand for it.
local function chunks(numbers, size)
  local list = {}
  for i = 1, #numbers, size do list[#list + 1] = table.move(numbers, i, math.min(i + size - 1, #numbers), 1, {}) end
  return list
end

--- One run for each warm-up that is missing.
local function warm_up_numbers(sweep)
  local numbers, seen = {}, {}
  for _, entry in ipairs(sweep.plan.runs) do
    local warm = one_run.warm_up_of(entry.run)
    local path = warm and sweep.runs:path_of(warm)
    if warm and not seen[path] and not sweep.runs:stored(entry.run) and not sweep.runs:stored(warm) then
      numbers[#numbers + 1], seen[path] = entry.number, true
    end
  end
  return numbers
end

local function missing_numbers(sweep)
  local numbers, seen = {}, {}
  for _, entry in ipairs(sweep.plan.runs) do
    local path = sweep.runs:path_of(entry.run)
    if not seen[path] and not sweep.runs:stored(entry.run) then numbers[#numbers + 1] = entry.number end
    seen[path] = true
  end
  return numbers
end

local function max_array_size()
  local pipe = io.popen "scontrol show config 2>/dev/null"
  local text = pipe and pipe:read "a" or ""
  if pipe then pipe:close() end
  return tonumber(text:match "MaxArraySize%s*=%s*(%d+)") or MAX_ARRAY_SIZE
end

--- What the tasks are told of the options of the sweep.
local function options_of_task(o)
  local words = ""
  for _, name in ipairs { "stats", "checkpoint_every", "jobs" } do
    if o[name] then words = ("%s --%s %s"):format(words, (name:gsub("_", "-")), quoted(tostring(o[name]))) end
  end
  return words
end

-- Submitting --------------------------------------------------------------------------------------------------------------------------------

--- Submits a script; returns the number of the job. `show`, if there is one, gets the command and the script, and nothing is submitted:
-- the job's name stands for its number.
local function submit(path, name, script, options, show)
  local file = ("%s/slurm/%s.sh"):format(path, name)
  local words = { "sbatch --parsable", "--job-name=" .. quoted("sweep-" .. name),
    "--output=" .. quoted(("%s/slurm/%s-%%A_%%a.log"):format(path, name)), options, quoted(file) }
  local command = table.concat(words, " "):gsub(" +", " ")
  if show then
    show(command, script)
    return name
  end
  inputs.write_file(file, script)
  local job = output_of(command):match "^(%d+)"
  return job or core.user_error "sweep --slurm: sbatch: expected the number of a job, got none"
end

--- Arrays for lists of runs, as many as MaxArraySize asks for. Returns the numbers of the jobs.
local function submit_arrays(sweep, name, tasks, options, o)
  local jobs, most = {}, max_array_size() - 1
  for first = 1, #tasks, most do
    local some, array = table.move(tasks, first, math.min(first + most - 1, #tasks), 1, {}), ("%s-%d"):format(name, first)
    if not o.show then inputs.write_file(("%s/slurm/%s.lua"):format(sweep.path, array), "return " .. literal(some) .. "\n") end
    local script = job_script(("--task %s --out %s%s"):format(quoted(array), quoted(sweep.path), options_of_task(o)))
    jobs[#jobs + 1] = submit(sweep.path, array, script, ("--array=1-%d %s %s"):format(#some, options, o.given), o.show)
  end
  return jobs
end

--- slurm.submit(sweep, { sbatch = words for it, runs_per_task =, stats =, checkpoint_every =, jobs =, show = function(command, script)
-- or nil }): warm-ups, then runs, then the collector. Returns how many runs, and the numbers of the jobs. With `show` it is told each
-- command and script in place of their being written and run.
function slurm.submit(sweep, o)
  local words, numbers, after = {}, missing_numbers(sweep), ""
  for i, word in ipairs(o.sbatch or {}) do words[i] = quoted(word) end
  o.given = table.concat(words, " ")
  if not o.show then inputs.make_folders(sweep.path .. "/slurm") end
  local jobs = submit_arrays(sweep, "warm-up", chunks(warm_up_numbers(sweep), 1), "", o)
  if jobs[1] then after = "--dependency=afterany:" .. table.concat(jobs, ":") end
  local of_runs = submit_arrays(sweep, "run", chunks(numbers, o.runs_per_task or 1), after, o)
  table.move(of_runs, 1, #of_runs, #jobs + 1, jobs)
  if of_runs[1] then
    local script = ("#!/bin/sh\nexec %s sweep --collect %s\n"):format(quoted(core.real_path "/proc/self/exe"), quoted(sweep.path))
    jobs[#jobs + 1] = submit(sweep.path, "collect", script, ("--dependency=afterany:%s %s"):format(table.concat(of_runs, ":"), o.given), o.show)
  end
  return #numbers, jobs
end

--- In a task: the numbers of its runs, and whether their warm-ups are meant.
function slurm.task(path, array)
  local text = inputs.read_file(("%s/slurm/%s.lua"):format(path, array))
  local index = math.tointeger(tonumber(os.getenv "SLURM_ARRAY_TASK_ID"))
  local tasks = text and load(text, "=tasks", "t", {})()
  if not tasks or not tasks[index] then
    core.user_error(("sweep --task: expected a task of %s/slurm/%s.lua in SLURM_ARRAY_TASK_ID, got %s"):format(path, array,
      os.getenv "SLURM_ARRAY_TASK_ID" or "nothing"))
  end
  return tasks[index], array:find "^warm%-up" ~= nil
end

return slurm
