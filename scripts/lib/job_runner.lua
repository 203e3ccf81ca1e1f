-- Runs job files on a machine and measures every launch.
local ww = require "warpwright"
local buffers = require "scripts.lib.buffers"
local core = require "warpwright.core"

local job_runner = {}

-- Measuring ---------------------------------------------------------------------------------------

-- Counters that are added up over all objects of a name: sm[*].l1d, l2[*], mc[*].
local wanted = {
  l1d = { "hits", "misses", "merges" },
  l2 = { "hits", "misses", "merges" },
  mc = { "data_bus_cycles", "cycles" },
}

--- The counters by "l1d.hits" and the like; what a machine lacks is 0.
local function counters(sim)
  local patterns, seen = {}, {}
  for object, names in pairs(wanted) do
    for _, name in ipairs(names) do patterns[object .. "." .. name] = {} end
  end
  for _, object in ipairs(sim:objects()) do
    local path = object.path:gsub("%[%d+%]", "[*]")
    local last = path:match "([%w_]+)[%[%]*]*$"
    for _, name in ipairs(not seen[path] and wanted[last] or {}) do
      table.insert(patterns[last .. "." .. name], path .. "." .. name)
    end
    seen[path] = true
  end
  return (core.counters(sim.machine, patterns))
end

local function ratio(a, b) return b > 0 and a / b or 0 / 0 end

local function miss_rate(counts, cache)
  local misses = counts[cache .. ".misses"]
  return ratio(misses, counts[cache .. ".hits"] + misses + counts[cache .. ".merges"])
end

--- What is printed of a launch or a whole job, of its counters. A rate without a denominator is
-- NaN.
local function figures(measured)
  local counts = measured.counts
  return {
    kernel = measured.kernel,
    cycles = measured.cycles,
    warp_instructions = measured.warp_instructions,
    thread_instructions = measured.thread_instructions,
    ipc = ratio(measured.thread_instructions, measured.cycles),
    l1d_miss_rate = miss_rate(counts, "l1d"),
    l2_miss_rate = miss_rate(counts, "l2"),
    dram_busy = ratio(counts["mc.data_bus_cycles"], counts["mc.cycles"]),
    seconds = measured.seconds,
    cycles_per_second = ratio(measured.cycles, measured.seconds),
  }
end

local function add(total, measured)
  for _, name in ipairs { "cycles", "warp_instructions", "thread_instructions", "seconds" } do
    total[name] = total[name] + measured[name]
  end
  for name, count in pairs(measured.counts) do total.counts[name] = (total.counts[name] or 0) + count end
end

-- Directives --------------------------------------------------------------------------------------

-- A job at work: sim, gpu, root, registers, addresses and bytes of buffers by name, kernels and
-- refusals (why a kernel cannot be launched) by name, and what came out.
local Run = {}
Run.__index = Run

function Run:path(file) return file:sub(1, 1) == "/" and file or self.root .. "/" .. file end

function Run:fail(step, text, ...) error(("%s:%d: "):format(self.job.path, step.line) .. text:format(...), 0) end

--- Calls a function; its errors name the line of the job and not that of this file.
function Run:attempt(step, action, ...)
  local results = table.pack(pcall(action, ...))
  if results[1] then return table.unpack(results, 2, results.n) end
  local problem = results[2]
  if type(problem) ~= "string" then error(problem, 0) end
  self:fail(step, "%s", (problem:gsub("^[^:\n]*%.lua:%d+: ", "")))
end

function Run:call(step, method, ...) return self:attempt(step, self.gpu[method], self.gpu, ...) end

function Run:allocate(step)
  self.buffers[step.name] = { address = self:call(step, "alloc", step.bytes), bytes = step.bytes }
end

function Run:load(step)
  local kernels, _, refusals = self:call(step, "load", self:path(step.file))
  for name, kernel in pairs(kernels) do self.kernels[name], self.refusals[name] = kernel, refusals[name] end
end

--- Before anything runs: a job may take hours to come to its last launch.
function Run:check_launch(step)
  self:kernel(step)
  local refusal = self.refusals[step.kernel]
  if refusal then self:fail(step, "kernel %s cannot be launched: %s", step.kernel, refusal) end
end

local fill = {
  raw = function() end,
  zero = function(run, step, address) buffers.write_zeros(run.gpu, address, step.bytes) end,
  f32 = function(run, step, address) buffers.write_f32(run.gpu, address, step.bytes // 4, step.seed) end,
  chase = function(run, step, address)
    run.gpu:write(address, buffers.chase(address, step.bytes, step.stride, step.seed))
  end,
  file = function(run, step, address)
    local path = run:path(step.file)
    local text = run:attempt(step, buffers.read_file, path)
    if not text then run:fail(step, "no file matches %s or %s.xz", path, path) end
    if #text < step.bytes then run:fail(step, "%s: expected %d bytes for the buffer, got %d", path, step.bytes, #text) end
    buffers.upload(run.gpu, address, text:sub(1, step.bytes))
  end,
}

function Run:kernel(step)
  if self.kernels[step.kernel] then return self.kernels[step.kernel] end
  local known = {}
  for name in pairs(self.kernels) do known[#known + 1] = name end
  table.sort(known)
  self:fail(step, "launch: no kernel matches '%s'; available: %s", step.kernel,
    known[1] and table.concat(known, ", ") or "none (the file has no ptx directive)")
end

local actions = {}

function actions.ptx() end -- loaded before everything else

function actions.buf(run, step) fill[step.contents](run, step, run.buffers[step.name].address) end

function actions.launch(run, step)
  local args = {}
  for i, argument in ipairs(step.args) do
    args[i] = argument.buffer and run.buffers[argument.buffer].address or argument.value
  end
  local kernel, before, seconds = run:kernel(step), run.counts, run.gpu:totals().seconds
  local measured = run:call(step, "launch", kernel, {
    grid = step.grid,
    block = step.block,
    shared = step.shared,
    registers = run.registers[step.kernel],
    args = args,
  })
  measured.seconds = run.gpu:totals().seconds - seconds
  run.counts, measured.counts = run.counters:read(), {}
  for name, count in pairs(run.counts) do measured.counts[name] = count - before[name] end
  add(run.total, measured)
  run.result.launches[#run.result.launches + 1] = figures(measured)
end

function actions.sum(run, step)
  local buffer = run.buffers[step.name]
  local function sum(element) return run.gpu:download(element, buffer.address, buffer.bytes // 4):sum() end
  run.result.sums[#run.result.sums + 1] = { name = step.name, f32 = sum "f32", i32 = sum "i32" }
end

--- A file that cannot be written is no reason to lose the figures of a long run.
function actions.dump(run, step)
  local buffer = run.buffers[step.name]
  local saved, problem = pcall(run.attempt, run, step, buffers.save, run.gpu, buffer.address, buffer.bytes,
    run:path(step.file))
  if not saved then run.result.problem = run.result.problem or problem end
end

--- Runs a job of job.read() on a new machine. `options`: root = the folder that its files are
-- relative to, registers = { kernel = per thread }, policy, set and threads as ww.build() takes
-- them, dumps = false to leave out `dump`. Returns { job =, config =, policy =, launches = list of
-- figures, sums = list of { name =, f32 =, i32 = }, memory_peak =, problem = why a dump failed, if
-- so, and the figures of all launches together }.
function job_runner.run(config, job, options)
  local sim = ww.build(config, { policy = options.policy, set = options.set, threads = options.threads })
  local gpu, counted = sim:gpu(), counters(sim)
  core.keep_host_log(gpu, false) -- jobs make no checkpoints
  local run = setmetatable({
    job = job,
    sim = sim,
    gpu = gpu,
    counters = counted,
    counts = counted:read(), -- after the launch before
    root = options.root or ".",
    registers = options.registers or {},
    buffers = {},
    kernels = {},
    refusals = {},
    total = { cycles = 0, warp_instructions = 0, thread_instructions = 0, seconds = 0.0, counts = counted:read() },
    result = { job = job.path, config = sim.name, policy = sim.policy, launches = {}, sums = {} },
  }, Run)
  -- Buffers come first, in the order of their lines, so that variables of the modules don't move
  -- them.
  for _, prepare in ipairs { { "buf", Run.allocate }, { "ptx", Run.load }, { "launch", Run.check_launch } } do
    for _, step in ipairs(job.steps) do
      if step.directive == prepare[1] then prepare[2](run, step) end
    end
  end
  for _, step in ipairs(job.steps) do
    if step.directive ~= "dump" or options.dumps ~= false then actions[step.directive](run, step) end
  end
  for name, value in pairs(figures(run.total)) do run.result[name] = value end
  run.result.memory_peak = run.gpu:totals().memory_peak
  sim:close()
  return run.result
end

return job_runner
