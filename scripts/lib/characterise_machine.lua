-- What a machine consists of, as far as scripts/characterise wants to know: its parts by the role
-- they play, their parameters and clocks.
local core = require "warpwright.core"

local characterise_machine = {}

local function parameters_of(object)
  local parameters = {}
  for _, parameter in ipairs(core.parameters(object)) do parameters[parameter.name] = parameter.value end
  return parameters
end

--- The port that each port is wired to.
local function peers_of(machine)
  local peers = {}
  for _, wire in ipairs(machine:wires()) do
    peers[wire.from], peers[wire.to] = wire.to, wire.from
  end
  return peers
end

--- The object behind a port, and behind the Mux there, if so; nil where nothing is wired.
local function behind(machine, peers, port)
  local peer = peers[port]
  local object = peer and machine:find((peer:gsub("%.[^.]+$", "")))
  if object and object.class == "Mux" then return behind(machine, peers, object.path .. ".down") end
  return object
end

--- Objects of each class, in order of construction.
local function by_class(machine)
  local classes = {}
  for _, object in ipairs(machine:objects()) do
    classes[object.class] = classes[object.class] or {}
    table.insert(classes[object.class], object)
  end
  return classes
end

local class_roles = {
  { "SM", "sm" }, { "Crossbar", "crossbar" }, { "L2", "l2" }, { "MemoryController", "dram" }, { "Mux", "mux" },
}
local cache_roles = { { "mem", "l1" }, { "constant", "constant_cache" }, { "texture", "texture_cache" } } -- by LSU port

--- Names the part that each object plays: roles[path] = "sm", "lsu", "l1", ...
local function find_roles(machine, classes, peers)
  local roles = {}
  for _, row in ipairs(class_roles) do
    for _, object in ipairs(classes[row[1]] or {}) do roles[object.path] = row[2] end
  end
  for _, sm in ipairs(classes.SM) do
    local lsu = sm.path .. ".lsu"
    roles[lsu] = "lsu"
    for _, row in ipairs(cache_roles) do
      local cache = behind(machine, peers, lsu .. "." .. row[1])
      if cache and cache.class == "L1" and not roles[cache.path] then roles[cache.path] = row[2] end
    end
  end
  return roles
end

local function hertz_of_clocks(machine)
  local hertz = {}
  for _, clock in ipairs((machine:clocks())) do hertz[clock.name] = clock.hertz end
  return hertz
end

--- { paths =, hertz =, parameters = of the first } of the objects of each role.
local function parts_of(machine, roles)
  local hertz, parts = hertz_of_clocks(machine), {}
  local function add(object)
    local role = roles[object.path]
    local part = role and parts[role]
    if part then
      table.insert(part.paths, object.path)
    elseif role then
      parts[role] = {
        hertz = hertz[core.clock_of(object)],
        parameters = parameters_of(object),
        paths = { object.path },
      }
    end
    for _, child in ipairs(core.children(object)) do add(child.object) end
  end
  for _, object in ipairs(machine:objects()) do add(object) end
  return parts
end

--- Each crossbar: { path =, hertz =, channels = of its narrow side, flit = bytes }.
local function crossbars_of(machine, crossbars)
  local hertz, list = hertz_of_clocks(machine), {}
  for i, object in ipairs(crossbars) do
    local p = parameters_of(object)
    list[i] = { path = object.path, hertz = hertz[core.clock_of(object)], channels = math.min(p.up, p.down), flit = p.flit }
  end
  return list
end

local function muxes_of(machine, muxes)
  local hertz, list = hertz_of_clocks(machine), {}
  for i, object in ipairs(muxes) do list[i] = { path = object.path, hertz = hertz[core.clock_of(object)] } end
  return list
end

--- The facts of a machine that was built:
--   quantum        in core cycles
--   core_hertz     of the SMs
--   roles          the role of each object by its path: sm, lsu, l1, constant_cache, texture_cache, mux, crossbar, l2,
--                  dram
--   parts          by role: { paths =, hertz =, parameters = of the first }; nil where the machine has none
--   crossbars      { path =, hertz =, channels = of its narrow side, flit = bytes } ...
--   muxes          { path =, hertz = } ...
--   map            the parameters of the AddressMap
--   warps          of a CTA that has an SM to itself, with 32 registers a thread
function characterise_machine.facts(machine)
  local classes, peers = by_class(machine), peers_of(machine)
  local roles = find_roles(machine, classes, peers)
  local parts = parts_of(machine, roles)
  local sm = parts.sm.parameters
  local _, quantum = machine:clocks()
  return {
    quantum = quantum,
    core_hertz = parts.sm.hertz,
    roles = roles,
    parts = parts,
    crossbars = crossbars_of(machine, classes.Crossbar or {}),
    muxes = muxes_of(machine, classes.Mux or {}),
    map = classes.AddressMap and parameters_of(classes.AddressMap[1]),
    warps = math.min(32, sm.warps, sm.registers // (32 * 32)),
  }
end

--- How many CTAs an SM holds, as its parameters say.
function characterise_machine.occupancy(sm, threads, registers, shared)
  local warps = (threads + 31) // 32
  local per_thread = (registers + sm.register_unit - 1) // sm.register_unit * sm.register_unit
  local bytes = (shared + 127) // 128 * 128
  local fits = math.min(sm.ctas, sm.warps // warps, sm.registers // (per_thread * 32 * warps))
  return bytes > 0 and math.min(fits, sm.shared // bytes) or fits
end

-- Sizes -------------------------------------------------------------------------------------------

--- Of all slices; 0 without an L2.
function characterise_machine.l2_bytes(facts)
  local l2 = facts.parts.l2
  return l2 and #l2.paths * l2.parameters.size or 0
end

local function bits_of(mask)
  local bits = 0
  while mask ~= 0 do mask, bits = mask & mask - 1, bits + 1 end
  return bits
end

--- Of a DRAM row.
function characterise_machine.row_bytes(facts) return 1 << bits_of(facts.map.column_mask) end

--- Memory that has about this many rows of each bank.
function characterise_machine.bytes_of_rows(facts, rows)
  local banks = facts.map.channels << bits_of(facts.map.bank_mask)
  return math.min(128 << 20, rows * banks * characterise_machine.row_bytes(facts))
end

--- The size of a micro workload with the machine's address map added.
function characterise_machine.with_map(facts, size)
  for _, name in ipairs { "channels", "interleave", "row_mask", "bank_mask", "column_mask", "channel_hash", "bank_hash" } do
    size[name] = facts.map[name]
  end
  return size
end

-- Theoretical bandwidths, bytes per second --------------------------------------------------------

local line_bytes <const> = 128 -- the most that moves at once, and what every access of these measurements moves

local theoretical = {}
characterise_machine.theoretical = theoretical

--- Every SM's shared memory serves one warp per cycle, a word of 4 bytes per lane and bank.
function theoretical.shared(facts)
  local sm = facts.parts.sm
  return #sm.paths * 4 * math.min(32, sm.parameters.shared_banks) * sm.hertz
end

--- Every L1 serves one access per cycle.
function theoretical.l1(facts)
  local l1 = facts.parts.l1
  return #l1.paths * line_bytes * l1.hertz
end

--- Every slice serves one access per cycle, as many bytes of it as its data port is wide.
function theoretical.l2(facts)
  local l2 = facts.parts.l2
  return #l2.paths * math.min(line_bytes, l2.parameters.data_port) * l2.hertz
end

--- A flit per cycle on each channel of each crossbar's narrow side.
function theoretical.crossbar(facts)
  local sum = 0
  for _, crossbar in ipairs(facts.crossbars) do sum = sum + crossbar.channels * crossbar.flit * crossbar.hertz end
  return sum
end

function theoretical.dram(facts)
  local dram = facts.parts.dram
  return #dram.paths * dram.parameters.bus_bytes * dram.hertz
end

--- What DRAM allows when every activate is followed by `bytes` of its row: a bank activates every
-- tRC, a channel every tRRD, and the bus is there too.
function characterise_machine.rows_allow(facts, bytes, banks)
  local dram = facts.parts.dram
  local p = dram.parameters
  local activates = math.min(1 / p.tRRD, math.min(banks, p.banks) / p.tRC) -- per cycle
  return math.min(theoretical.dram(facts), #dram.paths * dram.hertz * activates * bytes)
end

return characterise_machine
