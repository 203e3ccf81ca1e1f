-- ww.run: one workload on one machine, with its output folder.
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local fast_forward = require "warpwright.fast_forward"
local later = require "warpwright.later"
local live = require "warpwright.live"
local load = require "warpwright.load"
local memcheck = require "warpwright.memcheck"
local names = require "warpwright.names"
local note = require "warpwright.note"
local output = require "warpwright.output"
local policies_at_work = require "warpwright.policies_at_work"
local result = require "warpwright.result"
local set_aside = require "warpwright.set_aside"
local simulation = require "warpwright.simulation"
local sources = require "warpwright.sources"
local tracing = require "warpwright.tracing"
local workload = require "warpwright.workload"

local histograms = later "warpwright.histograms"
local intervals = later "warpwright.intervals"
local sampled_result = later "warpwright.sampled_result"

local run = {}

--- What ww.run may be told.
run.options = { "config", "workload", "size", "policy", "set", "out", "max_cycles", "order", "threads", "pin", "memory",
  "checkpoint_every", "checkpoint_at", "keep", "resume", "allow_changes", "energy", "bounds", "memcheck", "stats",
  "stats_every", "stats_of", "profile", "histograms", "fast_forward", "sample", "jobs", table.unpack(tracing.options) }

--- What a run that a signal stopped raises, once its stats are written: batch systems may start it again.
run.EXIT_STOPPED = 75

local Stopped = {
  __tostring = function(stopped) return stopped.message end,
}

--- What goes on in a resumed run unless it says otherwise.
local kept_options <const> = { "checkpoint_every", "checkpoint_at", "keep", "energy", "stats" }

--- Notes them in what the checkpoints of the run will say.
local function keep_options(choices, options)
  for _, name in ipairs(kept_options) do
    local value = options[name]
    if name == "checkpoint_at" and type(value) == "table" then value = table.concat(value, ",") end
    if name == "energy" and type(value) == "table" then value = load.origin[value] end
    choices[name] = value or nil
  end
end

--- "none" is how the command line switches off what a checkpoint would bring back.
local function without_none(options)
  local plain = {}
  for key, value in pairs(options) do plain[key] = value end
  for _, name in ipairs { "checkpoint_every", "checkpoint_at", "keep", "energy", "stats_every" } do
    if plain[name] == "none" then plain[name] = false end
  end
  return plain
end

--- The options with what they leave open taken from the checkpoint that they resume; its overrides come first.
local function resolve_resume(options)
  if not options.resume then return options end
  options = checkpoint.of_folder(options)
  local saved, resolved = checkpoint.read_run(options.resume), {}
  for _, name in ipairs(run.options) do resolved[name] = options[name] end
  for _, name in ipairs { "config", "workload", "size", "policy", "memory", "bounds", "stats_every", "stats_of",
    "histograms", "profile", "fast_forward", table.unpack(kept_options) } do
    local has_no_place = options.out == false and name:find "^checkpoint_"
    local depends_on_off = name == "stats_of" and resolved.stats_every == false
    if resolved[name] == nil and not depends_on_off and not has_no_place then resolved[name] = checkpoint.found(saved, name) end
  end
  if saved.bounds and resolved.bounds ~= saved.bounds then
    core.user_error(("checkpoint %s: bounds: expected %s as in the checkpoint, got %s"):format(options.resume, saved.bounds,
      tostring(resolved.bounds)))
  end
  if resolved.profile == saved.profile then resolved.profile = saved.profile ~= nil end -- "yes"
  resolved.set = {}
  for _, entry in ipairs(saved.set) do table.insert(resolved.set, entry) end
  for _, key in ipairs(names.sorted_keys(options.set or {}, "set")) do
    local entry = options.set[key]
    table.insert(resolved.set, type(key) == "string" and { key, entry } or entry)
  end
  local w = load.get("workload", resolved.workload)
  local _, size = workload.resolve_size(w, resolved.size)
  if w.name ~= saved.workload_name or size ~= saved.size then
    core.user_error(("checkpoint %s: expected workload %s, size %s, as in the checkpoint, got %s, size %s"):format(options.resume,
      saved.workload_name, saved.size, w.name, size))
  end
  return resolved
end

local function is_signal(why) return why == "SIGINT" or why == "SIGTERM" or why == "SIGHUP" end

--- `word`: of the command line that goes on, or nil: run.
local function raise(sim, problem, made, word)
  local why = sim:gpu():totals().stopped
  local how = made.last and ("go on with: warpwright %s --resume %s"):format(word or "run", names.shell_word(made.last)) or "no checkpoint was made"
  if why == "max_cycles was reached" and made.last then core.user_error(("%s; %s"):format(tostring(problem), how)) end
  if not is_signal(why) then error(problem, 0) end
  error(setmetatable({ message = ("%s; %s"):format(tostring(problem), how), exit_status = run.EXIT_STOPPED }, Stopped))
end

--- Did a signal stop a sampled run, in a launch that was sampled or in one with timing?
local function is_stopped_sampling(sim)
  return sim.sampler and (sim.sampler.pool.is_stopped or is_signal(sim:gpu():totals().stopped))
end

--- A sampled run that a signal stopped has no result yet: of its launches, some are counted in other processes.
local function raise_stopped_sampling(folder, problem)
  local how = folder.path and ("the same command with --out %s goes on from the passes that it has made"):format(names.shell_word(folder.path))
    or "without a folder nothing is kept"
  error(setmetatable({ message = ("%s; %s"):format(tostring(problem), how), exit_status = run.EXIT_STOPPED }, Stopped))
end

--- An error of the host program between two launches leaves what was counted before it. A resumed run has nothing of its own until
-- it has caught up, and a sampled one no estimate before its end.
local function has_counted(gpu, options, made)
  return #gpu:launches() > 0 and not gpu:totals().faulted and not options.sample and (not options.resume or made and made.has_caught_up)
end

--- A user who asks for timing from launch 7 on, or of half of its CTAs, and gets none, is told.
local function tell_of_missing_launch(options, gpu)
  local launch, share = fast_forward.read(options.fast_forward)
  local count = #gpu:launches()
  if launch and count <= launch then
    note("fast_forward: launch %d never came: the program made %d launch%s, and none of them had timing", launch, count,
      count == 1 and "" or "es")
  elseif launch and share < 1 and gpu:launches()[launch + 1].cycles == 0 then
    note("fast_forward: launch %d had no timing: it ended before the hand-over, as few CTAs do that end together, or by a fault", launch)
  end
end

--- Nor does one who asks for a checkpoint wait for it in vain.
local function tell_of_missing_checkpoints(made, r)
  local cycles = made.missing()
  if cycles[1] then
    note("checkpoint_at: no checkpoint was made at %s: the run ended at cycle %d", table.concat(cycles, ", "), r.cycles)
  end
end

--- `profile`: the module, where there is a profile.
local function files_beside(r, profile)
  local files = r.profile and profile.files(r.profile) or {}
  if r.histograms then files[#files + 1] = histograms.file(r.histograms) end
  return files
end

--- What a sampled run cannot have: its cycles are in processes of their own.
local beside_sample <const> = { "checkpoint_every", "checkpoint_at", "keep", "resume", "max_cycles", "histograms", "stats_every", "trace",
  "perfetto", "trace_file" }

local function refuse_beside_sample(options)
  for _, name in ipairs(options.sample and beside_sample or {}) do
    if options[name] then core.user_error(("sample: expected a run without %s, got one with it"):format(name)) end
  end
end

--- What needs another option, of which a checkpoint may not bring it: `given` are those of the caller.
local function refuse_alone(given)
  local function refuse(name, what, got) core.user_error(("%s: expected %s, got %s"):format(name, what, got)) end
  if given.allow_changes and not given.resume then refuse("allow_changes", "resume with it", "none") end
  checkpoint.check(given)
  if given.keep and given.out == false then refuse("out", "a folder for checkpoints", "false") end
end

--- What is legal beside a checkpoint that brings it, and of no use alone.
local function check_use(given, options, recorder)
  if given.keep and not options.checkpoint_every and not options.checkpoint_at then
    note "keep: no checkpoint_every or checkpoint_at is given: checkpoints are made by signals alone"
  end
  if given.stats_every and given.out == false and not recorder.energies then
    core.user_error "out: expected a folder for the intervals of stats_every, got false"
  end
end

--- Errors for options that are wrong by themselves or beside each other.
function run.check(options)
  output.check_stats(options.stats)
  tracing.check(options)
  refuse_beside_sample(options)
  names.check_flags(options, { "pin", "memcheck", "profile", "allow_changes" })
  local limit = options.max_cycles
  if limit ~= nil and (type(limit) ~= "number" or not math.tointeger(limit) or limit < 1) then names.expected("max_cycles", "1 cycle or more", limit) end
end

--- A run at work: `options`, `workload`, `size`, `params`, `sim`, `gpu`, `folder`, `trace`, and what watches it.
local Run = {}
Run.__index = Run

--- Those of the options that are the simulation's business.
local of_simulation <const> = { "set", "policy", "order", "threads", "pin", "memory", "bounds", "memcheck", "profile", "fast_forward",
  "sample", "jobs" }

--- Builds the machine. `given` are the caller's options.
local function build(given)
  local options = resolve_resume(given)
  local technology = options.energy and load.get("technology", options.energy)
  local w = load.get("workload", options.workload)
  local params, size = workload.resolve_size(w, options.size)
  local wanted = {}
  for _, name in ipairs(of_simulation) do wanted[name] = options[name] end
  local sim = simulation.build(options.config, wanted)
  sim.label = ("%s %s %s %s"):format(sim.name, w.name, size, sim.policy)
  keep_options(sim.choices, options)
  local gpu = sim:gpu()
  if options.max_cycles then gpu:set_cycle_limit(options.max_cycles) end
  return setmetatable({ given = given, options = options, technology = technology, workload = w, params = params, size = size, sim = sim,
    gpu = gpu }, Run)
end

--- Opens the folder of the run, which is to be closed.
function Run:open_folder()
  local sim, w, options = self.sim, self.workload, self.options
  self.folder = output.open(options.out, { sim.name, w.name, self.size, sim.policy })
  output.want_hang_report(self.folder, self.gpu)
  if self.folder.path then set_aside(self.folder.path, sim.choices, w, self.size, options.resume) end
  self.ptx = w.ptx and core.is_file(w.ptx) and output.read_file(w.ptx) -- the user may edit it while the run goes on
  return self.folder
end

--- Has counted what the options ask for beside the statistics.
function Run:start_recording()
  local options, sim = self.options, self.sim
  self.counted = options.histograms and histograms.start(sim, options.histograms)
  self.recorder = (options.stats_every or options.stats_of) and intervals.record(sim, self.folder.path, options)
  check_use(self.given, options, self.recorder)
  self.profile = options.profile and require "warpwright.profile"
end

--- Runs the workload; returns how many results it checked.
function Run:simulate(caught_up)
  local options, sim, path = self.options, self.sim, self.folder.path
  local shown <close> = live.announce(path)
  local checkpoints = not options.sample and path or nil -- windows of a sampled run are in none
  self.made = checkpoint.watch(self.gpu, checkpoints, sim.choices, options, function() shown:show(sim) end, self.recorder,
    caught_up and function() caught_up(sim) end)
  if options.resume then sim:resume(options.resume, { allow_changes = options.allow_changes }) end
  if self.workload.command_line then self.workload.results = path and core.real_path(path) end
  self.trace:begin()
  if options.sample and path then sim:keep_passes(path .. "/passes", options.workload, self.size) end
  return sim:run(options.workload, self.size)
end

--- Tells what memcheck found.
function Run:tell_of_faults()
  self.found = self.options.memcheck and memcheck.report(self.gpu, self.workload.faults)
  if self.found then memcheck.tell(self.found, self.folder.path) end
end

--- Of a run that has not completed: without statistics worth writing it leaves nothing, and raises the problem.
function Run:give_up_without_stats(problem)
  local is_stopped = is_stopped_sampling(self.sim)
  if not is_stopped and (workload.is_failure(problem) or self.gpu:totals().stopped or has_counted(self.gpu, self.options, self.made)) then
    return
  end
  output.discard(self.folder)
  self.sim:close()
  if is_stopped then raise_stopped_sampling(self.folder, problem) end
  error(problem, 0)
end

--- The result, with what only the run knows. `checks`: how many there were; 0 where it did not complete.
function Run:result(checks)
  local sim = self.sim
  if not sim.checks then sim:finish() end
  local r = sim:result()
  self.trace_problem = self.trace:finish()
  r.memcheck = self.found or false -- with the faults, of which the simulation knows nothing
  r.histograms = self.counted and histograms.of(self.gpu, self.counted) or false
  r.workload, r.size, r.checks, r.out = self.workload.name, self.size, checks, self.folder.path
  if self.technology then result.add_energy(r, self.technology) end
  return r
end

--- Writes the folder; returns what went wrong with it or with the trace, or nil.
function Run:write(r, status)
  local options, sim, w, trace = self.options, self.sim, self.workload, self.trace
  local problem = output.write(self.folder, r, {
    status = status,
    config = sim:config(),
    ptx = self.ptx or table.concat(w.ptx_texts or {}),
    ptx_files = core.loaded_ptx(self.gpu),
    size = self.params,
    program = w.command_line,
    files = sources.list(sim.choices.sources),
    resumed = options.resume,
    begun = sim.choices,
    fast_forward = options.fast_forward,
    sample = options.sample,
    memcheck = self.found and memcheck.text(self.found),
    stats = options.stats,
    has_trace = (options.trace or options.perfetto) ~= nil,
    files_beside = files_beside(r, self.profile),
    intervals = self.recorder and self.recorder:finish(r),
  })
  local of_trace = self.trace_problem or trace.in_folder and "the trace is in " .. trace.in_folder
  return problem and of_trace and ("%s; %s"):format(problem, of_trace) or problem or self.trace_problem
end

--- Of a run that has completed: what the user would miss in its statistics.
function Run:tell_of_the_unexpected(r)
  tell_of_missing_launch(self.options, self.gpu)
  tell_of_missing_checkpoints(self.made, r)
  policies_at_work.tell_of_lost_prefetches(self.sim.machine, self.sim.policies, self.options.set, r)
end

--- Takes the machine down; the result stays.
function Run:close(r)
  if r.sampled then sampled_result.widths(r) end -- which takes the machine
  if self.sim.sampler then self.sim.sampler:forget_passes() end
  self.sim:close()
end

--- ww.run { config =, workload =, size =, policy =, set =, out =, max_cycles =, order =, threads =, pin =, memory =,
-- checkpoint_every =, checkpoint_at =, resume =, allow_changes =, energy =, bounds =, memcheck =, stats =, stats_every =, stats_of =,
-- profile =, histograms =, fast_forward =, sample =, jobs =, trace =, from =, to =, events =, trace_file =, perfetto = } -> result
-- `out` is a folder, false for no output, or nil for the next free folder in out/; `stats`: all, packed, summary or none are
-- written there. `caught_up(sim)`, or nil, is called when a resumed run is where its checkpoint was made.
function run.run(options, caught_up)
  names.check_keys("ww.run", options, run.options)
  options = without_none(options)
  run.check(options)
  refuse_alone(options)
  local this = build(options)
  local folder <close> = this:open_folder()
  this:start_recording()
  local trace <close> = tracing.new(this.sim, this.options, folder.path)
  this.trace = trace
  local ok, checks_or_problem = pcall(this.simulate, this, caught_up)
  this:tell_of_faults()
  if not ok then this:give_up_without_stats(checks_or_problem) end
  local r = this:result(ok and checks_or_problem or 0)
  local problem = this:write(r, ok and "completed" or core.thrown_text(checks_or_problem))
  if not ok then
    if problem then note("%s", problem) end
    raise(this.sim, checks_or_problem, this.made, this.workload.word)
  end
  this:tell_of_the_unexpected(r)
  this:close(r)
  if problem then core.user_error(problem) end
  return r
end

return run
