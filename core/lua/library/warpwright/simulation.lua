-- A machine with its GPU, as a script holds it: ww.build().
local checkpoint = require "warpwright.checkpoint"
local core = require "warpwright.core"
local drained = require "warpwright.drained"
local fast_forward = require "warpwright.fast_forward"
local inputs = require "warpwright.inputs"
local later = require "warpwright.later"
local load = require "warpwright.load"
local machine = require "warpwright.machine"
local memcheck = require "warpwright.memcheck"
local names = require "warpwright.names"
local output = require "warpwright.output"
local own_state = require "warpwright.own_state"
local policies_at_work = require "warpwright.policies_at_work"
local policy = require "warpwright.policy"
local result = require "warpwright.result"
local sources = require "warpwright.sources"
local workload = require "warpwright.workload"

local fork = later "warpwright.fork"
local measures = later "warpwright.measures"
local profile = later "warpwright.profile"
local sample_options = later "warpwright.sample_options"
local sampled_result = later "warpwright.sampled_result"
local sampling = later "warpwright.sampling"

local simulation = {}

local Simulation = { __name = "simulation" }
local builds = 0 -- so far, in this process
Simulation.__index = Simulation

--- Overrides one after the other, as a list.
local function join_overrides(first, second)
  local joined = {}
  for _, set in ipairs { first or {}, second or {} } do
    for _, key in ipairs(names.sorted_keys(set, "set")) do
      table.insert(joined, type(key) == "string" and { key, set[key] } or set[key])
    end
  end
  return joined
end

--- What a checkpoint says of the choices behind a machine: names where there are names.
local function describe_choices(config, options, built)
  local function name_of(value) return type(value) == "string" and value or value and value.name end
  local set = {}
  for _, key in ipairs(names.sorted_keys(options.set or {}, "set")) do
    local entry = options.set[key]
    if type(key) == "string" then
      set[#set + 1] = ("%s=%s"):format(key, tostring(entry))
    elseif type(entry) == "table" then
      set[#set + 1] = ("%s=%s"):format(entry[1], tostring(entry[2]))
    else
      set[#set + 1] = tostring(entry)
    end
  end
  return {
    config = name_of(config),
    policy = options.policy and built.policies.name,
    memory = options.memory,
    bounds = options.bounds,
    fast_forward = options.fast_forward,
    sample = options.sample,
    set = set,
    machine = built.name,
    sources = sources.new(built.description, built.policies),
    ["config digest"] = core.digest(built:config()),
  }
end

local function read_chain(specification)
  return policy.chain(specification or {}, function(what) return load.get("policy", what) end)
end

--- `policies`: a chain.
local function build_machine(description, options, policies)
  return machine.build(description, {
    set = options.set,
    policies = policies,
    order = options.order,
    threads = options.threads,
    pin = options.pin,
  })
end

--- ww.build(config, { set =, policy =, order =, threads =, pin =, memory =, bounds =, memcheck =,
-- profile =, fast_forward =, sample =, jobs = }): a machine that a script drives itself.
function simulation.build(config, options)
  options = options or {}
  names.check_keys("ww.build", options, { "set", "policy", "order", "threads", "pin", "memory", "bounds", "memcheck",
    "profile", "fast_forward", "sample", "jobs" })
  names.check_flags(options, { "pin", "memcheck", "profile" })
  if options.memcheck and options.bounds == "hardware" then
    core.user_error 'bounds: expected "strict" with memcheck, got "hardware"'
  end
  fast_forward.read(options.fast_forward)
  if options.sample or options.jobs then sample_options.check(options) end
  builds = builds + 1
  local description = load.get("config", config)
  local policies = read_chain(options.policy)
  local sim = setmetatable({
    name = description.name,
    origin = builds,
    policy = options.policy and policies.name or "default",
    policies = policies,
    memory = core.quantity(options.memory or "4GiB", "bytes", "memory"),
    description = description,
    options = options,
    machine = build_machine(description, options, policies),
  }, Simulation)
  sim.choices = describe_choices(config, options, sim)
  return sim
end

local function require_fixed_clocks(built)
  local clock = machine.changing_clock(built)
  if clock then
    core.user_error(("sample: expected clocks that do not change, got clock.%s with %d Hz to %d Hz"):format(clock.name, clock.slowest,
      clock.fastest))
  end
end

local function make_gpu(self)
  if self.options.sample then require_fixed_clocks(self.machine) end
  local gpu = core.gpu(self.machine, self.memory, self.label)
  if self.options.sample and core.kernel_counts(gpu) then
    core.user_error "sample: expected a dispatcher without count_by_kernel, got one with it"
  end
  if self.options.bounds then gpu:set_bounds(self.options.bounds) end
  if self.options.memcheck then core.memcheck(gpu) end
  local launch, share, warm = fast_forward.read(self.options.fast_forward)
  if launch then gpu:set_fast_forward(launch, share, warm) end
  if self.options.sample then
    self.sampler = sampling.attach(self.machine, gpu, self.policies, self.options.sample, self.options.jobs)
  end
  if self.options.profile then
    core.start_profile(gpu)
    self.choices.profile = "yes"
  end
  self.first_config = self.machine:config()
  policies_at_work.attach(self.machine, self.policies, self.options.set)
  return gpu
end

--- sim:gpu(): the machine ready to run; every required port must be wired. A machine that was built in part is good for nothing:
-- what went wrong is said again whenever the GPU is asked for.
function Simulation:gpu()
  if not self.device and not self.problem then
    local made, gpu = xpcall(make_gpu, core.message_handler, self)
    self.device, self.problem = made and gpu or nil, not made and gpu or nil
  end
  if self.problem then error(self.problem, 0) end
  return self.device
end

--- Of a sampled run: keeps what windows count in this folder, so that the same run goes on with it when it was killed.
function Simulation:keep_passes(folder, what, size)
  self:gpu()
  if not self.sampler then return end
  local w = load.get("workload", what)
  local made_of = { inputs.digest_of_program(), self.choices["config digest"], self.policy, self.options.sample, w.name, size,
    w.ptx and inputs.digest_of_file(w.ptx) or "" }
  for _, file in ipairs(sources.list(self.choices.sources)) do made_of[#made_of + 1] = file.digest end
  self.sampler:keep_passes(folder, core.digest(table.concat(made_of, " ")))
end

--- sim:object(path)
function Simulation:object(path)
  if type(path) ~= "string" then names.expected("object", "a path", path) end
  local object = self.machine:find(path)
  if object then return object end
  names.check_indices("object", path)
  local paths = {}
  for i, other in ipairs(machine.all_objects(self.machine)) do paths[i] = other.path end
  core.user_error(("object: no object matches '%s' on machine %s%s"):format(path, self.name, names.did_you_mean(path, paths, 3)))
end

--- sim:objects(class): all of this class, in order of construction; without a class, all.
function Simulation:objects(class)
  if class ~= nil and not (type(class) == "string" and core.is_class(class)) then
    local known = {}
    for i, one in ipairs(core.classes()) do known[i] = one.name end
    core.user_error(("objects: no class matches '%s'%s"):format(tostring(class), names.did_you_mean(class, known, 3)))
  end
  local found = {}
  for _, object in ipairs(machine.all_objects(self.machine)) do
    if not class or object.class == class then found[#found + 1] = object end
  end
  return found
end

--- sim:config(): Lua text that builds this machine again. Policies set parameters while it runs: the text has the first values.
function Simulation:config() return self.first_config or self.machine:config() end

-- Running host programs --------------------------------------------------------------------------------------------

--- sim:start(workload, size): the host program, ready for sim:run {}.
function Simulation:start(w, size)
  local name = type(w) == "string" and w or nil
  w = load.get("workload", w)
  if self.program and coroutine.status(self.program) ~= "dead" then
    core.user_error("start: the previous host program has not ended")
  end
  local gpu, params, label = self:gpu(), workload.resolve_size(w, size)
  self.params, self.ptx_path = params, w.ptx
  self.choices.workload, self.choices.workload_name, self.choices.size = name, w.name, label
  for _, choice in ipairs(names.sorted_keys(w.choices or {})) do self.choices[choice] = w.choices[choice] end
  w.sim = self
  sources.set_workload(self.choices.sources, w)
  if self.resumed then checkpoint.require_sources(self.resumed, self.choices.sources) end
  self.program = coroutine.create(function() return xpcall(workload.execute, core.message_handler, w, gpu, params) end)
  core.program_rests(gpu, false)
end

--- Ends a host program that yielded by itself: nobody would go on with it.
local function refuse_yield(program)
  local place = core.location(program)
  coroutine.close(program)
  error(place .. "coroutine.yield: expected a call in a coroutine that the host program has made, got one in the host program itself", 0)
end

--- Goes on with the host program until it ends, the core clock reaches `cycle`, or `launch` is next; with signals watched. Returns
-- whether it has ended, and how many checks it passed.
local function continue(self, cycle, launch)
  local gpu = self:gpu()
  if coroutine.status(self.program) ~= "suspended" then core.user_error("sim:run {}: the host program is running") end
  core.program_runs(gpu, self.program, cycle, launch)
  local alive, ok, value = own_state.resume(self.program)
  local is_paused = ok == core.pause
  core.program_rests(gpu, not is_paused)
  if not alive then error(ok, 0) end
  if is_paused then return false end
  if coroutine.status(self.program) == "suspended" then refuse_yield(self.program) end
  if not ok then error(value, 0) end
  self.checks = value
  self:finish()
  return true, value
end

local function require_number(name, expected, value)
  if value ~= nil and (not math.tointeger(value) or type(value) ~= "number") then names.expected("sim:run: " .. name, expected, value) end
end

--- sim:run(workload, size): runs it to its end; returns how many checks it passed.
-- sim:run { until_cycle = N, until_launch = M }: goes on with what sim:start() began, to its end, to cycle N or to the beginning of
-- launch M; returns whether it ended, and how many checks it passed.
function Simulation:run(what, size)
  if type(what) == "table" and not workload.is_workload(what) then
    names.check_keys("sim:run", what, { "until_cycle", "until_launch" })
    require_number("until_cycle", "a core cycle", what.until_cycle)
    require_number("until_launch", "the number of a launch", what.until_launch)
    if not self.program then core.user_error("sim:run {}: expected sim:start(workload, size) before it") end
    if coroutine.status(self.program) == "dead" then return true, self.checks end
    return continue(self, what.until_cycle, what.until_launch)
  end
  self:start(what, size)
  local _, checks = continue(self, nil)
  return checks
end

--- sim:checkpoint(path): everything, so that sim:resume(path) on a machine like this one goes on from here.
function Simulation:checkpoint(path)
  if type(path) ~= "string" then names.expected("checkpoint", "a file", path) end
  local gpu = self:gpu()
  checkpoint.write(gpu, path, self.choices, gpu:totals().cycles)
end

--- sim:resume(path, { allow_changes = }): before sim:start() or sim:run(); the host program runs again from its start
-- and is answered from the checkpoint until it has caught up.
function Simulation:resume(path, options)
  options = options or {}
  names.check_keys("sim:resume", options, { "allow_changes" })
  names.check_flags(options, { "allow_changes" }, "sim:resume: ")
  if type(path) ~= "string" then names.expected("sim:resume", "a checkpoint", path) end
  local saved = checkpoint.read_run(path)
  self.choices["seconds before"] = tonumber(saved["host seconds"])
  local now = self.choices.policy
  local other_policy = saved.policy ~= now and checkpoint.found(saved, "policy") ~= now
  if other_policy and not options.allow_changes then
    core.user_error(("checkpoint %s: expected policy %s as in the checkpoint, got %s; allow_changes drops the state of the former"):format(
      path, saved.policy or "default", self.choices.policy or "default"))
  end
  core.resume(self:gpu(), path, options.allow_changes or false, other_policy)
  self.origin = false -- it goes on with a run of before
  self.drained, self.choices.drained = drained.read(saved.drained, (self.machine:clocks())), saved.drained
  self.resumed = { path = path, saved = saved, allow_changes = options.allow_changes }
end

--- To a machine that has taken the place of another: without its policies it cannot go on.
local function attach_again(self, policies, set)
  local attached, problem = xpcall(policies_at_work.attach, core.message_handler, self.machine, policies, set)
  if attached then return end
  self.problem = problem
  error(problem, 0)
end

--- sim:change { policy =, set = }: goes on from the present state under another policy and with other parameters, where
-- state can be transferred; returns a list of what changed. The policy that the machine has goes on with what it knows.
function Simulation:change(changes)
  names.check_keys("sim:change", changes, { "policy", "set" })
  local options = setmetatable({}, { __index = self.options })
  options.policy = changes.policy or self.options.policy
  options.set = join_overrides(self.options.set, changes.set)
  local policies = read_chain(options.policy)
  local is_other = options.policy ~= self.options.policy
  local other = build_machine(self.description, options, policies)
  core.move(self:gpu(), other)
  self.first_config = self.machine:config()
  if not is_other then attach_again(self, policies, options.set) end
  local notes = core.take_state(self:gpu(), is_other)
  if is_other then attach_again(self, policies, options.set) end
  local policy_before = self.policy
  if is_other then self.policy_from = self:gpu():totals().cycles end
  self.options = options
  self.policies = policies
  self.policy = options.policy and policies.name or "default"
  if self.policy ~= policy_before then
    table.insert(notes, 1, ("policy: %s became %s"):format(policy_before, self.policy))
  end
  local choices = describe_choices(self.choices.config, options, self)
  for _, name in ipairs { "policy", "set", "config digest" } do self.choices[name] = choices[name] end
  sources.set_policies(self.choices.sources, policies)
  return notes
end

--- sim:fork { { policy =, set =, name = } ..., jobs =, out = }: runs variants side by side from the present state, each in
-- a process and an output folder of its own; returns their results in order.
function Simulation:fork(variants)
  if type(variants) ~= "table" then names.expected("sim:fork", "{ { policy =, set =, name = } ..., jobs =, out = }", variants) end
  if not self.program then core.user_error("sim:fork: expected sim:start(workload, size) before it") end
  return fork.run(self, variants)
end

--- sim:set_clock("core", "800MHz"): the clock has this frequency from here on, between two calls of sim:run {} or sim:advance().
function Simulation:set_clock(name, frequency)
  if type(name) ~= "string" then names.expected("set_clock", "the name of a clock", name) end
  if self.program and coroutine.status(self.program) ~= "suspended" then
    core.user_error "set_clock: expected a call between two sim:run {}, got one by the host program or behind it"
  end
  self.machine:set_clock(name, frequency)
end

--- sim:clocks(): { { name =, hertz = at first, frequency = at present, slowest =, fastest =, cycles =, changes = } ... }.
function Simulation:clocks() return (self.machine:clocks()) end

--- sim:advance(cycles): runs a machine without SMs, which has no kernels, for so many core cycles, to the next quantum
-- boundary. Returns "time", or "idle" when nobody had anything to do any more.
function Simulation:advance(cycles)
  self.stopped, self.cycles = self.machine:run(cycles)
  return self.stopped
end

--- To totals, of a machine whose clocks may change: simulated seconds, and cycles of each clock.
local function add_clocks(self, totals)
  if machine.changing_clock(self.machine) then
    totals.clocks, totals.simulated = (self.machine:clocks()), self.machine:seconds()
  end
  return totals
end

--- What the objects of each clock have counted at each frequency; the time ends with the last kernel.
local function add_shares(self, totals)
  for _, clock in ipairs(totals.clocks or {}) do
    clock.shares = self.machine:clock_shares(clock.name)
    local before = 0.0
    for i = 1, #clock.shares - 1 do before = before + clock.shares[i].seconds end
    clock.shares[#clock.shares].seconds = math.max(0.0, totals.simulated - before)
  end
  return totals
end

--- The totals of a machine that advance() runs.
local function totals_without_gpu(self)
  return add_clocks(self, { cycles = self.cycles or 0, warp_instructions = 0, thread_instructions = 0, memory_peak = 0, seconds = 0 })
end

--- The result that these counters make. Counters of policies are among them where all launches had timing: of windows they are in
-- other processes. What was in flight when the last kernel ended has
-- taken the clock on: `totals` are from before.
local function of_measure(self, totals, measure)
  local cycles, warps, threads = measures.header(measure)
  local estimated = { memory_peak = totals.memory_peak, seconds = totals.seconds + self.sampler.seconds, cycles = math.floor(cycles + 0.5),
    warp_instructions = math.floor(warps + 0.5), thread_instructions = math.floor(threads + 0.5) }
  local policy_rows = sampled_result.is_exact(self.sampler) and policies_at_work.counters(self.machine, self.policies) or nil
  return result.new(self.name, self.policy, estimated, self:gpu():launches(), self.machine, policy_rows, nil,
    core.stats_of_counters(self.machine, measures.counters(measure), estimated.cycles + self:gpu():totals().cycles - totals.cycles))
end

--- The totals as of the end of the last kernel, also where what it left in flight has been let finish since.
local function totals_of_kernels(self)
  local totals, before = add_clocks(self, self:gpu():totals()), self.drained
  totals.is_drained = before ~= nil and before.to == totals.cycles
  if totals.is_drained then
    totals.cycles = before.from
    if totals.clocks then totals.clocks, totals.simulated = before.clocks, before.simulated end
  end
  totals.seconds = totals.seconds + (self.choices["seconds before"] or 0)
  return totals
end

local function is_in_kernel(self, totals)
  return totals.stopped or self.program and coroutine.status(self.program) == "suspended"
end

--- Lets what is in flight finish by `drain`, of the GPU, which says whether it did: where a resumed host program has not caught up, there
-- is nothing to finish.
local function drain_by(self, drain)
  local gpu = self:gpu()
  local totals = totals_of_kernels(self)
  if not drain(gpu) then return end
  self.drained = { from = totals.cycles, to = gpu:totals().cycles, clocks = totals.clocks, simulated = totals.simulated }
  self.choices.drained = drained.text(self.drained)
end

--- sim:drain(): lets finish what the last kernel left in flight, write-backs and the like. The next launch begins later then;
-- run.cycles ends with the last kernel.
function Simulation:drain() drain_by(self, function(gpu) return gpu:drain() end) end

--- Behind the last kernel of a host program. The statistics of a run have all that it caused.
function Simulation:finish()
  local totals = totals_of_kernels(self)
  if totals.is_drained or is_in_kernel(self, totals) then return end
  drain_by(self, core.drain_after_program)
end

--- sim:result(): all counters as they are, their conservation laws checked; the machine goes on as if nobody had asked.
function Simulation:result()
  if self.stopped or not self.device and not self:objects "SM"[1] then
    if self.stopped then self.machine:settle(self.stopped == "idle") end
    return result.new(self.name, self.policy, add_shares(self, totals_without_gpu(self)), {}, self.machine)
  end
  local gpu = self:gpu()
  local totals = totals_of_kernels(self)
  self.machine:settle(totals.is_drained and not is_in_kernel(self, totals))
  totals.by_kernel = core.kernel_counts(gpu)
  local r
  if self.sampler and not totals.stopped then
    r = sampling.result(self.sampler, totals.cycles, function(measure) return of_measure(self, totals, measure) end)
  else
    r = result.new(self.name, self.policy, add_shares(self, totals), gpu:launches(), self.machine,
      policies_at_work.counters(self.machine, self.policies), self.policy_from)
  end
  r.origin = self.origin
  r.profile = self.options.profile and core.profile(gpu) or false
  r.memcheck = self.options.memcheck and memcheck.report(gpu) or false
  return r
end

--- The error for a pattern of sim:counters that matches no counter.
local function no_such_counter(self, pattern)
  names.check_indices("counters", pattern)
  local patterns, seen = {}, {}
  local rows = self.machine:stats()
  for i = 1, #rows do
    local path, _, _, _, whole = rows:row(i)
    if whole and core.path_matches(pattern, path) then
      core.user_error(("counters: expected counters, got '%s', which is a ratio of two"):format(pattern))
    end
    local name = path:gsub("%[%d+%]", "[*]")
    if not whole and not seen[name] then patterns[#patterns + 1] = name end
    seen[name] = true
  end
  local wanted = tostring(pattern):gsub("%[%d+%]", "[*]")
  core.user_error(("counters: no counter matches '%s' on machine %s%s"):format(tostring(pattern), self.name, names.did_you_mean(wanted, patterns, 3)))
end

--- sim:counters { name = pattern or list of patterns ... }: sums of counters of objects, for those who read them often. It
-- has a method read(), which gives { name = sum ... } as of now; between launches, say.
function Simulation:counters(patterns)
  if type(patterns) ~= "table" then
    names.expected("counters", "{ name = pattern ... }", patterns)
  end
  local lists = {}
  for _, name in ipairs(names.sorted_keys(patterns)) do
    if type(name) ~= "string" then
      core.user_error(("counters: expected a name for each pattern, got none for '%s'"):format(tostring(patterns[name])))
    end
    lists[name] = type(patterns[name]) == "table" and { table.unpack(patterns[name]) } or { patterns[name] }
  end
  for _, list in pairs(lists) do
    for i, pattern in ipairs(list) do
      if type(pattern) == "string" then list[i] = core.current_name(pattern) or pattern end
    end
  end
  local counters, unmatched = core.counters(self.machine, lists)
  if unmatched[1] then no_such_counter(self, unmatched[1]) end
  return counters
end

--- sim:write(out, { stats =, energy = }): the result so far, with the output folder of ww.run; `out` as there. Returns the result.
function Simulation:write(out, options)
  options = options or {}
  names.check_keys("sim:write", options, { "stats", "energy" })
  output.check_stats(options.stats)
  local technology = options.energy and load.get("technology", options.energy)
  local r = self:result()
  r.workload, r.size, r.checks = self.choices.workload_name or "none", self.choices.size or "none", self.checks or 0
  local folder <close> = output.open(out, { self.name, r.workload, r.size, self.policy })
  r.out = folder.path
  if technology then result.add_energy(r, technology) end
  local ptx = output.read_ptx(self.ptx_path)
  local problem = output.write(folder, r, {
    status = self.checks and "completed" or "stopped by its script",
    config = self:config(),
    ptx = ptx,
    ptx_files = core.loaded_ptx(self:gpu()),
    size = self.params or {},
    files = sources.list(self.choices.sources),
    memcheck = r.memcheck and memcheck.text(r.memcheck) or nil,
    stats = options.stats,
    begun = self.choices,
    files_beside = r.profile and profile.files(r.profile) or {},
  })
  if problem then core.user_error(problem) end
  return r
end

--- sim:close(): gives its memory back at once.
function Simulation:close() self.machine:close() end

names.guard_methods(Simulation, "sim:", "a machine of ww.build")

return simulation
