-- Runs job files and prints what every launch cost; `help` below says how it is called.
local command_line = require "scripts.lib.command_line"
local job = require "scripts.lib.job"
local job_runner = require "scripts.lib.job_runner"
local json = require "warpwright.json"

local help = [[
usage: scripts/run_job [options] CONFIG JOB...

Runs the kernel launches of each job file on a machine of its own and prints, for every launch and in total, cycles,
instructions, IPC (thread instructions per cycle), the part of the accesses to L1D and L2 that missed, the part of
the time in which the DRAM's data buses moved data, and the speed of the simulation. workloads/reference/README.md
describes job files.

options:
  --root FOLDER      what file names in the jobs are relative to; default: the current folder
  --regs FILE        registers per thread, in lines KERNEL N; default: what each kernel needs
  --policy POLICY    the warp scheduling policy; default: as the config says
  --set PATH=VALUE   a parameter of the machine; may be repeated
  --json FILE        writes the figures there: a list of jobs, each with its launches and sums
  --threads N        host threads, default 1; they change no result
]]

local options = {
  ["--root"] = "root",
  ["--regs"] = "regs",
  ["--policy"] = "policy",
  ["--set"] = "set",
  ["--json"] = "json",
  ["--threads"] = "threads",
}

local function read_arguments(args)
  local given, i = { set = {} }, 1
  while args[i] do
    local word = args[i]
    if word:sub(1, 1) == "-" then
      local name, value = word:match("^(%-%-[^=]+)=(.*)$")
      name = name or word
      local option = options[name] or command_line.unknown_option("run_job", name)
      if not value then
        i = i + 1
        value = command_line.value("run_job", name, args[i])
      end
      if option == "set" then
        table.insert(given.set, value)
      else
        given[option] = value
      end
    else
      given[#given + 1] = word
    end
    i = i + 1
  end
  if #given < 2 then command_line.expected_arguments("run_job", "CONFIG and JOB...", #given) end
  return given
end

-- Printing ----------------------------------------------------------------------------------------

local head = { "launch", "cycles", "warp instr.", "thread instr.", "IPC", "L1D miss", "L2 miss", "DRAM busy", "seconds",
  "cycles/s" }
local columns = "%-24s %11s %11s %13s %8s %8s %8s %9s %8s %11s"

local function fraction(value) return value == value and ("%.4f"):format(value) or "-" end

local function print_figures(name, f)
  print(columns:format(name, f.cycles, f.warp_instructions, f.thread_instructions, ("%.2f"):format(f.ipc),
    fraction(f.l1d_miss_rate), fraction(f.l2_miss_rate), fraction(f.dram_busy), ("%.3f"):format(f.seconds),
    ("%.0f"):format(f.cycles_per_second)))
end

local function print_result(r)
  print(("%s on %s, policy %s"):format(r.job, r.config, r.policy))
  print(columns:format(table.unpack(head)))
  for i, launch in ipairs(r.launches) do print_figures(("%d %s"):format(i, launch.kernel), launch) end
  print_figures("total", r)
  for _, sum in ipairs(r.sums) do
    print(("sum of %s: %.9g as f32, %d as i32"):format(sum.name, sum.f32, sum.i32))
  end
  print()
end

if arg[1] == "--help" or arg[1] == "-h" then
  io.write(help)
  return
end

local given = read_arguments(arg)
local registers = given.regs and job.read_registers(given.regs)
local jobs, results = {}, {}
for i = 2, #given do jobs[#jobs + 1] = job.read(given[i]) end
for i, parsed in ipairs(jobs) do
  results[i] = job_runner.run(given[1], parsed, {
    root = given.root,
    registers = registers,
    policy = given.policy,
    set = given.set,
    threads = given.threads,
  })
  print_result(results[i])
end

if given.json then json.write(given.json, results) end
for _, result in ipairs(results) do
  if result.problem then error(result.problem, 0) end
end
