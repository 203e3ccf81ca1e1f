-- Bandwidths beside what the parameters allow, and how DRAM's depends on rows, banks and the
-- scheduler.
local machine = require "scripts.lib.characterise_machine"
local measure = require "scripts.lib.characterise_measure"
local bandwidth = require "workloads.micro.bandwidth"
local rows = require "workloads.micro.rows"

local giga <const> = 1e9

--- { value =, theoretical = in GB/s, limiters = } of a difference in which `bytes` moved.
local function rate(target, d, bytes, allowed)
  local facts = target.facts
  return {
    value = bytes / (d.cycles / facts.core_hertz) / giga,
    theoretical = allowed / giga,
    limiters = measure.limiters(facts, d, #facts.parts.sm.paths),
  }
end

-- Streams -----------------------------------------------------------------------------------------

local function bytes_per_turn(size) return size.ctas * size.threads // 32 * bandwidth.unroll * bandwidth.line_bytes end

local function power_of_two_up_to(bytes)
  local power = 1024
  while 2 * power <= bytes do power = 2 * power end
  return power
end

local function stream(target, size, short, long)
  local d = measure.difference(target, bandwidth, size, "turns", short, long)
  d.bytes = (long - short) * bytes_per_turn(size)
  return d
end

--- Footprints that stay where they are: the shorter run has been everywhere already, and has made
-- `least` turns.
local function resident(target, size, least)
  local short = math.max(least, (size.footprint + bytes_per_turn(size) - 1) // bytes_per_turn(size))
  return stream(target, size, short, 3 * short)
end

--- The first misses take as long as several turns of hits, which come back out of step behind them.
local function small(target, size)
  size.footprint = 1024
  return resident(target, size, 16)
end

local function in_l2(target, size)
  size.footprint = power_of_two_up_to(math.min(512 << 10, machine.l2_bytes(target.facts) // 2))
  return resident(target, size, 4)
end

local window_steps <const> = 8

--- Lines that nobody has touched, in a window that begins when a shorter run has filled L2, so that
-- writes drive out as many as they bring. A difference of two runs could have more than the bus:
-- the end of the shorter one counts as time that the longer one saved.
local function in_dram(target, size)
  local turn, fills = bytes_per_turn(size), 2 * machine.l2_bytes(target.facts)
  local function turns_of(bytes) return (bytes + turn - 1) // turn end
  local short = turns_of(math.max(1 << 20, fills))
  local long = short + turns_of(4 << 20)
  size.footprint = 2 * power_of_two_up_to(long * turn)
  if size[1] == "dram_random" then size.footprint = math.max(64 << 20, 8 * size.footprint) end
  size.turns = short
  local from = measure.run(target, bandwidth, size).cycles
  size.turns = long
  local d = measure.window(target, bandwidth, size, from, math.max(1, from * (long - short) // (window_steps * short)))
  local dram = target.facts.parts.dram -- whose clock does not tick where the window ends
  d.cycles = d.counters["dram.cycles"] / #dram.paths / dram.hertz * target.facts.core_hertz
  return d
end

--- Bytes of these kinds of requests, "read" or "write", that the DRAM moved. Not what was asked
-- for, of which some may still wait; of a burst that a request does not fill, its part. The last
-- burst of a window may end behind it.
local function in_dram_bytes(...)
  local kinds = { ... }
  return function(target, d)
    local counters, burst, bytes = d.counters, target.facts.parts.dram.parameters.burst_bytes, 0
    for _, kind in ipairs(kinds) do
      local requests = counters["dram." .. kind .. "s"]
      local each = requests > 0 and counters["dram." .. kind .. "_bytes"] / requests or burst
      bytes = bytes + counters["dram." .. kind .. "_commands"] * each / math.ceil(each / burst)
    end
    return bytes * math.min(1, counters["dram.cycles"] / math.max(1, counters["dram.data_bus_cycles"]))
  end
end
local dram_reads, dram_writes, dram_copies = in_dram_bytes "read", in_dram_bytes "write", in_dram_bytes("read", "write")

--- A measurement of the whole machine: as many warps per SM as come furthest, of 8, 16 and 32.
-- `bytes_of` says how many bytes moved in a difference.
local function best(name, run, theoretical, bytes_of)
  return function(target)
    local sm, most = target.facts.parts.sm, nil
    local allowed = machine.theoretical[theoretical](target.facts)
    local threads, registers <const> = math.min(256, 32 * sm.parameters.warps), 24 -- no fewer than the kernels use
    local fits = machine.occupancy(sm.parameters, threads, registers, 0)
    for _, per_sm in ipairs { 1, 2, 4 } do
      if per_sm == 1 or per_sm <= fits then
        local d = run(target, { name, threads = threads, ctas = per_sm * #sm.paths })
        local measured = rate(target, d, bytes_of and bytes_of(target, d) or d.bytes, allowed)
        measured.x = per_sm * threads // 32
        if not most or measured.value > most.value then most = measured end
      end
    end
    return most
  end
end

--- Flits that crossed: headers and what the last flit leaves empty count.
local function flits(counter)
  return function(target, d)
    local bytes = 0
    for _, crossbar in ipairs(target.facts.crossbars) do
      bytes = bytes + d.counters[crossbar.path .. "." .. counter] * crossbar.flit
    end
    return bytes
  end
end

--- What the L1s delivered: loads of SMs that have none pass elsewhere.
local function hit_in_l1(_, d) return d.counters["l1.hits"] * bandwidth.line_bytes end

local streams = {
  { id = "shared", name = "shared memory, loads", measure = best("shared", small, "shared") },
  { id = "l1", name = "L1, loads that hit", needs = "l1", measure = best("l1", small, "l1", hit_in_l1) },
  { id = "l2_read", name = "L2, loads that hit", needs = "l2", measure = best("l2_read", in_l2, "l2") },
  { id = "l2_write", name = "L2, stores", needs = "l2", measure = best("l2_write", in_l2, "l2") },
  { id = "requests", name = "crossbar, requests (stores)", needs = "crossbar",
    measure = best("l2_write", in_l2, "crossbar", flits "request_flits_in") },
  { id = "replies", name = "crossbar, replies (loads)", needs = "crossbar",
    measure = best("l2_read", in_l2, "crossbar", flits "response_flits_in") },
  { id = "dram_read", name = "DRAM, loads", needs = "dram", measure = best("dram_read", in_dram, "dram", dram_reads) },
  { id = "dram_read_past_l1", name = "DRAM, loads past L1 (.cg)", needs = "dram",
    measure = best("dram_read_past_l1", in_dram, "dram", dram_reads) },
  { id = "dram_write", name = "DRAM, stores", needs = "dram", measure = best("dram_write", in_dram, "dram", dram_writes) },
  { id = "dram_copy", name = "DRAM, copy", needs = "dram",
    measure = best("dram_copy", in_dram, "dram", dram_copies) },
  { id = "dram_random", name = "DRAM, loads of random lines", needs = "dram",
    measure = best("dram_random", in_dram, "dram", dram_reads) },
}

-- Rows and banks ----------------------------------------------------------------------------------

--- The longer run may have met fewer open rows than the shorter one.
local function row_hit_rate(counters)
  local hits = math.max(0, counters["dram.row_hits"])
  return hits / (hits + counters["dram.row_misses"] + counters["dram.row_conflicts"])
end

local many_banks <const> = 32

--- Reads lines as the size says; `x` is the part of the requests that found their row open. 16
-- warps for each channel with 8 loads each keep its queue full; they are fewer lines than one bank,
-- for which there are 8 warps, has rows.
local function read_rows(target, size, short, long, more)
  local facts = target.facts
  local sm, channels = facts.parts.sm, #facts.parts.dram.paths
  size.banks = size.banks or many_banks
  size.listed, size.bytes = long, math.max(32 << 20, machine.bytes_of_rows(facts, 85))
  size.threads = math.min(256, 32 * sm.parameters.warps)
  local wanted = channels * math.min(16, 8 * size.banks) * 32 // size.threads
  size.ctas = math.max(1, math.min(wanted, #sm.paths * (sm.parameters.warps * 32 // size.threads)))
  machine.with_map(facts, size)
  local d = measure.difference(target, rows, size, "used", short, long, more)
  local bytes = size.ctas * size.threads // 32 * (long - short) * rows.line_bytes
  local visited = size.visit and size.visit * rows.line_bytes or machine.row_bytes(facts)
  local measured = rate(target, d, bytes, machine.rows_allow(facts, visited, size.banks))
  measured.x = row_hit_rate(d.counters)
  return measured
end

local dram_rows = {}
local function add(id, name, measure_it)
  dram_rows[#dram_rows + 1] = { id = id, name = name, needs = "dram", measure = measure_it }
end
local function plural(count, what) return ("%d %s%s"):format(count, what, count == 1 and "" or "s") end

for _, visit in ipairs { 1, 2, 4, 8, 16, 32 } do
  add("visit." .. visit, ("rows, %s a visit"):format(plural(visit, "line")), function(target)
    if rows.line_bytes * visit > machine.row_bytes(target.facts) then measure.refuse "a DRAM row has fewer lines" end
    return read_rows(target, { "single_lines", visit = visit }, 64, 256)
  end)
end
for _, banks in ipairs { 1, 2, 4, 8, 16 } do
  add("banks." .. banks, ("rows, 1 line a visit, %s"):format(plural(banks, "bank")), function(target)
    if banks > target.facts.parts.dram.parameters.banks then measure.refuse "a channel has fewer banks" end
    return read_rows(target, { "single_lines", visit = 1, banks = banks }, 8, 32)
  end)
end
for _, scheduler in ipairs { "frfcfs", "fcfs" } do
  add("mixed." .. scheduler, "whole rows and single lines, " .. scheduler, function(target)
    local more = {}
    for i, path in ipairs(target.facts.parts.dram.paths) do more[i] = path .. ".scheduler=" .. scheduler end
    return read_rows(target, { "mixed" }, 64, 256, more)
  end)
end

return {
  {
    name = "bandwidth",
    title = "Bandwidth of all SMs; in brackets the warps per SM, of 8, 16 and 32, that came furthest",
    unit = "GB/s",
    rows = streams,
  },
  {
    name = "dram",
    title = "DRAM, lines of chosen rows; in brackets the part of the requests that found their row open",
    unit = "GB/s",
    rows = dram_rows,
  },
}
