-- Runs the reference jobs and prints their figures beside GPGPU-Sim 4.2's; `help` below says how it
-- is called.
local core = require "warpwright.core"
local gpgpusim = require "workloads.reference.gpgpusim"
local command_line = require "scripts.lib.command_line"
local job = require "scripts.lib.job"
local job_runner = require "scripts.lib.job_runner"
local json = require "warpwright.json"

local help = [[
usage: scripts/agreement [--config CONFIG] [--only NAME[,NAME]...]... [--json FILE]

Runs the reference jobs on a machine and prints what each launch cost beside what GPGPU-Sim 4.2 took for it, as in
workloads/reference/gpgpusim.lua. A * marks what is further away than the tolerance; it is no error.

  --config CONFIG    the machine; default gtx480_gpgpusim4
  --only NAME        this job, or this chase (chase_l1, chase_l2, chase_dramseq, chase_dramrand); may be repeated
  --json FILE        writes the comparisons there
]]

-- Comparing ---------------------------------------------------------------------------------------

-- How a figure is printed, and whether its difference is the relative one. Differences of rates are
-- absolute.
local figures = {
  cycles = { form = "%d", relative = true },
  warp_instructions = { form = "%d", relative = true },
  load_latency = { form = "%.1f", relative = true },
  l1d_miss_rate = { form = "%.4f" },
  l2_miss_rate = { form = "%.4f" },
  dram_busy = { form = "%.4f" },
}

--- A rate without a denominator is NaN, which is outside every tolerance.
local function compare(job_name, launch, figure, tolerance, ours, theirs)
  local difference = figures[figure].relative and ours / theirs - 1 or ours - theirs
  return {
    job = job_name,
    launch = launch,
    figure = figure,
    ours = ours,
    theirs = theirs,
    difference = difference,
    tolerance = tolerance,
    outside = not (math.abs(difference) <= tolerance),
  }
end

-- Runs --------------------------------------------------------------------------------------------

local reference = core.home_path "workloads/reference"
local registers = job.read_registers(reference .. "/regs.txt")

--- Runs a job; returns what came out, and the names of its launches: "2 own_bank(1,16)", with the
-- numbers among the arguments, by which the launches of a stressor differ.
local function run(config, name)
  local parsed, names = job.read(("%s/jobs/%s.job"):format(reference, name)), {}
  for _, step in ipairs(parsed.steps) do
    if step.directive == "launch" then
      local numbers = {}
      for _, argument in ipairs(step.args) do numbers[#numbers + 1] = argument.value end
      names[#names + 1] = ("%d %s(%s)"):format(#names + 1, step.kernel, table.concat(numbers, ","))
    end
  end
  return job_runner.run(config, parsed, { root = reference, registers = registers, dumps = false }), names
end

local function compare_job(config, name)
  local r, names = run(config, name)
  local rows = {}
  local function add(figure, tolerance)
    local theirs = gpgpusim.jobs[name][figure]
    if theirs then rows[#rows + 1] = compare(name, names[1], figure, tolerance, r[figure], theirs) end
  end
  add("cycles", 0.10)
  add("warp_instructions", 0)
  add("l1d_miss_rate", 0.03)
  add("l2_miss_rate", 0.03)
  add("dram_busy", 0.03)
  return rows
end

local function compare_launches(config, name)
  local r, names = run(config, name)
  local rows = {}
  for i, theirs in ipairs(gpgpusim.launch_cycles[name]) do
    rows[i] = compare(name, names[i], "cycles", 0.15, r.launches[i].cycles, theirs)
  end
  return rows
end

local function compare_latency(config, name)
  local long, short = run(config, name .. "_128"), run(config, name .. "_64")
  local loads = (128 - 64) * 16
  local theirs = gpgpusim.load_latency[name:match "^chase_(.+)$"]
  return { compare(name, "128 less 64", "load_latency", 0.05, (long.cycles - short.cycles) / loads, theirs) }
end

local sections = {
  {
    title = "Jobs; tolerances: cycles 10 %, warp instructions 0, miss rates and DRAM busy 0.03",
    names = { "vecadd", "sgemm", "syrk", "spmv", "rdstream", "fmaloop" },
    rows_of = compare_job,
  },
  {
    title = "Stressors, launch by launch; tolerance 15 %",
    names = { "own_bank", "own_bank32w", "own_diverge2", "own_diverge", "own_atom" },
    rows_of = compare_launches,
  },
  {
    title = "Dependent loads, core cycles each; tolerance 5 %",
    names = { "chase_l1", "chase_l2", "chase_dramseq", "chase_dramrand" },
    rows_of = compare_latency,
  },
}

-- Printing ----------------------------------------------------------------------------------------

local columns = "%-14s  %-26s  %-18s %11s %11s %12s %s"

local function print_row(row)
  local figure = figures[row.figure]
  local function text(form, value) return value == value and form:format(value) or "-" end
  local difference = figure.relative and text("%+.1f %%", 100 * row.difference) or text("%+.4f", row.difference)
  local line = columns:format(row.job, row.launch, row.figure, text(figure.form, row.ours),
    text(figure.form, row.theirs), difference, row.outside and "*" or "")
  print((line:gsub("%s+$", "")))
end

local function print_head(section)
  print("\n" .. section.title)
  print((columns:format("job", "launch", "figure", "ours", "GPGPU-Sim", "difference", ""):gsub("%s+$", "")))
end

-- Command line ------------------------------------------------------------------------------------

local function read_arguments(args)
  local known = { ["--config"] = true, ["--only"] = true, ["--json"] = true }
  local options = { config = "gtx480_gpgpusim4", only = {} }
  for i = 1, #args, 2 do
    local name, value = args[i], args[i + 1]
    if not known[name] then command_line.unknown_option("agreement", name) end
    command_line.value("agreement", name, value)
    if name == "--only" then
      for wanted in value:gmatch "[^,]+" do table.insert(options.only, wanted) end
    elseif name == "--json" then
      options.json = command_line.output(value, nil, name, "agreement")
    else
      options.config = value
    end
  end
  return options
end

--- An error if a name of `only` is none of those that can run.
local function check_names(only)
  local known, names = {}, {}
  for _, section in ipairs(sections) do
    for _, name in ipairs(section.names) do
      known[name], names[#names + 1] = true, name
    end
  end
  for _, name in ipairs(only) do
    if not known[name] then command_line.no_match("agreement", "--only", "job", name, names) end
  end
end

--- The names of a section that are to run.
local function wanted_names(section, only)
  if not only[1] then return section.names end
  local names, wanted = {}, {}
  for _, name in ipairs(only) do wanted[name] = true end
  for _, name in ipairs(section.names) do
    if wanted[name] then names[#names + 1] = name end
  end
  return names
end

local function agreement(options)
  check_names(options.only)
  local rows, outside = {}, 0
  print(("%s beside GPGPU-Sim 4.2"):format(options.config))
  for _, section in ipairs(sections) do
    for i, name in ipairs(wanted_names(section, options.only)) do
      if i == 1 then print_head(section) end
      for _, row in ipairs(section.rows_of(options.config, name)) do
        rows[#rows + 1] = row
        if row.outside then outside = outside + 1 end
        print_row(row)
      end
      io.stdout:flush()
    end
  end
  if options.json then json.write(options.json, rows) end
  print(("\n%d compared, %d outside"):format(#rows, outside))
end

if arg[1] == "--help" or arg[1] == "-h" then
  io.write(help)
  return
end

agreement(read_arguments(arg))
