-- warpwright sweep: the runs of a file side by side; what is there is not run again.
local arguments = require "warpwright.arguments"
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local folder = require "warpwright.sweep.folder"
local inputs = require "warpwright.inputs"
local names = require "warpwright.names"
local output = require "warpwright.output"
local own_state = require "warpwright.own_state"
local plan_of = require "warpwright.sweep.plan"
local processes = require "warpwright.processes"
local runner = require "warpwright.runner"
local slurm = require "warpwright.sweep.slurm"
local sweeps = require "warpwright.sweep.sweep"
local text_table = require "warpwright.sweep.table"

local command = {}

local function usage_error(...) arguments.error("sweep", ...) end

-- The command line ----------------------------------------------------------------------------------------------------------------------

local function read_whole(option, text)
  local value = text and math.tointeger(tonumber(text))
  if text and (not value or value < 1) then usage_error("%s: expected a whole number from 1 on, got '%s'", option, text) end
  return value
end

local function read_arguments(args, first)
  local last, sbatch = arguments.before_dashes(args, first)
  local o, words = arguments.read("sweep", args, first, last, { "--task" })
  if words[2] then usage_error("expected one FILE.lua, got a second: '%s'", words[2]) end
  o.file, o.sbatch = words[1], sbatch
  output.check_stats(o.stats)
  checkpoint.check { checkpoint_every = o.checkpoint_every }
  if o.out == "" then usage_error "--out: expected a folder, got nothing" end
  o.jobs = read_whole("--jobs", o.jobs)
  o.runs_per_task = read_whole("--runs-per-task", o.runs_per_task)
  if o.sbatch and not o.slurm then usage_error "--: expected --slurm in front of options of sbatch" end
  return o
end

local function read_file(path)
  if not core.is_file(path) then usage_error("expected a file that returns a sweep, got no file '%s'", path) end
  local chunk, problem = loadfile(path)
  if not chunk then error(problem, 0) end
  return plan_of.new(path, own_state.call_without_exit(chunk, "a sweep"))
end

-- What is printed ---------------------------------------------------------------------------------------------------------------------------

--- Axes that have more than one value.
local function varied(plan)
  local axes = {}
  for _, axis in ipairs(plan.axes) do
    local first = plan.runs[1].point[axis]
    for _, entry in ipairs(plan.runs) do
      if entry.point[axis] ~= first then
        axes[#axes + 1] = axis
        break
      end
    end
  end
  return axes
end

local rows_shown <const> = 60

local function print_table(sweep)
  local axes, rows = varied(sweep.plan), {}
  local columns = { "run", table.unpack(axes) }
  for _, name in ipairs { "cycles", "IPC", "state" } do columns[#columns + 1] = name end
  for i, entry in ipairs(sweep.plan.runs) do
    if i <= rows_shown then
      local row, result = { i }, sweep.runs:stored(entry.run)
      for c, axis in ipairs(axes) do row[c + 1] = (entry.shown or entry.point)[axis] end
      row[#axes + 2], row[#axes + 3] = result and result.cycles, result and result.ipc
      row[#axes + 4] = sweep:state_of(entry)
      rows[i] = row
    end
  end
  io.write(text_table.text(columns, rows))
  if #sweep.plan.runs > rows_shown then print(("... %d more: warpwright query %s"):format(#sweep.plan.runs - rows_shown, names.shell_word(sweep.path))) end
end

local function print_outdated(sweep)
  local count = sweep:count_outdated()
  if count > 0 then
    print(("%d of the missing runs have results of another program or of other inputs; the sweep makes them again"):format(count))
  end
end

local function print_status(sweep)
  local count = sweep:counts()
  print(("%s: %d runs: %d done, %d failed, %d stopped, %d missing"):format(sweep.path, #sweep.plan.runs, count.done, count.failed, count.stopped,
    count.missing))
  print_outdated(sweep)
  for _, entry in ipairs(sweep.plan.runs) do
    local problem = sweep:state_of(entry) == "failed" and inputs.read_file(sweep.runs:problem_path(entry.run))
    if problem then print(("run %d, %s: %s"):format(entry.number, runner.name(entry.run), problem:gsub("%s+$", ""))) end
  end
end

--- The first of these names, and how many there are beside them.
local function few_of(list)
  local most <const> = 4
  if #list <= most then return table.concat(list, ", ") end
  return ("%s and %d others"):format(table.concat(list, ", ", 1, most - 1), #list - most + 1)
end

local function print_plan(sweep)
  local known, left, unknown, seconds = sweep:seconds_known(), 0, {}, 0
  for _, entry in ipairs(sweep.plan.runs) do
    local there = sweep.runs:stored(entry.run) and not sweep:defect_of(entry.run)
    local key = runner.host_program(entry.run)
    print(("%4d  %-8s %s"):format(entry.number, there and "done" or "to run", runner.name(entry.run)))
    if not there then
      left = left + 1
      if known[key] then seconds = seconds + known[key] else unknown[key] = true end
    end
  end
  local strangers = names.sorted_keys(unknown)
  print(("%d runs, %d to be made, %d at a time: about %s%s"):format(#sweep.plan.runs, left, sweep.runs.jobs,
    processes.clock(math.ceil(seconds / sweep.runs.jobs)),
    strangers[1] and " and the time of " .. few_of(strangers) .. ", of which none has run yet" or ""))
end

-- The command -------------------------------------------------------------------------------------------------------------------------------

local function present(o)
  local plan = folder.require_plan(o.file or usage_error "expected the FOLDER of a sweep, got nothing")
  return sweeps.open(o.file, plan, { jobs = o.jobs, here = plan.here })
end

local function collect(sweep)
  local path, damaged = sweep:collect()
  for _, of in ipairs(damaged) do print(("run %d, %s: %s; it is left out"):format(of.entry.number, runner.name(of.entry.run), of.problem)) end
  print_outdated(sweep)
  print(path)
  return damaged[1] and 1 or 0
end

local function submit(sweep, o)
  sweep:forget_defective()
  local count, jobs = slurm.submit(sweep, o)
  print(("%d of %d runs submitted%s"):format(count, #sweep.plan.runs, jobs[1] and " as job" .. (jobs[2] and "s " or " ")
    .. table.concat(jobs, ", ") or ""))
  print(("state     warpwright sweep --status %s"):format(names.shell_word(sweep.path)))
  return 0
end

--- The commands that would submit it, and the scripts of the jobs.
local function print_submission(sweep, o)
  function o.show(line, script) io.write("\n", line, "\n", (script:gsub("[^\n]+", "    %0"))) end
  slurm.submit(sweep, o)
end

--- What a task of a job array does.
local function run_task(o)
  local path = o.out or usage_error "--task: expected --out"
  core.supervise()
  local sweep = sweeps.open(path, folder.require_plan(path), { jobs = o.jobs or tonumber(os.getenv "SLURM_CPUS_PER_TASK" or 1),
    checkpoint_every = o.checkpoint_every, stats = o.stats })
  local failed, stopped = sweep:run_some(slurm.task(path, o.task))
  return stopped and sweeps.EXIT_STOPPED or failed > 0 and 1 or 0
end

--- out/sweep-NAME, by the file's name; an error where another file has that folder.
local function own_folder(file)
  local path = "out/sweep-" .. file:match("([^/]*)$"):gsub("%.lua$", ""):gsub("[^%w%-_.\x80-\xff]", "_")
  local before = folder.read_plan(path)
  local other = before and type(before.file) == "string" and core.real_path(before.file)
  if other and other ~= core.real_path(file) then
    usage_error("expected a folder of its own for %s, got %s, which is that of %s; --out names another", file, path, before.file)
  end
  return path
end

local function run_file(o)
  local plan = read_file(o.file)
  local path = o.out or own_folder(o.file)
  local sweep = sweeps.open(path, plan, o)
  if o.dry_run then
    sweep:check()
    print_plan(sweep)
    if o.slurm then print_submission(sweep, o) end
    sweep:remove_folders()
    return 0
  end
  local _ <close> = core.lock_folder(path)
  if not o.slurm then core.supervise() end
  sweep:check()
  folder.write_plan(path, plan, o.file)
  if o.slurm then return submit(sweep, o) end
  local failed, stopped = sweep:run()
  print_table(sweep)
  if failed > 0 then print_status(sweep) end
  print(("results   %s"):format((sweep:collect())))
  if stopped then
    print(("%s: stopped; the same command goes on"):format(stopped))
    return sweeps.EXIT_STOPPED
  end
  return failed > 0 and 1 or 0
end

function command.main(args, first)
  local o = read_arguments(args, first)
  if o.task then
    return run_task(o)
  elseif o.status then
    print_status(present(o))
  elseif o.collect then
    return collect(present(o))
  elseif not o.file then
    usage_error "expected FILE.lua, got nothing"
  else
    return run_file(o)
  end
  return 0
end

return command
