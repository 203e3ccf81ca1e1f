-- warpwright cpi RUN [RUN]: where the cycles went. Each issue slot of each scheduler is counted once in every cycle, as issued or by
-- what it was lost to; so the parts of a stack add up to the cycles of the run exactly, and those of two to their difference.
local arguments = require "warpwright.arguments"
local core = require "warpwright.core"
local stored_run = require "warpwright.stored_run"

local cpi = {}

local function usage_error(...) arguments.error("cpi", ...) end

-- Stacks -------------------------------------------------------------------------------------------------------------
-- { parts = { component -> slots }, order = components, all = slots, cycles =, instructions = or nil, title =, launch = its number or nil }

local function new_stack(title) return { title = title, parts = {}, order = {}, all = 0, cycles = 0 } end

local function add(stack, component, slots)
  if not stack.parts[component] then
    stack.order[#stack.order + 1] = component
    stack.parts[component] = 0
  end
  stack.parts[component] = stack.parts[component] + slots
  stack.all = stack.all + slots
end

local function component_of(name) return name:match "^(.*)%.slots_([%w_]+)$" end

--- Cycles of a component: its slots, over those of a cycle.
local function cycles_of(stack, component)
  return stack.all > 0 and (stack.parts[component] or 0) * stack.cycles / stack.all or 0
end

-- A run --------------------------------------------------------------------------------------------------------------

--- Of the slots of SMs, the share of those in which messages drained behind the last kernel: run.cycles ends with it.
local function drained_share(sms, values)
  for _, sm in ipairs(sms) do
    local ipc = values[sm.title .. ".ipc"]
    if ipc and ipc > 0 then
      local counted = math.floor(values[sm.title .. ".thread_instructions"] / ipc + 0.5)
      return math.max(0, counted - sm.cycles) / counted
    end
  end
  return 0
end

--- In these an SM has no warp any more.
local function leave_out_drained(stack, share)
  local drained = math.min(share * stack.all, stack.parts.idle or 0)
  if drained > 0 then stack.parts.idle, stack.all = stack.parts.idle - drained, stack.all - drained end
end

--- The stack of all SMs, and those of each, by path and as a list, of a run's statistics.
local function stacks_of_sms(list, values, title)
  local whole, sms = new_stack(title), {}
  whole.cycles, whole.instructions = values["run.cycles"], values["run.warp_instructions"]
  for _, name in ipairs(list) do
    local object, component = component_of(name)
    if object and values[object .. ".slots_issued"] then -- policies may count what is called like it
      local sm = sms[object] or new_stack(object)
      if not sms[object] then sms[object], sms[#sms + 1] = sm, sm end
      sm.cycles, sm.instructions = values["run.cycles"], values[object .. ".warp_instructions"]
      add(sm, component, values[name])
      add(whole, component, values[name])
    end
  end
  local share = drained_share(sms, values)
  leave_out_drained(whole, share)
  for _, sm in ipairs(sms) do leave_out_drained(sm, share) end
  return whole, sms
end

--- For reports: the stack of all SMs.
function cpi.whole_of(list, values) return (stacks_of_sms(list, values)) end

--- Patterns of the objects that have slots: sm[*].
local function patterns_of(sms)
  local patterns, seen = {}, {}
  for _, sm in ipairs(sms) do
    local pattern = sm.title:gsub("%[%d+%]", "[*]")
    if not seen[pattern] then patterns[#patterns + 1] = pattern end
    seen[pattern] = true
  end
  return patterns
end

local function read_run(path)
  local list, values = stored_run.read_stats(path, "cpi")
  if not values["run.cycles"] then core.user_error(("cpi: %s: expected the statistic run.cycles, got a damaged file"):format(path)) end
  local inputs = stored_run.read_inputs(path)
  local title = ("%s %s %s %s"):format(inputs.machine or "?", inputs.workload or "?", (inputs.size or "?"):match "^%S+", inputs.policy or "?")
  local run = { path = path, title = title, list = list, values = values }
  run.whole, run.sms = stacks_of_sms(list, values, title)
  run.patterns = patterns_of(run.sms)
  if not run.whole.order[1] then
    core.user_error(("cpi: %s: expected statistics of SMs, got none: run it with --stats all or packed"):format(path))
  end
  return run
end

--- Of each launch: the number of the first and of the last one that it was launched together with, from 0 on, and the core cycle in
-- which the last of them ends.
local function launches_of(run)
  local launches, i = {}, 0
  while run.values[("launch[%d].cycles"):format(i)] do
    local name = ("launch[%d]."):format(i)
    local first = run.values[name .. "together"] or i
    local ends = (run.values[name .. "start_cycle"] or 0) + run.values[name .. "cycles"]
    local group = launches[first + 1] or { first = i, ends = ends }
    group.last, group.ends = i, math.max(group.ends, ends)
    launches[i + 1] = group
    i = i + 1
  end
  return launches
end

local function title_of(launch)
  return launch.last > launch.first and ("launches %d to %d"):format(launch.first, launch.last) or ("launch %d"):format(launch.first)
end

--- The launches' stacks without anything in them, but none of those that ended before the intervals begin.
local function stacks_from(begin, launches)
  local stacks = {}
  for i, launch in ipairs(launches) do
    if launch.first == i - 1 and (begin == 0 or launch.ends > begin) then
      local stack = new_stack(title_of(launch))
      stack.launch, stack.last = launch.first, launch.last
      stacks[#stacks + 1] = stack
    end
  end
  return stacks
end

--- Adds an interval's slots to a stack; returns the names of those that it does not have.
local function add_interval(stack, run, row)
  local missing = {}
  for _, object in ipairs(run.patterns) do
    for _, component in ipairs(run.whole.order) do
      local name = ("%s.slots_%s"):format(object, component)
      if row[name] then add(stack, component, row[name]) else missing[#missing + 1] = name end
    end
  end
  stack.cycles, stack.instructions = stack.cycles + row.to - row.from, stack.parts.issued
  local joules = row["energy.total"]
  stack.joules = joules and (stack.joules or 0) + joules
  return missing
end

--- A stack for each launch, those that took no cycles included, from intervals that end with each of them; or nil, and what is
-- expected. What follows the last launch is a stack of its own.
local function stacks_of_launches(run)
  local rows = stored_run.read_intervals(run.path)
  if not rows then return nil, "expected intervals.csv, got none; run it with --stats-every 1launch" end
  local launches, by_launch = launches_of(run), {}
  local stacks = stacks_from(rows[1] and rows[1].from or 0, launches)
  local next_end = stacks[1] and stacks[1].launch + 1 or #launches + 1
  for _, stack in ipairs(stacks) do by_launch[stack.launch] = stack end
  for _, row in ipairs(rows) do
    local launch = launches[next_end]
    while launch and row.from >= launch.ends and row.to > row.from do
      next_end = next_end + 1
      launch = launches[next_end]
    end
    if launch and row.to > launch.ends then
      return nil, "expected intervals that end with each launch; run it with --stats-every 1launch"
    end
    local number = next_end - 1
    if not by_launch[number] then
      by_launch[number] = new_stack(("launch %d"):format(number))
      by_launch[number].launch, stacks[#stacks + 1] = number, by_launch[number]
    end
    local missing = add_interval(by_launch[number], run, row)
    if missing[1] then
      return nil, ("expected all issue slots in intervals.csv, got no %s; run it with --stats-every 1launch, and with all of them in "
        .. "--stats-of or without it"):format(table.concat(missing, ", "))
    end
  end
  return stacks
end

--- For reports: the launches' stacks, with `joules` where intervals have energies, and the order of components; or nil, and what is expected.
function cpi.of_launches(path)
  local run = read_run(path)
  local stacks, problem = stacks_of_launches(run)
  return stacks, problem or run.whole.order
end

-- Tables -------------------------------------------------------------------------------------------------------------

local BAR <const> = 40

local function print_stack(stack)
  print(("%s: %d cycles%s"):format(stack.title, stack.cycles,
    stack.instructions and stack.instructions > 0 and (", CPI of a slot %.3f"):format(stack.all / stack.instructions) or ""))
  print(("  %-12s %14s %7s %9s"):format("", "cycles", "", "CPI"))
  for _, component in ipairs(stack.order) do
    local slots = stack.parts[component]
    if slots > 0 then
      local share = slots / stack.all
      print(("  %-12s %14.1f %6.2f%% %9.3f  %s"):format(component, cycles_of(stack, component), 100 * share,
        stack.instructions and stack.instructions > 0 and slots / stack.instructions or 0, ("#"):rep(math.floor(share * BAR + 0.5))))
    end
  end
end

--- A line for each stack, its components as columns.
local function print_lines(stacks, order)
  local widest, line = 8, {}
  for _, stack in ipairs(stacks) do widest = math.max(widest, #stack.title) end
  for i, component in ipairs(order) do line[i] = ("%10s"):format(component) end
  print(("%s %12s %s"):format((" "):rep(widest), "cycles", table.concat(line, " ")))
  for _, stack in ipairs(stacks) do
    for i, component in ipairs(order) do
      line[i] = stack.all > 0 and ("%9.2f%%"):format(100 * (stack.parts[component] or 0) / stack.all) or ("%10s"):format "-"
    end
    print(("%s %12d %s"):format(stack.title .. (" "):rep(widest - #stack.title), stack.cycles, table.concat(line, " ")))
  end
end

--- What objects stood still for, in cycles of each: counters that end in _cycles and say of what they are the fails or stalls.
local function stops_of(run)
  local sums, counts, order = {}, {}, {}
  for _, name in ipairs(run.list) do
    local pattern = name:gsub("%[%d+%]", "[*]")
    if name:find "[^.]_fail_cycles$" or name:find "_stall_cycles$" or name:find "%.stall_cycles$" or name:find "full_cycles$"
      or name:find "bank_conflict_cycles$" then
      if not sums[pattern] then order[#order + 1], sums[pattern], counts[pattern] = pattern, 0, 0 end
      sums[pattern], counts[pattern] = sums[pattern] + run.values[name], counts[pattern] + 1
    end
  end
  for _, pattern in ipairs(order) do sums[pattern] = sums[pattern] / counts[pattern] end
  return sums, order
end

local MOST_STOPS <const> = 8

local function print_stops(runs)
  local sums, order = stops_of(runs[1])
  local others = runs[2] and stops_of(runs[2]) or {}
  local function most(pattern) return math.max(sums[pattern], others[pattern] or 0) end
  table.sort(order, function(a, b)
    if most(a) ~= most(b) then return most(a) > most(b) end
    return a < b
  end)
  print "\nwhat objects stood still for, in cycles of each of them"
  for i = 1, math.min(MOST_STOPS, #order) do
    local pattern = order[i]
    if most(pattern) > 0 then
      print(("  %14.1f%s  %s"):format(sums[pattern], runs[2] and (" %14.1f"):format(others[pattern] or 0) or "", pattern))
    end
  end
end

--- Of two runs: cycles of each component, and what is between them.
local function print_difference(a, b)
  print(("A  %s: %d cycles"):format(a.whole.title, a.whole.cycles))
  print(("B  %s: %d cycles"):format(b.whole.title, b.whole.cycles))
  print(("  %-12s %14s %14s %14s"):format("", "A", "B", "B - A"))
  local order, seen = {}, {}
  for _, stack in ipairs { a.whole, b.whole } do
    for _, component in ipairs(stack.order) do
      if not seen[component] then order[#order + 1] = component end
      seen[component] = true
    end
  end
  local largest = 1
  for _, component in ipairs(order) do
    largest = math.max(largest, math.abs(cycles_of(b.whole, component) - cycles_of(a.whole, component)))
  end
  for _, component in ipairs(order) do
    local of_a, of_b = cycles_of(a.whole, component), cycles_of(b.whole, component)
    if of_a > 0 or of_b > 0 then
      print(("  %-12s %14.1f %14.1f %+14.1f  %s"):format(component, of_a, of_b, of_b - of_a,
        (of_b > of_a and "+" or "-"):rep(math.floor(math.abs(of_b - of_a) / largest * BAR + 0.5))))
    end
  end
  print(("  %-12s %14d %14d %+14d"):format("all", a.whole.cycles, b.whole.cycles, b.whole.cycles - a.whole.cycles))
end

-- The command --------------------------------------------------------------------------------------------------------

local function read_arguments(args, first)
  local options, paths = arguments.read("cpi", args, first)
  if #paths < 1 or #paths > 2 then usage_error("expected the folders of one run or two, got %d", #paths) end
  if paths[2] and next(options) then usage_error "--sms and --launches are of one run, got two" end
  return options, paths
end

function cpi.main(args, first)
  local options, paths = read_arguments(args, first)
  local runs = {}
  for i, path in ipairs(paths) do runs[i] = read_run(path) end
  if runs[2] then
    print_difference(runs[1], runs[2])
  else
    local launches, problem
    if options.launches then launches, problem = stacks_of_launches(runs[1]) end
    if problem then core.user_error(("cpi: %s: %s"):format(runs[1].path, problem)) end
    print_stack(runs[1].whole)
    if options.sms then
      print()
      print_lines(runs[1].sms, runs[1].whole.order)
    end
    if launches then
      print()
      print_lines(launches, runs[1].whole.order)
    end
  end
  print_stops(runs)
  return 0
end

return cpi
