-- Latencies of loads, and of operations of each class, with their throughput.
local machine = require "scripts.lib.characterise_machine"
local measure = require "scripts.lib.characterise_measure"
local chase = require "workloads.micro.chase"
local operations = require "workloads.micro.operations"
local beside = require "workloads.micro.hits_beside"

-- Loads -------------------------------------------------------------------------------------------

--- Cycles from a load to the one that depends on it.
local function load_latency(target, size)
  local turns = measure.turns(target.facts, 32)
  local d = measure.difference(target, chase, size, "turns", turns, 2 * turns)
  return { value = d.cycles / (turns * chase.unroll) }
end

local function require_enabled_l1(l1)
  if not l1.parameters.enabled then measure.refuse("%s is switched off", l1.paths[1]) end
end

local function l1_latency(target)
  local l1 = target.facts.parts.l1
  require_enabled_l1(l1)
  return load_latency(target, { "l1", bytes = math.min(4096, l1.parameters.size // 2) })
end

local function l2_footprint(facts)
  return math.min(128 * 1024, machine.l2_bytes(facts) // 2)
end

--- L2 hits of loads that miss L1 each time, because they come back to a line after many others.
local function l2_latency(target)
  local l1, bytes = target.facts.parts.l1, l2_footprint(target.facts)
  if l1 and l1.parameters.enabled and 4 * l1.parameters.size > bytes then
    measure.refuse("%s is so large that what fits L2 would stay in it", l1.paths[1])
  end
  return load_latency(target, { "l2", bytes = bytes })
end

--- A buffer of which few lines are in L2 when it was just copied to the device.
local function beyond_l2(facts) return math.min(64 << 20, math.max(8 << 20, 8 * machine.l2_bytes(facts))) end

local function dram_latency(size)
  return function(target) return load_latency(target, { size, bytes = beyond_l2(target.facts) }) end
end

local function row_size(target, size, rows)
  local facts = target.facts
  local varied = { size, bytes = machine.bytes_of_rows(facts, rows), scrub = 2 * machine.l2_bytes(facts) }
  return machine.with_map(facts, varied)
end

--- Visiting twice as many lines of each row adds as many hits.
local function row_hit_latency(target)
  local lines = math.min(32, machine.row_bytes(target.facts) // 128)
  if lines < 2 then measure.refuse "a DRAM row is one line" end
  local rows = 2 * chase.unroll // lines * 8
  local function cycles(visit)
    local size = row_size(target, "row_hits", rows + 2)
    size.visit, size.turns = visit, rows * visit // chase.unroll
    return measure.run(target, chase, size).cycles
  end
  return { value = (cycles(lines) - cycles(lines // 2)) / (rows * lines // 2) }
end

local function row_conflict_latency(target)
  local d = measure.difference(target, chase, row_size(target, "row_conflicts", 24), "turns", 8, 16)
  return { value = d.cycles / (8 * chase.unroll) }
end

local function simple(size)
  return function(target) return load_latency(target, { size }) end
end

--- While other warps' loads of the same L1 hit, or wait for their lines.
local function hits_beside(size)
  return function(target)
    require_enabled_l1(target.facts.parts.l1)
    measure.run(target, beside, { size })
    return { value = beside.cycles }
  end
end

local loads = {
  { id = "l1", name = "load, L1 hit", needs = "l1", measure = l1_latency },
  { id = "l1_beside_hits", name = "load, L1 hit, beside hits of 8 warps", needs = "l1", measure = hits_beside "hits" },
  { id = "l1_beside_fills", name = "load, L1 hit, beside fills for 8 warps", needs = "l1", measure = hits_beside "fills" },
  { id = "l2", name = "load, L1 miss, L2 hit", needs = "l2", measure = l2_latency },
  { id = "past_l1", name = "load past L1 (.cg), L2 hit", needs = "l2", measure = function(target)
    return load_latency(target, { "past_l1", bytes = l2_footprint(target.facts) })
  end },
  { id = "dram_sequential", name = "load, DRAM, lines in order", needs = "dram",
    measure = dram_latency "dram_sequential" },
  { id = "dram_random", name = "load, DRAM, lines at random", needs = "dram", measure = dram_latency "dram_random" },
  { id = "row_hit", name = "load, DRAM row hit", needs = "dram", measure = row_hit_latency },
  { id = "row_conflict", name = "load, DRAM row conflict", needs = "dram", measure = row_conflict_latency },
  { id = "shared", name = "load, shared memory", measure = simple "shared" },
  { id = "constant", name = "load, constant, hit", measure = simple "constant" },
  { id = "texture", name = "load, texture, hit", needs = "texture_cache", measure = simple "texture" },
  { id = "atomic", name = "atomic, global memory", measure = simple "atomic" },
  { id = "shared_atomic", name = "atomic, shared memory", measure = simple "shared_atomic" },
}

-- Operations --------------------------------------------------------------------------------------

--- What `turns` turns of a kernel take more, after some to begin with.
local function operations_difference(target, kind, row, warps, turns)
  local size = { kind, operation = row.name, warps = warps }
  return measure.difference(target, operations, size, "turns", 4, 4 + turns)
end

--- Cycles per operation of one warp.
local function one_warp(kind, row)
  return function(target)
    local turns = measure.turns(target.facts, 16)
    local d = operations_difference(target, kind, row, 1, turns)
    return { value = d.cycles / (turns * operations.unroll) }
  end
end

--- The pipelines that an operation runs in: { name =, count =, interval = }.
local function pipelines(sm, row)
  if not row.timing then return { name = "LSU", count = 1, interval = 1 } end
  local timing = row.timing
  if timing == "dp_root" then timing = sm.dp_roots_on_sfu and "sfu" or "dp_div" end
  local unit = sm[timing .. "_unit"]
  return {
    name = unit:upper() .. " pipelines",
    count = sm[unit .. "_units"] * sm.sub_cores,
    interval = sm[timing .. "_interval"],
  }
end

--- Thread operations per cycle that an SM can do: what is fetched, its schedulers issue, its
-- pipelines take, and its result bus brings back.
local function peak_throughput(sm, unit)
  local fetched = 2 * sm.sub_cores -- instructions: in each sub-core, the buffer of one warp is filled per cycle
  return 32 * math.min(fetched, sm.schedulers, sm.result_bus, unit.count / unit.interval)
end

local function throughput(row)
  return function(target)
    local facts, sm = target.facts, target.facts.parts.sm.parameters
    local warps, slow = facts.warps, one_warp("independent", row)(target).value
    local turns = math.max(2, math.min(16, 24 // slow // 1))
    local d = operations_difference(target, "many_warps", row, warps, turns)
    local done, unit = warps * turns * operations.unroll, pipelines(sm, row)
    local port = { name = unit.name, busy = done * unit.interval / (unit.count * d.cycles), saturated = 0.9 }
    return {
      value = 32 * done / d.cycles,
      theoretical = peak_throughput(sm, unit),
      limiters = measure.limiters(facts, d, 1, { port }),
    }
  end
end

local operation_rows = {}
for _, row in ipairs(operations.rows) do
  local mnemonic = row.text:match "^%S+"
  local function add(what, unit, measure_it)
    operation_rows[#operation_rows + 1] = {
      id = row.name .. "." .. what:gsub(" ", "_"),
      name = mnemonic .. ", " .. what,
      unit = unit,
      x = mnemonic,
      measure = measure_it,
    }
  end
  add("dependent", "cycles", one_warp("dependent", row))
  add("independent", "cycles", one_warp("independent", row))
  add("many warps", "ops/cycle", throughput(row))
end

return {
  {
    name = "latency",
    title = "Latency: one thread, each load reads the next one's address",
    unit = "cycles",
    rows = loads,
  },
  {
    name = "operations",
    title = "Operations: cycles each with one warp, dependent or not; thread operations of an SM per cycle",
    rows = operation_rows,
  },
}
