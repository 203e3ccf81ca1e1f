-- Looks for checkpoints from which a run does not go on as it would have; `help` below says how it is called.
local core = require "warpwright.core"
local load = require "warpwright.load"
local child = require "scripts.lib.child"
local command_line = require "scripts.lib.command_line"
local oracle = require "scripts.lib.resume_oracle"

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

-- Arguments ----------------------------------------------------------------------------------------------------------

local function list_of(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  return list
end

local function names_in(folder, file)
  local found = {}
  for _, entry in ipairs(core.list_folder(core.home_path(folder))) do
    local name = entry:gsub("%.lua$", "")
    if core.is_file(core.home_path(file:format(name, name))) then found[#found + 1] = name end
  end
  return found
end

local options = {
  seed = 1, size = "small", cycles = 20, chain = 10, jobs = 2,
  configs = { "gtx480", "gtx480_gpgpusim4" },
  workloads = names_in("workloads", "workloads/%s/%s.lua"),
  policies = names_in("policies", "policies/%s.lua"),
}
local numbers = { minutes = 0, seed = 0, cycles = 1, chain = 0, jobs = 1 } -- the least that is legal

local function read_option(name, value)
  command_line.value("soak", "--" .. name, value)
  if name == "size" then return value end
  if not numbers[name] then return list_of(value) end
  return command_line.whole("soak", "--" .. name, value, numbers[name])
end

local i = 1
while arg[i] do
  local name = arg[i]:match "^%-%-(.*)$"
  if name == "help" then
    io.write(help)
    os.exit(0)
  elseif name == "kill" then
    options.kill = true
    i = i + 1
  elseif name == "minutes" or options[name] then
    options[name] = read_option(name, arg[i + 1])
    i = i + 2
  else
    command_line.unknown_option("soak", arg[i])
  end
end
for _, kind in ipairs { "config", "workload", "policy" } do
  for _, name in ipairs(options[kind == "policy" and "policies" or kind .. "s"]) do
    load.get(kind, name) -- or an error that says which there are
  end
end

-- Rounds -------------------------------------------------------------------------------------------------------------

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
