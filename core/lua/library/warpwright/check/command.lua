-- warpwright check: what every policy must keep. Its statistics do not depend on tick order, threads and resumes, and without anything
-- to do they are its baseline's.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local cuda = require "warpwright.cuda"
local inputs = require "warpwright.inputs"
local load = require "warpwright.load"
local names = require "warpwright.names"
local new_case = require "warpwright.check.case"
local policy = require "warpwright.policy"
local simulation = require "warpwright.simulation"
local workload = require "warpwright.workload"

local command = {}

-- The command line ----------------------------------------------------------------------------------------------------

local function usage_error(...) arguments.error("check", ...) end

local function list_of(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  return list
end

local function whole(option, text, least)
  local value = math.tointeger(tonumber(text))
  if not value or value < least then usage_error("%s: expected a whole number from %d on, got '%s'", option, least, text) end
  return value
end

local function orders_of(text)
  local orders = list_of(text)
  for _, order in ipairs(orders) do
    if order ~= "path" and order ~= "reversed" and order ~= "restless" and not order:find "^shuffled:%d+$" then
      usage_error("--order: expected path, reversed, restless or shuffled:SEED, got '%s'", order)
    end
  end
  return orders
end

local function threads_of(text)
  local threads = list_of(text)
  for i, count in ipairs(threads) do threads[i] = whole("--threads", count, 1) end
  return threads
end

local ORDER_OF_MACHINES <const> = "reversed,shuffled:1,restless" -- in which no object sleeps through its work
local DEFAULTS <const> = { size = "small", order = "reversed,shuffled:1", threads = "2", checkpoints = "4", seed = "1" }

--- A CUDA program's words stand behind "--", and it has what workloads have not, and the other way round.
local function check_host_program(o, words)
  local wanted = o.cuda and "CONFIG in front of -- PROGRAM" or "CONFIG and WORKLOAD[,WORKLOAD...], or CONFIG -- PROGRAM"
  if #words ~= (o.cuda and 1 or 2) then usage_error("expected %s, got %d argument%s", wanted, #words, #words == 1 and "" or "s") end
  if o.cuda and not o.cuda[1] then usage_error "expected a program behind --, got nothing" end
  for _, name in ipairs(o.cuda and { "size" } or { "capability", "launches" }) do
    if o[name] then usage_error("--%s: expected a %s with it, got a %s", name, o.cuda and "workload" or "CUDA program behind --",
      o.cuda and "CUDA program" or "workload") end
  end
end

--- Errors for host programs that cannot run.
local function require_host_programs(o)
  if not o.cuda then
    for _, name in ipairs(o.workloads) do workload.resolve_size(load.get("workload", name), o.size) end
    return
  end
  cuda.check(o.cuda)
  if o.capability then cuda.check_capability(o.capability) end
  if o.launches then cuda.check_launches(o.launches) end
end

local function read_arguments(args, first)
  local last, program = arguments.before_dashes(args, first)
  local o, words = arguments.read("check", args, first, last)
  o.cuda = program
  check_host_program(o, words)
  if not o.policy and (o.off or o.base) then usage_error("--%s: expected --policy with it, got none", o.off and "off" or "base") end
  o.order = o.order or not o.policy and ORDER_OF_MACHINES or nil
  for name, value in pairs(DEFAULTS) do o[name] = o[name] or value end
  o.config, o.workloads = words[1], program and { cuda.name_of(program) } or list_of(words[2])
  o.orders, o.threads = orders_of(o.order), threads_of(o.threads)
  o.checkpoints, o.seed = whole("--checkpoints", o.checkpoints, 0), whole("--seed", o.seed, 0)
  o.jobs = o.jobs and whole("--jobs", o.jobs, 1) or core.host().cores
  if o.out == "" then usage_error "--out: expected a folder, got nothing" end
  return o
end

-- What is compared ----------------------------------------------------------------------------------------------------

--- The chain of a policy that can be built on the machine; errors are the user's.
local function chain_of(o, specification)
  local sim = simulation.build(o.config, { policy = specification, set = o.set })
  local chain = sim.policies
  sim:close()
  return chain
end

--- What a chain stands on: the policy of the order that it begins with, or nil.
local function base_of(chain)
  for i = #chain, 1, -1 do
    local definition = chain[i].definition
    local order = definition.settings.order
    if order and core.is_file(core.home_path(("policies/%s.lua"):format(order))) then return order end
    if order then usage_error("--base: expected a policy, got none, and none is named like the order of policy %s, '%s'", definition.name, order) end
  end
end

--- Sets what is off and its baseline: nil, nothing is compared with one. An observer is always off.
local function find_baseline(o, chain)
  if not o.off and not o.base then return end
  o.base = o.base or base_of(chain)
  o.off = o.off and policy.with_params(o.policy, o.off) or o.policy
  chain_of(o, o.off)
  if o.base then chain_of(o, o.base) end
end

--- 0 for each counter of the policies, by "POLICY.COUNTER".
local function counters_of(chain)
  local sums, list = {}, {}
  for _, entry in ipairs(chain) do
    for _, counter in ipairs(names.sorted_keys(entry.definition.counters)) do
      local name = ("%s.%s"):format(entry.definition.name, counter)
      sums[name], list[#list + 1] = 0, name
    end
  end
  return sums, list
end

-- Folders -------------------------------------------------------------------------------------------------------------

--- Where the runs go, and whether they are to be removed.
local function open_folder(out)
  if out then
    inputs.make_folders(out)
    return out, false
  end
  local parent, n = os.getenv "TMPDIR" or "/tmp", core.process()
  while not core.make_folder(("%s/warpwright-check-%d"):format(parent, n)) do n = n + 1 end
  return ("%s/warpwright-check-%d"):format(parent, n), true
end

-- The command ----------------------------------------------------------------------------------------------------------

local function say(line)
  print(line)
  io.stdout:flush()
end

local function say_counters(sums, list)
  if not list[1] then return 0 end
  say "counters, of all instances and workloads"
  local still = 0
  for _, name in ipairs(list) do
    still = still + (sums[name] == 0 and 1 or 0)
    say(("  %-56s %d%s"):format(name, sums[name], sums[name] == 0 and "   warning: it never moved" or ""))
  end
  return still
end

local function check_all(o, chain)
  say(o.policy and ("policy %s on %s"):format(o.policy, o.config) or "machine " .. o.config)
  local sums, list = counters_of(chain)
  local total = { comparisons = 0, differences = 0, warnings = 0 }
  for _, name in ipairs(o.workloads) do
    local case = new_case(name, o.folder, o)
    local status = case:check(sums)
    if status then return status end
    for key, value in pairs(total) do total[key] = value + case[key] end
  end
  total.warnings = total.warnings + say_counters(sums, list)
  say(("%d comparisons, %d difference%s, %d warning%s"):format(total.comparisons, total.differences, total.differences == 1 and "" or "s",
    total.warnings, total.warnings == 1 and "" or "s"))
  return total.differences > 0 and 1 or 0
end

function command.main(args, first)
  local o = read_arguments(args, first)
  require_host_programs(o)
  local chain = chain_of(o, o.policy)
  find_baseline(o, chain)
  local is_temporary
  o.say, o.told, o.program = say, {}, args[0]
  core.supervise()
  o.folder, is_temporary = open_folder(o.out)
  o.shown_folder = o.out or "out/check"
  local _ <close> = setmetatable({}, { __close = function()
    if is_temporary then os.execute("rm -rf " .. names.shell_word(o.folder)) end
  end })
  return check_all(o, chain)
end

return command
