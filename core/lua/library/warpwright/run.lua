-- Building machines and running workloads on them.
local core = require "warpwright.core"
local load = require "warpwright.load"
local machine = require "warpwright.machine"
local names = require "warpwright.names"
local output = require "warpwright.output"
local policy = require "warpwright.policy"
local resolved_config = require "warpwright.resolved_config"
local result = require "warpwright.result"
local workload = require "warpwright.workload"

local run = {}

-- A machine and its GPU, from ww.build() -----------------------------------------------------------------------------

local Simulation = { __name = "simulation" }
Simulation.__index = Simulation

--- ww.build(config, { set =, policy =, order =, threads =, memory = }): a machine that a script drives itself.
function run.build(config, options)
  options = options or {}
  names.check_keys("ww.build", options, { "set", "policy", "order", "threads", "memory" })
  local description = load.get("config", config)
  local chosen = options.policy and load.get("policy", options.policy)
  local built = machine.build(description, {
    set = options.set,
    knobs = chosen and policy.knobs(chosen),
    order = options.order,
    threads = options.threads,
  })
  return setmetatable({
    name = description.name,
    policy = chosen and chosen.name or "default",
    memory = core.quantity(options.memory or "4GiB", "bytes"),
    machine = built,
  }, Simulation)
end

--- sim:gpu(): the machine ready to run; every required port must be wired.
function Simulation:gpu()
  self.device = self.device or core.gpu(self.machine, self.memory, self.label)
  return self.device
end

--- sim:object(path) -> object or nil
function Simulation:object(path) return self.machine:find(path) end

--- sim:config(): Lua text that builds this machine again.
function Simulation:config() return resolved_config.text(self.name, self.machine) end

--- sim:run(workload, size): runs it to its end; returns how many checks it passed.
function Simulation:run(w, size)
  w = load.get("workload", w)
  return workload.execute(w, self:gpu(), (workload.resolve_size(w, size)))
end

--- sim:result(): all counters so far, their conservation laws checked. What kernels left in flight, write-backs and the
-- like, finishes first and is counted; run.cycles ends with the last kernel.
function Simulation:result()
  local gpu = self:gpu()
  local totals = gpu:totals()
  if not totals.stopped then gpu:drain() end
  self.machine:settle(not totals.stopped)
  return result.new(self.name, self.policy, totals, gpu:launches(), self.machine)
end

--- sim:close(): gives its memory back at once.
function Simulation:close() self.machine:close() end

-- ww.run -------------------------------------------------------------------------------------------------------------

local run_options = { "config", "workload", "size", "policy", "set", "out", "max_cycles", "order", "threads",
  "memory" }

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("a")
  file:close()
  return text
end

--- ww.run { config =, workload =, size =, policy =, set =, out =, max_cycles =, order =, threads =,
-- memory = } -> result
-- `out` is a folder, false for no output, or nil for the next free folder in out/.
function run.run(options)
  names.check_keys("ww.run", options, run_options)
  local w = load.get("workload", options.workload)
  local params, size = workload.resolve_size(w, options.size)
  local sim = run.build(options.config, {
    set = options.set,
    policy = options.policy,
    order = options.order,
    threads = options.threads,
    memory = options.memory,
  })
  sim.label = ("%s %s %s %s"):format(sim.name, w.name, size, sim.policy)
  local gpu = sim:gpu()
  if options.max_cycles then gpu:set_cycle_limit(options.max_cycles) end
  local folder <const> = output.open(options.out, { sim.name, w.name, size, sim.policy })

  local ok, checks_or_problem = xpcall(workload.execute, core.message_handler, w, gpu, params)
  local dumps = ok or workload.is_failure(checks_or_problem) or gpu:totals().stopped
  if not dumps then
    output.discard(folder)
    sim:close()
    error(checks_or_problem, 0)
  end

  local r = sim:result()
  r.workload, r.size, r.checks, r.out = w.name, size, ok and checks_or_problem or 0, folder.path
  output.write(folder, r, {
    status = ok and "completed" or tostring(checks_or_problem),
    config = sim:config(),
    ptx = read_file(w.ptx),
    size = params,
  })
  sim:close()
  if not ok then error(checks_or_problem, 0) end
  return r
end

return run
