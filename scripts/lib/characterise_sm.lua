-- What happens inside an SM: bank conflicts, coalescing, occupancy, divergence, barriers.
local machine = require "scripts.lib.characterise_machine"
local measure = require "scripts.lib.characterise_measure"
local bank_conflicts = require "workloads.micro.bank_conflicts"
local barrier = require "workloads.micro.barrier"
local coalescing = require "workloads.micro.coalescing"
local divergence = require "workloads.micro.divergence"
local occupancy = require "workloads.micro.occupancy"

local steps = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 }

--- What some turns of a workload take, and how many they are.
local function turns_of(target, workload, size)
  local turns = measure.turns(target.facts, 16)
  return measure.difference(target, workload, size, "turns", turns, 2 * turns), turns
end

-- Bank conflicts and coalescing -------------------------------------------------------------------

local function conflict(degree)
  return function(target)
    local banks, warps = target.facts.parts.sm.parameters.shared_banks, math.min(8, target.facts.warps)
    local size = { "small", degree = degree, banks = banks, warps = warps }
    local d, turns = turns_of(target, bank_conflicts, size)
    local columns = (32 + degree - 1) // degree
    return {
      value = d.cycles / (turns * warps * bank_conflicts.unroll),
      theoretical = degree * ((columns + banks - 1) // banks),
      limiters = measure.limiters(target.facts, d, 1),
    }
  end
end

local function strided_loads(target, stride)
  local warps = math.min(8, target.facts.warps)
  local d, turns = turns_of(target, coalescing, { "small", stride = stride, warps = warps })
  return d, turns * warps * coalescing.unroll
end

local function accesses_of_stride(stride)
  return function(target)
    local d, loads = strided_loads(target, stride)
    return { value = d.counters["lsu.load_accesses"] / loads, theoretical = stride }
  end
end

local function cycles_of_stride(stride)
  return function(target)
    local d, loads = strided_loads(target, stride)
    return { value = d.cycles / loads, theoretical = stride, limiters = measure.limiters(target.facts, d, 1) }
  end
end

-- Occupancy ---------------------------------------------------------------------------------------

--- CTAs that an SM holds together, beside what its parameters say.
local function resident(threads, registers, shared)
  return function(target)
    local sm = target.facts.parts.sm
    local ctas = #sm.paths * (sm.parameters.ctas + 1)
    measure.run(target, occupancy, {
      "small", ctas = ctas, threads = threads, registers = registers, shared = shared,
    })
    return {
      value = occupancy.resident,
      theoretical = machine.occupancy(sm.parameters, threads, registers, shared),
    }
  end
end

-- Divergence and barriers -------------------------------------------------------------------------

local function divergent(paths)
  return function(target)
    local d, turns = turns_of(target, divergence, { "small", paths = paths })
    return { value = d.cycles / turns }
  end
end

local function barrier_of(warps)
  return function(target)
    local d, turns = turns_of(target, barrier, { "small", warps = warps })
    return { value = d.cycles / (turns * barrier.unroll) }
  end
end

-- Rows --------------------------------------------------------------------------------------------

--- A row for each x: `text` names it, and `of` makes its measurement.
local function rows_of(list, xs, prefix, text, of)
  for _, x in ipairs(xs) do
    list[#list + 1] = { id = prefix .. x, name = text:format(x), x = x, measure = of(x) }
  end
  return list
end

local coalesced, occupancies = {}, {}
rows_of(coalesced, steps, "accesses.", "accesses, lanes %d words apart", accesses_of_stride)
rows_of(coalesced, steps, "cycles.", "cycles, lanes %d words apart", cycles_of_stride)
rows_of(occupancies, { 32, 64, 128, 192, 256, 384, 512, 768, 1024 }, "threads.", "threads per CTA: %d",
  function(threads) return resident(threads, 8, 0) end)
rows_of(occupancies, { 16, 20, 24, 32, 40, 48, 63 }, "registers.", "registers per thread, 256 threads: %d",
  function(registers) return resident(256, registers, 0) end)
rows_of(occupancies, { 1, 4, 6, 8, 12, 16, 24, 48 }, "shared.", "KiB of shared memory per CTA, 64 threads: %d",
  function(kilobytes) return resident(64, 8, 1024 * kilobytes) end)

return {
  {
    name = "conflicts",
    title = "Shared memory: cycles per warp load; theoretical: the degree",
    unit = "cycles",
    rows = rows_of({}, steps, "", "bank conflicts of degree %d", conflict),
  },
  {
    name = "coalescing",
    title = "Loads of 4 bytes a lane: accesses and cycles; theoretical: lines touched",
    unit = "per load",
    rows = coalesced,
  },
  {
    name = "occupancy",
    title = "CTAs together on an SM; theoretical: as the parameters say",
    unit = "CTAs",
    rows = occupancies,
  },
  {
    name = "divergence",
    title = "Lanes that part: 16 dependent additions on every path",
    unit = "cycles",
    rows = rows_of({}, { 1, 2, 4, 8, 16, 32 }, "", "paths of one warp: %d", divergent),
  },
  {
    name = "barriers",
    title = "Barriers, one after the other",
    unit = "cycles",
    rows = rows_of({}, { 1, 2, 4, 8, 16, 24, 32 }, "", "warps at the barrier: %d", barrier_of),
  },
}
