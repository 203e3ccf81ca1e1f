-- How fast the simulation is: the workloads and the reference jobs, each in a process of its own.
-- `help` below says how it is called.
local ww = require "warpwright"
local core = require "warpwright.core"
local gpgpusim = require "workloads.reference.gpgpusim"
local callgrind = require "scripts.lib.callgrind"
local child = require "scripts.lib.child"
local job = require "scripts.lib.job"
local job_runner = require "scripts.lib.job_runner"
local json = require "warpwright.json"

local help = [[
usage: warpwright scripts/bench.lua [--quick] [--repeat N] [--only NAME]... [--config CONFIG] [--out FILE]
                                    [--count PROGRAM]

Prints the speed of the simulation on the workloads and the reference jobs and writes it to FILE, build/bench.json by
default. Seconds are those of the simulation alone, without making inputs and checking results; those of the process are
its CPU seconds from its start to its results. Both are the median of N runs (default 5), fewer when the runs of an item
take more than 30 seconds. Ratios are to GPGPU-Sim: of the speeds, and of the CPU seconds of the processes. Peak memory is
that of the process.

  --quick            the workloads' small sizes, one run each
  --only NAME        this item, or all items of a folder such as reference; may be repeated
  --config CONFIG    the machine; default gtx480 for the workloads, gtx480_gpgpusim4 for the reference jobs
  --count PROGRAM    runs each item, workloads at their small sizes, under valgrind as well and prints how many instructions
                     this computer executes for a simulated cycle: the figure that a busy machine does not change. PROGRAM
                     is a build that valgrind can run: scons march=x86-64-v3
]]

local reference = core.home_path "workloads/reference"
local enough_seconds = 30 -- of runs of one item

local items = {}
for _, name in ipairs { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" } do
  items[#items + 1] = { name = name, workload = name }
end
for _, name in ipairs { "vecadd", "sgemm", "syrk", "spmv", "rdstream", "fmaloop" } do
  items[#items + 1] = { name = "reference/" .. name, job = name }
end

items[#items + 1] = { name = "launches", launches = 500 }

--- The reference jobs run like for like: on the machine whose figures stand beside them.
local function config_of(item, options) return options.config or item.job and "gtx480_gpgpusim4" or "gtx480" end

local function usage_error(text, ...) error("bench: " .. text:format(...) .. "; see scripts/bench.lua --help", 0) end

-- One run, in a process of its own ----------------------------------------------------------------

--- The most memory that this process has had.
local function peak_bytes()
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match "^VmHWM:%s*(%d+) kB"
    if kilobytes then return 1024 * math.tointeger(tonumber(kilobytes)) end
  end
  return 0
end

local function run_workload(item, options)
  local r = ww.run { config = config_of(item, options), workload = item.workload, size = options.size, out = false }
  return { cycles = r.cycles, warp_instructions = r.warp_instructions, thread_instructions = r.thread_instructions,
    seconds = r.seconds, device_bytes = r.memory_peak }
end

local function run_reference_job(item, options)
  local r = job_runner.run(config_of(item, options), job.read(("%s/jobs/%s.job"):format(reference, item.job)), {
    root = reference,
    registers = job.read_registers(reference .. "/regs.txt"),
    dumps = false,
  })
  return { cycles = r.cycles, warp_instructions = r.warp_instructions, thread_instructions = r.thread_instructions,
    seconds = r.seconds, device_bytes = r.memory_peak }
end

--- Many launches of 1,024 threads: what is not the kernel weighs most. --size changes nothing.
local function run_launches(item, options)
  local gpu = ww.build(config_of(item, options)):gpu()
  local kernel, n = gpu:load(core.home_path "workloads/vecadd/vecadd.ptx").vecadd, 1024
  local a, b, c = gpu:upload(ww.array("f32", n)), gpu:upload(ww.array("f32", n)), gpu:alloc(4 * n)
  for _ = 1, item.launches do gpu:launch(kernel, { grid = n // 256, block = 256, args = { a, b, c, n } }) end
  local totals = gpu:totals()
  return { cycles = totals.cycles, warp_instructions = totals.warp_instructions, thread_instructions = totals.thread_instructions,
    seconds = totals.seconds, device_bytes = totals.memory_peak }
end

--- What the child process does: prints the figures of one run as JSON.
local function run_item(item, options)
  local run = item.workload and run_workload or item.job and run_reference_job or run_launches
  local figures = run(item, options)
  figures.peak_bytes, figures.process_seconds = peak_bytes(), os.clock()
  io.write(json.encode(figures))
end

-- All runs ----------------------------------------------------------------------------------------

local function run_in_child(item, options)
  local text = child.output { arg[-1], arg[0], "--item", item.name, "--size", options.size, "--config",
    config_of(item, options) }
  if not text then error("bench: the run of " .. item.name .. " failed", 0) end
  return json.decode(text)
end

--- Instructions of this computer for each simulated cycle, of all of the small run.
local function count_instructions(item, options)
  local printed, counts = callgrind.run(options.count, item.name, config_of(item, options))
  return callgrind.total(counts) / json.decode(printed).cycles
end

local function median(values)
  table.sort(values)
  local middle = #values // 2 + 1
  return #values % 2 == 1 and values[middle] or (values[middle - 1] + values[middle]) / 2
end

local function check_same(item, first, again)
  for _, name in ipairs { "cycles", "warp_instructions", "thread_instructions" } do
    if first[name] ~= again[name] then
      error(("bench: %s: %s: expected the same in two runs, got %d and %d"):format(item.name, name, first[name], again[name]), 0)
    end
  end
end

--- Runs an item again and again; returns the figures that go to JSON.
local function measure(item, options)
  local seconds, process_seconds, spent, result = {}, {}, 0, nil
  repeat
    local figures = run_in_child(item, options)
    if result then
      check_same(item, result, figures)
      figures.peak_bytes = math.max(figures.peak_bytes, result.peak_bytes)
    end
    result = figures
    seconds[#seconds + 1], process_seconds[#seconds + 1] = figures.seconds, figures.process_seconds
    spent = spent + figures.seconds
  until #seconds == options.repeats or spent > enough_seconds

  result.name, result.config, result.runs = item.name, config_of(item, options), #seconds
  result.size = item.workload and options.size
  result.seconds, result.process_seconds = median(seconds), median(process_seconds)
  for _, what in ipairs { "cycles", "warp_instructions", "thread_instructions" } do
    result[what .. "_per_second"] = result[what] / result.seconds
  end
  if options.count then result.host_instructions_per_cycle = count_instructions(item, options) end
  local field = item.job and gpgpusim.jobs[item.job]
  if field then
    result.gpgpusim_cycles, result.gpgpusim_cycles_per_second = field.cycles, field.cycles_per_second
    result.speed_ratio, result.process_ratio = result.cycles_per_second / field.cycles_per_second, field.seconds / result.process_seconds
  end
  return result
end

-- Printing ----------------------------------------------------------------------------------------

local columns = "%-18s %5s %10s %11s %10s %12s %8s %8s %10s %11s %10s %10s %8s %10s %7s %7s"

local function print_head(options)
  print(("workloads at %s on %s, reference jobs on %s; speeds are of the simulation, process seconds of CPU; GPGPU-Sim 4.2 as in %s"):format(
    options.size, config_of({}, options), config_of({ job = true }, options), reference .. "/gpgpusim.lua"))
  print(columns:format("", "", "", "GPGPU-Sim", "warp", "thread", "", "process", "", "host instr.", "warp", "thread", "peak",
    "GPGPU-Sim", "", "process"))
  print(columns:format("name", "runs", "cycles", "cycles", "instr.", "instr.", "seconds", "seconds", "cycles/s", "per cycle",
    "instr./s", "instr./s", "MB", "cycles/s", "ratio", "ratio"))
end

local function print_row(r)
  local function millions(value) return ("%.2f M"):format(value / 1e6) end
  print(columns:format(r.name, r.runs, r.cycles, r.gpgpusim_cycles or "", r.warp_instructions, r.thread_instructions,
    ("%.3f"):format(r.seconds), ("%.3f"):format(r.process_seconds), ("%.0f"):format(r.cycles_per_second),
    r.host_instructions_per_cycle and ("%.0f"):format(r.host_instructions_per_cycle) or "-", millions(r.warp_instructions_per_second),
    millions(r.thread_instructions_per_second), ("%.0f"):format(r.peak_bytes / 1e6),
    r.gpgpusim_cycles_per_second or "", r.speed_ratio and ("%.1f"):format(r.speed_ratio) or "",
    r.process_ratio and ("%.1f"):format(r.process_ratio) or ""))
end

-- Command line ------------------------------------------------------------------------------------

local takes_value = { ["--repeat"] = true, ["--only"] = true, ["--config"] = true, ["--out"] = true, ["--count"] = true,
  ["--item"] = true, ["--size"] = true }

local function read_arguments(args)
  local options = { size = "medium", repeats = 5, out = "build/bench.json", only = {} }
  local i = 1
  while args[i] do
    local name, value = args[i], args[i + 1]
    if takes_value[name] then
      i = i + 1
      if not value then usage_error("%s: expected a value, got nothing", name) end
    end
    if name == "--quick" then
      options.size, options.repeats = "small", 1
    elseif name == "--only" then
      table.insert(options.only, value)
    elseif name == "--repeat" then
      options.repeats = math.tointeger(tonumber(value)) or 0
      if options.repeats < 1 then usage_error("--repeat: expected a whole number from 1 on, got '%s'", value) end
    elseif takes_value[name] then
      options[name:sub(3)] = value
    else
      usage_error("unknown option '%s'", name)
    end
    i = i + 1
  end
  return options
end

local function is_wanted(item, only)
  if not only[1] then return true end
  for _, name in ipairs(only) do
    if item.name == name or item.name:sub(1, #name + 1) == name .. "/" then return true end
  end
  return false
end

local function bench(options)
  local wanted, results = {}, {}
  for _, item in ipairs(items) do
    if is_wanted(item, options.only) then wanted[#wanted + 1] = item end
  end
  if not wanted[1] then
    local names = {}
    for i, item in ipairs(items) do names[i] = item.name end
    usage_error("--only: no item matches; available: %s", table.concat(names, ", "))
  end
  print_head(options)
  for i, item in ipairs(wanted) do
    results[i] = measure(item, options)
    print_row(results[i])
    io.stdout:flush()
  end
  local folder = options.out:match "^(.+)/"
  if folder then core.make_folder(folder) end
  json.write(options.out, results)
  print("written to " .. options.out)
end

if arg[1] == "--help" or arg[1] == "-h" then
  io.write(help)
  return
end

local options = read_arguments(arg)
if options.item then
  local found
  for _, item in ipairs(items) do
    if item.name == options.item then found = item end
  end
  run_item(found or usage_error("--item: no item matches '%s'", options.item), options)
else
  bench(options)
end
