-- Runs micro workloads, each on a machine of its own, and says what two runs of different length
-- differ by, where start-up, cold caches and the end of a kernel cancel; or what passed in a window
-- inside one run.
local ww = require "warpwright"

local measure = {}

-- Why there is no value: what a machine lacks, or what a run said. It is raised, and ends the
-- measurement alone.
local Refusal = {}
Refusal.__index = Refusal

function measure.refuse(text, ...) error(setmetatable({ reason = text:format(...) }, Refusal)) end

--- The reason, when `problem` is what measure.refuse() raised.
function measure.refusal(problem) return getmetatable(problem) == Refusal and problem.reason end

--- Counters summed over the objects of a role: counters["l1.hits"]; and those of each crossbar and
-- Mux by path, for these differ in width and in how busy they are.
local function counters_of(sim, roles)
  local sums = {}
  sim.machine:settle(false)
  local rows = sim.machine:stats()
  for i = 1, #rows do
    local row_name, value = rows:row(i)
    local path, counter = row_name:match "^(.*)%.([^.]+)$"
    local role = roles[path]
    if role then
      local name = role .. "." .. counter
      sums[name] = (sums[name] or 0) + value
      if role == "crossbar" or role == "mux" then sums[row_name] = value end
    end
  end
  return sums
end

--- Ctrl-C ends a kernel with an error; then nothing else shall run.
local function was_interrupted(sim)
  local ok, totals = pcall(function() return sim:gpu():totals() end)
  return ok and totals.stopped
end

local function set_with(target, more)
  local set = table.move(target.set, 1, #target.set, 1, {})
  return table.move(more or {}, 1, more and #more or 0, #set + 1, set)
end

--- What `work(sim)` returns for a new machine. `target` has description, set and facts; `more` are
-- further overrides.
local function on_machine(target, more, work)
  local sim = ww.build(target.description, { set = set_with(target, more) })
  local ok, result = pcall(work, sim)
  local interrupted = not ok and was_interrupted(sim)
  sim:close()
  if interrupted then os.exit(130, true) end
  if not ok and type(result) ~= "string" then error(result, 0) end -- a wrong result
  if not ok then measure.refuse("%s", (result:gsub("^[^:\n]*%.lua:%d+: ", ""))) end
  return result
end

--- One run of a workload: { cycles =, counters = }.
function measure.run(target, workload, size, more)
  return on_machine(target, more, function(sim)
    sim:run(workload, size)
    return { cycles = sim:gpu():launches()[1].cycles, counters = counters_of(sim, target.facts.roles) }
  end)
end

--- What `last` has more than `first`.
local function subtract(last, first)
  last.cycles = last.cycles - first.cycles
  for counter, value in pairs(first.counters) do last.counters[counter] = last.counters[counter] - value end
  return last
end

--- What passed inside one run, from core cycle `from` until `step` to 2 * `step` cycles before its
-- end.
function measure.window(target, workload, size, from, step)
  return on_machine(target, nil, function(sim)
    local marks, cycle = {}, from
    sim:start(workload, size)
    while not sim:run { until_cycle = cycle } do
      marks[#marks + 1] = { cycles = sim:gpu():totals().cycles, counters = counters_of(sim, target.facts.roles) }
      cycle = cycle + step
    end
    if not marks[3] then
      measure.refuse("%s: expected a run longer than %d cycles, got one of %d", workload.name, from + 2 * step, sim:gpu():totals().cycles)
    end
    return subtract(marks[#marks - 1], marks[1])
  end)
end

--- What the run with size[name] = long takes more than that with short.
function measure.difference(target, workload, size, name, short, long, more)
  local function run_with(value)
    local varied = {}
    for key, given in pairs(size) do varied[key] = given end
    varied[name] = value
    return measure.run(target, workload, varied, more)
  end
  local less = run_with(short)
  local d = subtract(run_with(long), less)
  if d.cycles <= 0 then measure.refuse("%s: expected more cycles for %s = %d than for %d, got as many", workload.name, name, long, short) end
  return d
end

--- A number of turns whose cycles are whole quanta if those of one turn are whole: then a
-- difference in that many turns is exact, though kernels start and end at quanta.
function measure.turns(facts, wanted) return (wanted + facts.quantum - 1) // facts.quantum * facts.quantum end

--- How far a value is from its reference, as a part of it; a reference { least, most } is met by
-- all between.
function measure.relative_error(value, reference)
  if type(reference) == "number" then return value / reference - 1 end
  if value < reference[1] then return value / reference[1] - 1 end
  return math.max(0.0, value / reference[2] - 1)
end

-- What the machine was busy with ------------------------------------------------------------------

-- From when on a port counts as what limits the rest. A switch that queues at its inputs delivers
-- less than its channels could: 59 % of random traffic (Karol, Hluchyj and Morgan 1987).
local saturated <const>, switch_saturated <const>, issue_saturated <const> = 0.75, 0.55, 0.9

--- Ports and buses on `sms` SMs' way to memory: { name =, busy = part of the time in which it moved
-- something, saturated = from when on that is all it can }.
local function busy_ports(facts, d, sms)
  local ports, parts = {}, facts.parts
  local function add(name, role, width, counters, enough)
    if not parts[role] then return end
    local moved = 0
    for counter in counters:gmatch "%S+" do moved = moved + d.counters[role .. "." .. counter] end
    local cycles = d.cycles / facts.core_hertz * parts[role].hertz
    ports[#ports + 1] = { name = name, busy = moved / (width * cycles), saturated = enough or saturated }
  end
  local function add_busiest_crossbar(name, counter)
    local most
    for _, crossbar in ipairs(facts.crossbars) do
      local cycles = d.cycles / facts.core_hertz * crossbar.hertz
      local busy = d.counters[crossbar.path .. "." .. counter] / (math.min(sms, crossbar.channels) * cycles)
      most = math.max(most or 0, busy)
    end
    if most then ports[#ports + 1] = { name = name, busy = most, saturated = switch_saturated } end
  end
  --- Muxes may stand in front of each other, and several SMs may share one.
  local function add_busiest_mux()
    local most, path
    for _, mux in ipairs(facts.muxes) do
      local busy = d.counters[mux.path .. ".requests"] / (d.cycles / facts.core_hertz * mux.hertz)
      if not most or busy > most then most, path = busy, mux.path end
    end
    if most then ports[#ports + 1] = { name = path:gsub("%[%d+%]", "[*]"), busy = most, saturated = saturated } end
  end
  local function count(role) return parts[role] and #parts[role].paths end
  add("DRAM bus", "dram", count "dram", "data_bus_cycles")
  add_busiest_crossbar("crossbar replies", "response_flits_in")
  add_busiest_crossbar("crossbar requests", "request_flits_in")
  add("L2 data port", "l2", count "l2", "data_port_cycles")
  add_busiest_mux()
  add("LSU port", "lsu", sms, "load_accesses store_accesses atomic_accesses")
  add("shared-memory banks", "lsu", sms, "shared_loads shared_stores bank_conflict_cycles")
  add("issue slots", "sm", sms * parts.sm.parameters.schedulers, "slots_issued", issue_saturated)
  return ports
end

--- Places where requests wait, from memory to the SM: { name =, busy = part of the time in which it
-- was full and somebody waited }. What can fill up in a cache counts together, and the name is that
-- of the most frequent cause.
local function full_queues(facts, d, sms)
  local queues, parts = {}, facts.parts
  local function add(role, width, causes)
    if not parts[role] then return end
    local cycles, all, worst = d.cycles / facts.core_hertz * parts[role].hertz * width, 0, nil
    for _, cause in ipairs(causes) do
      local part = d.counters[role .. "." .. cause[2]] / cycles
      all = all + part
      if not worst or part > worst.part then worst = { name = cause[1], part = part } end
    end
    queues[#queues + 1] = { name = worst.name, busy = all }
  end
  local function count(role) return parts[role] and #parts[role].paths end
  local function causes_in(cache)
    return {
      { cache .. " MSHRs", "mshr_entry_fail_cycles" }, { cache .. " MSHR merges", "mshr_merge_fail_cycles" },
      { cache .. " ways", "line_fail_cycles" }, { cache .. " miss queue", "miss_queue_fail_cycles" },
    }
  end
  local slots = sms * parts.sm.parameters.schedulers
  add("dram", count "dram", { { "DRAM queue", "queue_full_cycles" } })
  add("l2", count "l2", causes_in "L2")
  add("l1", sms, causes_in "L1")
  add("sm", slots, { { "memory pipeline", "slots_lsu" } })
  add("sm", slots, { { "operand collectors", "slots_unit" } }) -- of SP and SFU; those of the LSU are in slots_lsu
  add("sm", slots, { { "latency of operands", "slots_scoreboard" } })
  add("sm", slots, { { "latency of loads and atomics", "slots_memory" } })
  return queues
end

local function busiest(list)
  local best = list[1]
  for _, entry in ipairs(list) do
    if entry.busy > best.busy then best = entry end
  end
  return best
end

--- What limited a difference of runs on `sms` SMs: a list of { name =, busy = }. It is the busiest
-- port or bus if that is saturated; else the place nearest to memory that was full for half of the
-- time, for what is full fills what is in front of it; else both the busiest port and the place
-- that was full most. `units`: further ports.
function measure.limiters(facts, d, sms, units)
  local ports, queues = busy_ports(facts, d, sms), full_queues(facts, d, sms)
  for _, unit in ipairs(units or {}) do ports[#ports + 1] = unit end
  local port = busiest(ports)
  for _, candidate in ipairs(ports) do
    if candidate.busy >= math.max(candidate.saturated, port.busy - 0.02) then return { candidate } end
  end
  for _, queue in ipairs(queues) do
    if queue.busy >= 0.5 then return { queue } end
  end
  return { port, busiest(queues) }
end

return measure
