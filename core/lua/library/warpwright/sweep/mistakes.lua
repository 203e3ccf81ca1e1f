-- Mistakes in the description of a sweep that would fail all runs with a value, found before the first of them: each value of each
-- axis is tried on a machine that is built and does not run. It loads what runs load, and that counts among the inputs of a run:
-- for a process of its own.
local core = require "warpwright.core"
local cuda = require "warpwright.cuda"
local fast_forward = require "warpwright.fast_forward"
local find = require "warpwright.load"
local histograms = require "warpwright.histograms"
local intervals = require "warpwright.intervals"
local inputs = require "warpwright.inputs"
local names = require "warpwright.names"
local plan_of = require "warpwright.sweep.plan"
local policy = require "warpwright.policy"
local sample_options = require "warpwright.sample_options"
local run_of = require "warpwright.run"
local simulation = require "warpwright.simulation"
local workload = require "warpwright.workload"

local mistakes = {}

-- Where a value stands ------------------------------------------------------------------------------------------------------------

--- The number of the one line with any of the texts; nil when there is none, or there are more.
local function only_line_with(text, ...)
  local found, number = nil, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    for _, wanted in ipairs { ... } do
      if line:find(wanted, 1, true) then
        if found and found ~= number then return nil end
        found = number
      end
    end
  end
  return found
end

--- The number of the one line that gives the field a value.
local function only_line_of_field(text, name)
  local found, number = nil, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local given = line:find('["' .. name .. '"]', 1, true) or line:find("['" .. name .. "']", 1, true)
      or line:find("%f[%w_]" .. name:gsub("%W", "%%%0") .. "%s*=")
    if given then
      if found then return nil end
      found = number
    end
  end
  return found
end

--- "FILE:LINE", or what is known of it.
local function place_of(made, name, value)
  local text = inputs.read_file(made.where)
  if not text then return made.where end
  local line = type(value) == "string" and only_line_with(text, '"' .. value .. '"', "'" .. value .. "'") or only_line_of_field(text, name)
  return line and ("%s:%d"):format(made.where, line) or made.where
end

--- Instead of parameters of the machine that are near an axis that is none, the option of a run that is nearer.
local function with_option(name, problem)
  local option = problem:find(("set: no object or parameter matches '%s'"):format(name), 1, true) and names.guess(name, plan_of.run_axes)
  return option and ("axes: no axis matches '%s'; did you mean %s?"):format(name, option) or problem
end

local function refuse(made, name, value, problem)
  problem = with_option(name, core.thrown_text(problem))
  local missing = problem:match "no file matches '([^']*)'$"
  if missing then problem = problem .. find.hint_beside(missing, made.where) end
  local named = problem:find(name, 1, true) or value == nil
  core.user_error(("%s: %s%s"):format(place_of(made, name, value), named and "" or ("%s = %s: "):format(name, tostring(value)), problem))
end

-- Names ---------------------------------------------------------------------------------------------------------------------------

local function load_policy(what) return find.get("policy", what) end

--- A function that tries each value once.
local function once(made, name, try)
  local seen = {}
  return function(value, ...)
    local key = table.concat({ tostring(value), ... }, "\n")
    if value == nil or seen[key] then return end
    seen[key] = true
    local ok, problem = xpcall(try, core.message_handler, value, ...)
    if not ok then refuse(made, name, value, problem) end
  end
end

local function check_names(made)
  local config = once(made, "config", function(value) find.get("config", value) end)
  local host = once(made, "workload", function(value) find.get("workload", value) end)
  local program = once(made, "program", function(value) cuda.check(names.words_of_shell(value)) end)
  local capability = once(made, "capability", cuda.check_capability)
  local timed = once(made, "timed", cuda.check_launches)
  local size = once(made, "size", function(value, name) workload.resolve_size(find.get("workload", name), value) end)
  local seed = once(made, "seed", function(value, name, of)
    workload.resolve_size(find.get("workload", name), ("%s,seed=%s"):format(of, value))
  end)
  local chain = once(made, "policy", function(value) policy.chain(value, load_policy) end)
  local energy = once(made, "energy", function(value) find.get("technology", value) end)
  local memory = once(made, "memory", function(value) core.quantity(value, "bytes") end)
  local forward = once(made, "fast_forward", fast_forward.read)
  local sample = once(made, "sample", sample_options.read)
  for _, entry in ipairs(made.runs) do
    local point, run = entry.point, entry.run
    config(run.config)
    program(point.program)
    capability(run.capability)
    timed(run.timed)
    if not run.program then
      host(run.workload)
      size(point.size, run.workload)
      seed(point.seed, run.workload, point.size or "medium")
    end
    chain(run.policy)
    chain(run.warm_up and run.warm_up.policy)
    energy(run.energy)
    memory(run.memory)
    forward(run.fast_forward)
    sample(run.sample)
  end
end

-- Machines --------------------------------------------------------------------------------------------------------------------------

--- Everything that comes before the first cycle. Returns whether it goes well, or false and why not.
local function try(run)
  return xpcall(function()
    run_of.check(run)
    local sim = simulation.build(run.config, { set = run.set, policy = run.policy, memory = run.memory, bounds = run.bounds })
    local gpu = sim:gpu()
    if run.max_cycles then gpu:set_cycle_limit(run.max_cycles) end
    if run.histograms then histograms.start(sim, run.histograms) end
    intervals.record(sim, nil, run)
    sim:close()
  end, core.message_handler)
end

local function key_of(entry, axis) return ("%s\n%s\n%s"):format(entry.run.config, axis, tostring(entry.point[axis])) end

--- Fields of the sweep that are of all runs, and axes, in the order in which they are left out to see which of them is to blame.
local function suspects(made)
  local list = { "stats_of", "stats_every", "histograms" }
  for _, axis in ipairs(made.axes) do
    if axis ~= "config" and axis ~= "workload" and axis ~= "program" then list[#list + 1] = axis end
  end
  list[#list + 1] = "config"
  return list
end

--- What a run that fails does not fail without, and what is wrong with that.
local function culprit(made, entry, problem)
  local without = {}
  for _, name in ipairs(suspects(made)) do
    without[name] = true
    if name == "config" then return name, problem end
    local ok, other = try(plan_of.run_without(entry, without))
    if ok then return name, problem end
    problem = other
  end
end

-- Of runs with a value that may be legal beside other values, on the same machine, and on each other one.
local MOST_TRIES <const>, MOST_ELSEWHERE <const> = 20, 4

--- An error when no run with this value can be built. A value that is wrong only beside others, or on some machines, is a matter of
-- these runs.
local function blame(made, entry, first_problem)
  local tries, name, problem = {}, culprit(made, entry, first_problem)
  for _, other in ipairs(made.runs) do
    local config = other.run.config
    local most = config == entry.run.config and MOST_TRIES or MOST_ELSEWHERE
    tries[config] = tries[config] or 0
    if other ~= entry and tries[config] < most and other.point[name] == entry.point[name] then
      tries[config] = tries[config] + 1
      if try(other.run) then return end
    end
  end
  local value = entry.point[name]
  if value == nil then value = entry.run[name] end
  refuse(made, name, value, problem)
end

local MOST_BLAMED <const> = 10 -- they cost many machines each

local function check_machines(made)
  local tried, blamed = {}, 0
  for _, entry in ipairs(made.runs) do
    local is_new = false
    for axis in pairs(entry.point) do is_new = is_new or not tried[key_of(entry, axis)] end
    if is_new and blamed < MOST_BLAMED then
      local ok, problem = try(entry.run)
      if not ok then
        blame(made, entry, problem)
        blamed = blamed + 1
      end
      for axis in pairs(entry.point) do tried[key_of(entry, axis)] = true end
    end
  end
end

--- An error for what is wrong with `made`, a plan.
function mistakes.check(made)
  check_names(made)
  check_machines(made)
end

return mistakes
