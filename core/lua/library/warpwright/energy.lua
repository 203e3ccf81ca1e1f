-- Energy of a run: events, from the counters of its objects, times the energy of each, and power times time. A technology is a
-- file in configs/energy; every part of a total is a number of the technology times a count of events.
local core = require "warpwright.core"
local load = require "warpwright.load"
local names = require "warpwright.names"

local energy = {}

-- Technologies --------------------------------------------------------------------------------------------------------

local Technology = { __name = "technology" }

--- What every technology says, and what an event of each is.
local numbers <const> = {
  "sram_bit", "crossbar_bit", "operand", "sp_lane", "sfu_lane", "memory_lane", "issue", "shared_word", "reexecution_entry",
  "dram_activate", "dram_bit", "dram_background", "sm_leakage", "l2_leakage", "crossbar_leakage",
}
local kinds <const> = { published = true, scaled = true, assumed = true }

local function check_number(name, key, number)
  local where = ("technology %s: %s"):format(name, key)
  if type(number) ~= "table" then names.expected(where, "{ value, unit, kind, source }", number) end
  local value, unit, kind, source = table.unpack(number)
  if type(value) ~= "number" or value < 0 or value ~= value or value == math.huge then
    names.expected(where, "a number from 0 on", value)
  end
  if type(unit) ~= "string" then names.expected(where, "a unit", unit) end
  if type(source) ~= "string" then names.expected(where, "a source", source) end
  if not kinds[kind] then names.expected(where, "published, scaled or assumed", kind) end
end

--- { ["600MHz"] = 0.9, ["700MHz"] = 1 } of a clock as { { hertz, voltage } ... }, the slowest first.
local function voltage_points(where, points)
  if type(points) ~= "table" or not next(points) then names.expected(where, '{ ["700MHz"] = 1, ... }', points) end
  local list = {}
  for _, frequency in ipairs(names.sorted_keys(points)) do
    local voltage = points[frequency]
    if type(voltage) ~= "number" or not (voltage > 0 and voltage < math.huge) then
      names.expected(("%s: %s"):format(where, tostring(frequency)), "a number above 0", voltage)
    end
    list[#list + 1] = { math.tointeger(frequency) or core.quantity(frequency, "Hz", where), voltage }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  return list
end

--- The points of each clock. Scripts may set voltages after the technology was made.
local function points_by_clock(technology)
  local where, by_clock = ("technology %s: voltages"):format(technology.name), {}
  local voltages = technology.voltages
  if voltages ~= nil and type(voltages) ~= "table" then
    names.expected(where, "{ CLOCK = { [frequency] = voltage } }", voltages)
  end
  for _, clock in ipairs(names.sorted_keys(voltages or {})) do
    by_clock[clock] = voltage_points(("%s.%s"):format(where, clock), voltages[clock])
  end
  return by_clock
end

--- Linear between the points.
local function voltage_at(technology, clock, points, hertz)
  for i, point in ipairs(points) do
    local before = points[i - 1]
    if hertz == point[1] then return point[2] end
    if before and before[1] < hertz and hertz < point[1] then
      return before[2] + (point[2] - before[2]) * (hertz - before[1]) / (point[1] - before[1])
    end
  end
  core.user_error(("technology %s: voltages.%s: expected points below and above %d Hz, which the run had, got %d Hz to %d Hz"):format(
    technology.name, clock, hertz, points[1][1], points[#points][1]))
end

local function check_technology(name, t)
  if type(t) ~= "table" then names.expected("technology " .. name, "a table", t) end
  names.check_keys("technology " .. name, t, { "doc", "voltages", table.unpack(numbers) })
  for _, key in ipairs(numbers) do check_number(name, key, t[key]) end
  points_by_clock { name = name, voltages = t.voltages }
end

--- ww.technology "name" { doc =, NUMBER = { value, unit, kind, source } ... }: energies, as configs/energy has them;
-- voltages = { CLOCK = { [frequency] = voltage } }, as parts of that for which the numbers are.
function energy.technology(name)
  if type(name) ~= "string" then names.expected("technology", 'a name (ww.technology "name" {...})', name) end
  return function(t)
    names.at_place(load.place_of_call(2), check_technology, name, t)
    t.name = name
    return setmetatable(t, Technology)
  end
end

function energy.is_technology(value) return getmetatable(value) == Technology end

-- What the objects of a machine do ---------------------------------------------------------------------------------------------------

--- Parameters that count as much as events.
local wanted_parameters <const> = {
  SM = { "int_units", "dp_units", "matrix_units" }, LSU = {}, DmaEngine = {},
  L1 = { "size", "ways", "line", "sectors", "write_policy" },
  L2 = { "size", "ways", "line", "sectors" },
  Crossbar = { "flit" },
  Router = { "flit", "columns", "rows", "topology", "vcs", "buffer", "output_buffer" },
  MemoryController = { "banks", "burst_bytes", "refresh" },
}

--- What a result keeps of its machine: { { path =, class =, parameters } ... }, and classes without an energy by name.
-- clock_of(object): as core.clock_of, of the handles of a policy.
function energy.structure(objects, clock_of)
  local structure = { without = {} }
  for _, object in ipairs(objects) do
    local class = object.class
    if wanted_parameters[class] then
      local kept = { path = object.path, class = class, clock = (clock_of or core.clock_of)(object) }
      for _, name in ipairs(wanted_parameters[class]) do kept[name] = object[name] end
      structure[#structure + 1] = kept
    else
      structure.without[class] = true
    end
  end
  return structure
end

--- The energy of an SRAM grows with its wires: 64 bits of 8 KiB, 32 KiB and 1 MiB take 10, 20 and 100 pJ (Horowitz, ISSCC 2014,
-- figure 1.1.9), about by the square root of its size.
local function sram_scale(bytes) return math.sqrt(bytes / 8192) end

local tag_bits <const> = 24          -- of a 36-bit address, valid and dirty
local operands_of_instruction <const> = 3 -- two read, one written

--- Bits of the smallest SRAM that cost as much as a look-up of all ways of a set, and as a line.
local function cache_costs(cache)
  local lines = cache.size / cache.line
  return cache.ways * tag_bits * sram_scale(lines * tag_bits / 8), 8 * cache.line * sram_scale(cache.size)
end

--- Tags are looked up again in each cycle in which what an access needs is not there.
local failures <const> = { "line_fail_cycles", "mshr_entry_fail_cycles", "mshr_merge_fail_cycles", "miss_queue_fail_cycles" }

local function count_cache(cache, count, add, part)
  local tags, line = cache_costs(cache)
  local lookups = count "accesses" - count "bypasses"
  for _, name in ipairs(failures) do lookups = lookups + count(name) end
  add(part .. ".tags", "sram_bit", lookups * tags)
  local read = count "read_hits" + count "local_read_hits" + count "atomic_hits" + count "write_backs"
  local written = count "local_write_hits" + (cache.write_policy == "evict" and 0 or count "write_hits")
  add(part .. ".data", "sram_bit", (read + written) * line + count "fills" * line / cache.sectors)
  return line
end

--- By class: adds what an object did. `count` is a function of a counter's name; add(part, number, events); `seconds` of the run;
-- `lanes` of an instruction, or nil: the mean of its SM.
local counted = {}

function counted.SM(sm, count, add, seconds, lanes)
  local instructions = count "warp_instructions"
  lanes = lanes or instructions > 0 and count "thread_instructions" / instructions or 0
  add("sm.issue", "issue", instructions)
  add("sm.registers", "operand", operands_of_instruction * count "thread_instructions")
  add("sm.sp", "sp_lane", lanes * count "sp_instructions")
  for _, pipeline in ipairs { "int", "dp", "matrix" } do
    if sm[pipeline .. "_units"] > 0 then
      add("sm." .. pipeline, "sp_lane", lanes * count(pipeline .. "_instructions"))
    end
  end
  add("sm.sfu", "sfu_lane", lanes * count "sfu_instructions")
  add("sm.memory", "memory_lane", lanes * count "mem_instructions")
  add("shared", "shared_word", lanes * (count "lsu.shared_loads" + count "lsu.shared_stores"))
  add("leakage", "sm_leakage", seconds)
end

function counted.LSU() end -- with its SM, which knows the lanes

function counted.DmaEngine(_, count, add) add("shared", "shared_word", count "bytes" / 4) end

local function last_word(path) return path:match "([%a_][%w_]*)[%[%]%d]*$" end

function counted.L1(cache, count, add)
  local part = last_word(cache.path)
  local line = count_cache(cache, count, add, part)
  local entries = count "reexecution_pushes" + count "reexecution_retries"
  add(part .. ".reexecution", "reexecution_entry", entries * line, "sram_bit")
end

function counted.L2(cache, count, add, seconds)
  count_cache(cache, count, add, last_word(cache.path))
  add("leakage", "l2_leakage", cache.size / 1024 * seconds)
end

function counted.Crossbar(crossbar, count, add, seconds)
  add("crossbar", "crossbar_bit", 8 * crossbar.flit * (count "request_flits_in" + count "response_flits_in"))
  add("leakage", "crossbar_leakage", seconds)
end

--- Bits of the smallest SRAM that cost as much as one that is written to a buffer of so many flits and read again.
local function buffered_bits(flit, flits) return 2 * 8 * flit * sram_scale(flit * flits) end

--- A flit that is sent is written to a buffer behind the channel, or at the local port, and read there. The channels of a row are as
-- long as the chip together, twice that in a ring, which is folded; `crossbar_bit` is for half of that.
function counted.Router(router, count, add, seconds)
  local along, across = count "east_flits" + count "west_flits", count "south_flits" + count "north_flits"
  local sides = (router.topology == "torus" and 2 or 1) * (along / router.columns + across / router.rows)
  add("router.channels", "crossbar_bit", 2 * 8 * router.flit * sides)
  add("router.buffers", "sram_bit", (along + across) * buffered_bits(router.flit, 2 * router.vcs * router.buffer)
    + count "local_flits" * buffered_bits(router.flit, router.output_buffer))
  add("leakage", "crossbar_leakage", seconds / (router.columns * router.rows))
end

function counted.MemoryController(controller, count, add, seconds)
  add("dram.activate", "dram_activate", count "activates")
  add("dram.refresh", "dram_activate", (controller.refresh == "bank" and 1 or controller.banks) * count "refreshes")
  add("dram.read", "dram_bit", 8 * controller.burst_bytes * count "read_commands")
  add("dram.write", "dram_bit", 8 * controller.burst_bytes * count "write_commands")
  add("dram.background", "dram_background", seconds)
end

-- Totals --------------------------------------------------------------------------------------------------------------

--- What an event of the number takes, in joules; power takes joules a second.
local function joules(technology, number)
  local value, unit = table.unpack(technology[number])
  return unit:sub(1, 1) == "W" and value or unit:sub(1, 2) == "pJ" and value * 1e-12 or value
end

--- { part =, number =, per = another number that it is a multiple of, or nil, events =, and their sums by voltage and by its square }
-- ..., in order of first mention. stretches(clock): { { value =, seconds =, voltage = } ... } in which its objects have counted.
local function count_by_voltage(structure, stretches, lanes)
  local rows, by_key, voltage = {}, {}, nil
  local function add(part, number, events, per)
    local key = part .. " " .. number
    local row = by_key[key]
    if not row then
      row = { part = part, number = number, per = per, events = 0.0, by_voltage = 0.0, by_square = 0.0 }
      by_key[key], rows[#rows + 1] = row, row
    end
    row.events = row.events + events
    row.by_voltage, row.by_square = row.by_voltage + events * voltage, row.by_square + events * voltage ^ 2
  end
  for _, object in ipairs(structure) do
    for _, stretch in ipairs(stretches(object.clock)) do
      local function count(name) return stretch.value(object.path .. "." .. name) or 0 end
      voltage = stretch.voltage
      counted[object.class](object, count, add, stretch.seconds, lanes)
    end
  end
  return rows
end

local function count_events(structure, value, seconds, lanes)
  local all = { { value = value, seconds = seconds, voltage = 1 } }
  return count_by_voltage(structure, function() return all end, lanes)
end

--- What the technology says of the clocks at the frequencies that they had. `clocks`: { [name] = { hertz =, shares = } }.
local function stretches_of(technology, value, seconds, clocks)
  local by_clock, points_of = {}, points_by_clock(technology)
  return function(name)
    if by_clock[name] then return by_clock[name] end
    local list, points = {}, points_of[name]
    local clock = points and clocks[name]
    for i, share in ipairs(clock and clock.shares or {}) do
      list[i] = { value = function(counter) return share.counters[counter] end, seconds = share.seconds,
        voltage = voltage_at(technology, name, points, share.frequency) }
    end
    if not list[1] then
      list[1] = { value = value, seconds = seconds, voltage = clock and voltage_at(technology, name, points, clock.hertz) or 1 }
    end
    by_clock[name] = list
    return list
  end
end

--- What is made of the energy and the time of a run, by name.
energy.products = {
  { name = "edp", unit = "J s", doc = "Energy-delay product: energy.total times run.seconds" },
  { name = "ed2p", unit = "J s^2", doc = "Energy-delay-squared product: energy.total times run.seconds twice" },
}

--- { total = joules, edp =, ed2p =, parts = { ["dram.read"] = joules ... }, order = names of parts, rows = of what they are made,
-- technology = name, without = classes of the machine that have no energies }. rows: { part =, number =, per =, events =, joules = }.
function energy.of(structure, technology, value, seconds, clocks)
  local e = { total = 0.0, parts = {}, order = {}, technology = technology.name, without = names.sorted_keys(structure.without) }
  e.rows = count_by_voltage(structure, stretches_of(technology, value, seconds, clocks))
  for _, row in ipairs(e.rows) do
    local is_power = technology[row.number][2]:sub(1, 1) == "W"
    row.joules = (is_power and row.by_voltage or row.by_square) * joules(technology, row.number) * (row.per and joules(technology, row.per) or 1)
    if not e.parts[row.part] then
      e.order[#e.order + 1], e.parts[row.part] = row.part, 0.0
    end
    e.parts[row.part] = e.parts[row.part] + row.joules
  end
  table.sort(e.order)
  for _, part in ipairs(e.order) do e.total = e.total + e.parts[part] end
  e.edp, e.ed2p = e.total * seconds, e.total * seconds ^ 2
  return e
end

--- The technology of who names none.
energy.default_technology = "fermi_40nm"

-- Over time -------------------------------------------------------------------------------------------------------------

--- The names of the counters that energies are made of; of those that the machine has not, too.
function energy.counters(structure)
  local list, seen = {}, {}
  count_events(structure, function(name)
    if not seen[name] then list[#list + 1] = name end
    seen[name] = true
  end, 0)
  return list
end

--- The names of the parts, sorted.
function energy.parts(structure)
  local parts = {}
  for _, row in ipairs(count_events(structure, function() end, 0)) do parts[row.part] = true end
  return names.sorted_keys(parts)
end

--- The events of each of the rows of energy.of(), in their order; of an instruction one, however many lanes it has: the lanes are a
-- mean of the whole run, and so what intervals count adds up to what the run does.
function energy.events(structure, value, seconds)
  local events = {}
  for i, row in ipairs(count_events(structure, value, seconds, 1)) do events[i] = row.events end
  return events
end

--- Of each interval { total =, parts = } as in `e`, the energy.of() of a run. `whole`: the run's energy.events(); list: those of the
-- intervals.
function energy.of_intervals(e, whole, list)
  local energies = {}
  for i, events in ipairs(list) do
    local one = { total = 0.0, parts = {} }
    for k, row in ipairs(e.rows) do
      local taken = whole[k] > 0 and row.joules * events[k] / whole[k] or 0.0
      one.parts[row.part], one.total = (one.parts[row.part] or 0.0) + taken, one.total + taken
    end
    energies[i] = one
  end
  return energies
end

--- The same energy with `factors` on numbers of the technology: { sram_bit = 1.5 }; joules.
function energy.scaled(e, factors)
  local total = 0.0
  for _, row in ipairs(e.rows) do
    total = total + row.joules * (factors[row.number] or 1) * (row.per and factors[row.per] or 1)
  end
  return total
end

--- The names of the numbers, in the order in which they are described.
energy.numbers = numbers

local costs_nothing <const> = { AddressMap = true, Dispatcher = true, Mux = true } -- logic, and places where wires meet

--- The classes whose work takes energy that is left out, "Router, VictimBuffer"; nil when there are none.
function energy.left_out(e)
  local classes = {}
  for _, class in ipairs(e.without) do
    if not costs_nothing[class] then classes[#classes + 1] = class end
  end
  return classes[1] and table.concat(classes, ", ")
end

--- Adds the energies to core.stats().
function energy.add_rows(rows, e)
  local docs, left_out = ("by technology %s"):format(e.technology), energy.left_out(e)
  rows:add("energy.total", e.total, "J", ("Energy of the run %s%s"):format(docs, left_out and ", without that of " .. left_out or ""))
  for _, product in ipairs(energy.products) do rows:add("energy." .. product.name, e[product.name], product.unit, product.doc) end
  for _, part in ipairs(e.order) do rows:add("energy." .. part, e.parts[part], "J", "Of it, " .. docs) end
end

return energy
