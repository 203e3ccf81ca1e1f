-- One run of a sweep, in a process and a folder of its own. It goes on from the newest checkpoint that it left there, and begins
-- after the sweep's warm-up where there is one.
local ww = require "warpwright"
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local cuda = require "warpwright.cuda"
local folder = require "warpwright.sweep.folder"
local inputs = require "warpwright.inputs"
local note = require "warpwright.note"
local output = require "warpwright.output"
local processes = require "warpwright.processes"
local runner = require "warpwright.runner"
local warm_result = require "warpwright.sweep.warm_result"

local one_run = {}

local options_of_run <const> = { "config", "size", "policy", "set", "max_cycles", "memory", "bounds", "energy", "stats_every",
  "stats_of", "histograms", "fast_forward", "sample" }

-- Where a run had come to --------------------------------------------------------------------------------------------------------------

local function is_stopped(problem) return type(problem) == "table" and problem.exit_status == processes.EXIT_STOPPED end

local function is_of_this_program(path)
  return checkpoint.read_run(path).warpwright == ("%s, revision %s"):format(core.version, core.revision)
end

--- What `simulate` returns of a checkpoint that was left; nil when there is none, or something has changed since.
local function go_on(path, simulate)
  if not path or not is_of_this_program(path) then return nil end
  local answers = table.pack(pcall(simulate, path))
  if answers[1] then return table.unpack(answers, 2, answers.n) end
  local problem = answers[2]
  if is_stopped(problem) or not tostring(problem):find "checkpoint " then error(problem, 0) end
  note("%s: %s; it begins again", path, tostring(problem))
end

-- Warm-ups --------------------------------------------------------------------------------------------------------------------------

--- The warm-up of a run, itself a run of the runner's: those that differ in their policy alone share it. Nil for none.
function one_run.warm_up_of(run)
  local warm_up = run.warm_up
  return warm_up and { config = run.config, workload = run.workload, size = run.size, program = run.program,
    capability = run.capability, timed = run.timed, set = run.set, memory = run.memory, bounds = run.bounds,
    policy = warm_up.policy, warm_cycles = warm_up.cycles, warm_launches = warm_up.launches }
end

--- What ww.run takes as its workload.
local function workload_of(run)
  if not run.program then return run.workload end
  cuda.note_files(run.program)
  return cuda.workload(run)
end

--- A program that ends with another status has found something wrong.
local function require_success(run, program)
  if not run.program or program.ended == 0 then return end
  core.user_error(("%s: expected the program to end with 0, got %d"):format(runner.host_program(run), program.ended))
end

function one_run.is_warm_up(run) return run.warm_cycles ~= nil or run.warm_launches ~= nil end

--- The run ended within its warm-up.
local function refuse_long(sim, run)
  if run.warm_cycles then
    core.user_error(("warm_up.cycles: expected fewer than the %d cycles of %s, got %d"):format(sim:result().cycles, run.workload,
      run.warm_cycles))
  end
  core.user_error(("warm_up.launches: expected fewer than the %d launches of %s, got %d"):format(#sim:result().launches, run.workload,
    run.warm_launches))
end

local function warm_up(sweep, run, stem)
  local function simulate(resumed)
    local sim = ww.build(run.config, { set = run.set, policy = run.policy, memory = run.memory, bounds = run.bounds })
    local ok, ended = xpcall(function()
      checkpoint.watch(sim:gpu(), stem, sim.choices, { checkpoint_every = sweep.checkpoint_every, resume = resumed }, function() end)
      if resumed then sim:resume(resumed) end
      sim:start(workload_of(run), run.size)
      return sim:run { until_cycle = run.warm_cycles, until_launch = run.warm_launches }
    end, core.message_handler)
    if not ok then
      local is_asked = tostring(sim:gpu():totals().stopped):find "^SIG"
      sim:close()
      error(is_asked and { exit_status = processes.EXIT_STOPPED } or ended, 0)
    end
    return sim, ended
  end
  inputs.make_folders(stem)
  local sim, ended = go_on(checkpoint.newest(stem), simulate)
  if not sim then sim, ended = simulate() end
  if ended then refuse_long(sim, run) end
  local path = stem .. ".ckpt"
  sim:checkpoint(path .. ".tmp")
  assert(os.rename(path .. ".tmp", path))
  local r = sim:result()
  coroutine.close(sim.program) -- and so a CUDA program, which would find its GPU gone
  sim:close()
  folder.remove_checkpoints(stem)
  os.remove(stem)
  return { cycles = r.cycles, simulated = r["run.seconds"] }
end

-- The run ---------------------------------------------------------------------------------------------------------------------------

local function launches_of(r)
  local launches = {}
  for i, launch in ipairs(r.launches) do
    launches[i] = { kernel = launch.kernel, start_cycle = launch.start_cycle, cycles = launch.cycles, ctas = launch.ctas,
      warp_instructions = launch.warp_instructions, thread_instructions = launch.thread_instructions }
  end
  return launches
end

local function summary_of(r, stats)
  return { stats = stats, cycles = r.cycles, ipc = r.ipc, warp_ipc = r.warp_ipc, warp_instructions = r.warp_instructions,
    thread_instructions = r.thread_instructions, memory_peak = r.memory_peak, checks = r.checks, machine = r.machine,
    workload_name = r.workload, size_name = r.size, policy_name = r.policy, launches = launches_of(r), host_seconds = r.seconds }
end

--- What was counted since the warm-up of the run ended, as `database` reads it. Histograms count from there on anyway.
local function write_since(stem, r, stats)
  local since = r:since(warm_result.read(stem))
  if stats ~= "none" then inputs.write_file(stem .. "/since.zst", output.packed_stats(since, stats)) end
  warm_result.remove(stem)
end

local function simulate(sweep, run, stem)
  local options = { out = stem, stats = sweep.stats or "packed", checkpoint_every = not run.sample and sweep.checkpoint_every or nil,
    workload = workload_of(run) }
  for _, key in ipairs(options_of_run) do options[key] = run[key] end
  local may_go_on = not run.sample and (not run.warm_up or warm_result.read(stem)) -- a sampled run goes on from its passes
  local r = go_on(may_go_on and checkpoint.newest(stem) or nil, function(path)
    options.resume = path
    return ww.run(options)
  end)
  if not r then
    folder.remove_checkpoints(stem)
    options.resume = nil
    if run.warm_up then
      options.resume, options.allow_changes, options.set = sweep.stem_of(one_run.warm_up_of(run)) .. ".ckpt", true, nil
    end
    r = ww.run(options, run.warm_up and function(sim) warm_result.save(stem, sim:result()) end)
  end
  folder.remove_checkpoints(stem)
  require_success(run, options.workload)
  if options.stats == "all" or options.stats == "summary" then -- whose files lack what the database has: wholes of ratios, all digits
    inputs.write_file(stem .. "/stats.zst", output.packed_stats(r, options.stats))
  end
  if run.warm_up then write_since(stem, r, options.stats) end
  return summary_of(r, options.stats)
end

--- one_run.simulate(sweep = { stem_of = function(run), checkpoint_every =, stats = }, run, stem of its folder) -> what is kept of it,
-- for runner.new.
function one_run.simulate(sweep, run, stem)
  if one_run.is_warm_up(run) then return warm_up(sweep, run, stem) end
  return simulate(sweep, run, stem)
end

return one_run
