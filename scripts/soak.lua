-- Looks for checkpoints from which a run does not go on as it would have; `help` below says how it
-- is called.
local core = require "warpwright.core"
local child = require "scripts.lib.child"
local command_line = require "scripts.lib.command_line"
local oracle = require "scripts.lib.resume_oracle"
local preparation = require "scripts.lib.preparation"

local help = [[
usage: scripts/soak [--minutes N] [--seed S] [--kill] [--configs C,...] [--workloads W,...] [--policies P,...]
                    [--size SIZE] [--cycles N] [--chain N] [--jobs N]

Runs every workload on every machine under every policy, saved at random cycles, each checkpoint resumed in a new
process; and saved, resumed, saved later and so on. Threads and tick order are random on either side. Stats, device
memory and verification must be those of a run that was never stopped.

  --minutes N     go on with other random numbers until so many minutes are over; default: one round
  --seed S        of the random numbers, default 1; round R has seed S + R - 1
  --kill          kills runs that save often at random moments, and resumes every checkpoint that they leave
  --configs ...   default gtx480,gtx480_gpgpusim4
  --workloads ... default: all
  --policies ...  default: all in policies/
  --size SIZE     default small
  --cycles N      checkpoints of a run, or with --kill kills; default 20
  --chain N       checkpoints of a chain; default 10, 0: none
  --jobs N        processes at a time, default 2

A line for each difference, with what repeats it; the last line is `N resumes, M unequal`. Exit status 0: none unequal.
]]

-- Arguments ---------------------------------------------------------------------------------------

local function names_in(folder, file)
  local found = {}
  for _, entry in ipairs(core.list_folder(core.home_path(folder))) do
    local name = entry:gsub("%.lua$", "")
    if core.is_file(core.home_path(file:format(name, name))) then found[#found + 1] = name end
  end
  return found
end

local function read_arguments(args)
  local options = {
    seed = 1, size = "small", cycles = 20, chain = 10, jobs = 2,
    configs = { "gtx480", "gtx480_gpgpusim4" },
    workloads = names_in("workloads", "workloads/%s/%s.lua"),
    policies = names_in("policies", "policies/%s.lua"),
  }
  local count <const>, list <const> = command_line.count, command_line.words
  local words = command_line.read("soak", args, options, {
    minutes = count(0), seed = count(0), kill = command_line.flag, configs = list, workloads = list,
    policies = command_line.policies, size = command_line.text, cycles = count(1), chain = count(0), jobs = count(1),
  })
  if words[1] then command_line.expected_arguments("soak", "options", #words) end
  for _, name in ipairs(options.configs) do preparation.find("config", name) end
  for _, name in ipairs(options.workloads) do preparation.check_workload(name, options.size) end
  preparation.check_policy_names(options.policies)
  return options
end

if command_line.helped(arg, help) then return end
local options = read_arguments(arg)

-- Rounds ------------------------------------------------------------------------------------------

local folder = os.tmpname()
os.remove(folder)
core.make_folder(folder)

local started, resumes, unequal, killed = os.time(), 0, 0, 0

local function report(line)
  print(line)
  io.stdout:flush()
end

local function soak(seed, config, workload, policy)
  local case = oracle.case {
    folder = folder, jobs = options.jobs, threaded = 40, seed = seed, report = report,
    config = config, workload = workload, size = options.size, policy = policy,
  }
  if not case.problem and options.kill then
    killed = killed + case:kill_often(options.cycles)
  elseif not case.problem then
    case:resume_everywhere(options.cycles)
    if options.chain > 0 then case:resume_in_a_chain(options.chain) end
  end
  resumes, unequal = resumes + case.resumes, unequal + case.unequal
  case:close()
  report(("%s, seed %d: %d resumes, %d unequal"):format(case.name, seed, case.resumes, case.unequal))
end

local function is_over() return options.minutes and os.time() - started >= 60 * options.minutes end

local function run_round(seed)
  for _, config in ipairs(options.configs) do
    for _, workload in ipairs(options.workloads) do
      for _, policy in ipairs(options.policies) do
        soak(seed, config, workload, policy)
        if is_over() then return end
      end
    end
  end
end

local seed = options.seed
repeat
  run_round(seed)
  seed = seed + 1
until not options.minutes or is_over()

os.execute("rm -rf " .. child.quoted(folder))
if options.kill then print(("%d runs were killed before their end"):format(killed)) end
print(("%d resumes, %d unequal"):format(resumes, unequal))
os.exit(unequal == 0 and 0 or 1)
