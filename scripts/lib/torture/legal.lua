-- Rules between the parameters of an object, of its machine and its kernels that rows do not tell; see the checks in the classes. By
-- class: legal[class](object, plan) changes what breaks one. `plan` is that of machine.plan().
local names = require "warpwright.names"
local rows = require "scripts.lib.torture.rows"

local legal = {}

--- The value that an object has.
local function value_of(object, name)
  local value = object.params[name]
  if value == nil then return rows.default_of(object.class, name) end
  return value
end

--- Changes a parameter that breaks a rule.
local function put(object, name, value)
  if value_of(object, name) ~= value then object.params[name] = value end
end

local function at_least(object, name, least)
  if value_of(object, name) < least then object.params[name] = least end
end

local function at_most(object, name, most)
  if value_of(object, name) > most then object.params[name] = most end
end

local function power_of_two_to(n)
  local power = 1
  while 2 * power <= n do power = 2 * power end
  return power
end

local function log2(n)
  local bits = 0
  while n > 1 do n, bits = n // 2, bits + 1 end
  return bits
end

local widest_access <const> = 128
local most_lines <const> = 1 << 13 -- more than any run here touches

--- A whole number of sets; of those that masks choose, a power of two, and a mask for each bit.
-- `least`: bytes.
local function make_geometry_legal(object, size_name, ways_name, line_name, least)
  local way = value_of(object, ways_name) * value_of(object, line_name)
  local sets = math.max((least + way - 1) // way, math.min(value_of(object, size_name), most_lines * 128) // way)
  local masks = {}
  for mask in (value_of(object, "index_masks") or ""):gmatch "[^,]+" do masks[#masks + 1] = mask end
  if object.class ~= "SM" then
    if value_of(object, "index") == "xor" and #masks == 0 then put(object, "index", "linear") end
    if value_of(object, "index") == "xor" then
      sets = math.min(power_of_two_to(sets), 1 << #masks)
      put(object, "index_masks", table.concat(masks, ",", 1, log2(sets)))
      if sets == 1 then object.params.index, object.params.index_masks = nil, nil end
    else
      object.params.index_masks = nil
    end
  end
  put(object, size_name, sets * way)
end

--- Parameters that go with lru, with partitions, with caches of up to 64 ways, or with several sets
-- alone.
local function make_replacement_legal(object)
  local ways = value_of(object, "ways")
  local sets = value_of(object, "size") // (ways * value_of(object, "line"))
  if ways > 64 then object.params.replacement, object.params.partition_by = nil, nil end
  if value_of(object, "replacement") == "drrip" and sets < 4 then object.params.replacement = nil end
  if value_of(object, "replacement") ~= "lru" then object.params.insertion_position, object.params.retention_priority = nil, nil end
  if value_of(object, "partition_by") == "none" then object.params.way_masks = nil end
  local masks = {}
  for mask in (value_of(object, "way_masks") or ""):gmatch "[^,]+" do
    masks[#masks + 1] = ("0x%x"):format(math.max(1, tonumber(mask) & ((1 << math.min(ways, 62)) - 1)))
  end
  if #masks > 0 then put(object, "way_masks", table.concat(masks, ",")) end
end

local function make_cache_legal(object)
  local read_only = object.path:find "_cache" ~= nil
  local line = value_of(object, "line")
  if not read_only then put(object, "line", widest_access) end -- coalesced accesses are of up to 128 B
  if read_only and line ~= 32 and line ~= 64 and line ~= 128 then put(object, "line", line < 64 and 32 or 64) end
  at_most(object, "sectors", value_of(object, "line") // 32)
  put(object, "sectors", power_of_two_to(math.max(1, value_of(object, "sectors"))))
  make_geometry_legal(object, "size", "ways", "line", 1)
  make_replacement_legal(object)
end

--- Loads of what is only read go by the port for textures, where there is one. SMs come before their caches.
function legal.LSU(object, plan)
  if plan.texture == "none" then object.params.read_only_segment = nil end
  plan.read_only_segment = math.max(plan.read_only_segment or 0, value_of(object, "read_only_segment"))
end

function legal.L1(object, plan)
  if object.path:find "texture_cache" then at_least(object, "line", plan.read_only_segment or 0) end
  make_cache_legal(object)
  -- Stores come to it, and one that serves reads alone refuses them.
  if not object.path:find "_cache" and value_of(object, "write_policy") == "none" then object.params.write_policy = nil end
end

legal.L2 = make_cache_legal

--- A row is closed, refreshed, opened and read from one refresh to the next, and each bank's row
-- may be opened first.
local function least_refresh_interval(object)
  local function v(name) return value_of(object, name) end
  local burst, by_bank = v "burst_bytes" // v "bus_bytes", v "refresh" == "bank"
  local closes = math.max(v "tRAS", v "tWL" + burst + v "tWR", v "tRTPL")
  local refreshed = math.max(v "tRC", v "tRRDL", closes + v "tRP") + v(by_bank and "tRFCpb" or "tRFC")
  local bus = math.max(v "tCCD", v "tCCDL", v "tWL" + burst + v "tCDLR", v "tCL" + burst + 2 - v "tWL")
  local least = math.max(math.max(refreshed, v "tRRD", v "tFAW") + v "tRCD", bus) + v "banks"
  return by_bank and math.max(least, v "banks" * (closes + 1)) or least
end

function legal.MemoryController(object)
  at_most(object, "bank_groups", value_of(object, "banks"))
  at_least(object, "burst_bytes", value_of(object, "bus_bytes"))
  at_least(object, "tCCD", value_of(object, "burst_bytes") // value_of(object, "bus_bytes"))
  at_least(object, "tCCDL", value_of(object, "tCCD"))
  if value_of(object, "tRRDL") > 0 then at_least(object, "tRRDL", value_of(object, "tRRD")) end
  if value_of(object, "tREFI") > 0 then at_least(object, "tREFI", least_refresh_interval(object)) end
  local queues = {}
  for queue in (value_of(object, "class_queues") or ""):gmatch "%d+" do
    queues[#queues + 1] = math.min(math.tointeger(queue), value_of(object, "queues") - 1)
  end
  if object.params.class_queues then object.params.class_queues = table.concat(queues, ",") end
end

function legal.Crossbar(object)
  local longest_packet <const> = 2 * widest_access -- and a head, which is shorter
  at_least(object, "output_buffer", (longest_packet + value_of(object, "flit") - 1) // value_of(object, "flit"))
end

local most_heads <const>, packet_bytes <const> = 64, widest_access + 8

--- All routers of a network have these in common.
function legal.Router(object, plan)
  plan.router = plan.router or object
  for _, name in ipairs { "routing", "vcs", "buffer", "flit" } do object.params[name] = plan.router.params[name] end
  object.params.dateline = nil -- without it, a ring may hang
  local free = 64 // 8
  for _, other in ipairs(plan.objects) do
    if other.class == "Router" then
      free = math.min(free, (most_heads - other.params.up - other.params.down) // 8)
    end
  end
  at_most(object, "vcs", free)
  at_least(object, "vcs", (object.params.topology == "torus" and 2 or 1) + (value_of(object, "routing") == "adaptive" and 1 or 0))
  for _, name in ipairs { "buffer", "output_buffer" } do
    at_least(object, name, (packet_bytes + value_of(object, "flit") - 1) // value_of(object, "flit"))
  end
end

local timing_classes = {}
for _, row in ipairs(rows.of_class "SM") do
  local class = row.name:match "^(.*)_latency$"
  if class then timing_classes[#timing_classes + 1] = class end
end

--- From issue to write-back, what a unit has in flight must find room where write-backs wait.
local function make_timing_legal(object, unit)
  local stages <const>, slots <const>, entries <const> = 160, 2048, 4096
  local before = value_of(object, unit .. "_collectors") + value_of(object, unit .. "_latches")
  local most, longest = (entries // 2 - before) // value_of(object, unit .. "_units") - stages, 0
  local function each(change)
    for _, class in ipairs(timing_classes) do
      if value_of(object, class .. "_unit") == unit then change(class) end
    end
  end
  each(function(class)
    at_most(object, class .. "_latency", math.min(most, slots // 2))
    longest = math.max(longest, value_of(object, class .. "_latency"))
  end)
  each(function(class) at_most(object, class .. "_interval", (slots - stages - longest) // before) end)
end

function legal.SM(object, plan)
  local needs, unit = plan.needs, value_of(object, "register_unit")
  at_least(object, "warps", needs.warps)
  at_least(object, "shared", needs.shared + value_of(object, "reserved_shared"))
  at_least(object, "registers", 32 * needs.warps * ((needs.registers + unit - 1) // unit) * unit)
  make_geometry_legal(object, "code_bytes", "code_ways", "code_line", 128)
  if value_of(object, "schedulers") % value_of(object, "sub_cores") ~= 0 then object.params.sub_cores = nil end
  for _, unit_class in ipairs { "sp", "sfu", "int", "dp", "matrix" } do make_timing_legal(object, unit_class) end
end

--- What the kernels need; without the check those that use the engine compute with stale data.
function legal.DmaEngine(object, plan)
  at_least(object, "buffers", plan.needs.engine and 4 or 1)
  if plan.needs.engine then object.params.check = nil end
end

--- All of a machine have the same pages.
function legal.TLB(object, plan)
  local entries, ways = value_of(object, "entries"), value_of(object, "ways")
  put(object, "page", plan.page)
  if ways > entries then object.params.ways = nil end
  if value_of(object, "ways") > 0 then put(object, "entries", entries // ways * ways) end
end

function legal.PageWalker(object, plan)
  put(object, "page", plan.page)
  at_most(object, "levels", (48 - log2(plan.page) + 8) // 9)
end

--- Addresses of every slice are among those that it asks for.
function legal.TrafficSource(object, plan)
  at_least(object, "footprint", 1 << 20)
  at_most(object, "destination", plan.channels * plan.slices - 1)
  put(object, "base", value_of(object, "base") // widest_access * widest_access)
end

local function bits_of(mask)
  local list = {}
  for bit = 0, 51 do
    if mask >> bit & 1 == 1 then list[#list + 1] = bit end
  end
  return list
end

--- The lowest `count` bits of a mask, with bits from 7 on if it has fewer.
local function with_bits(mask, count)
  local result, have = 0, 0
  for _, bit in ipairs(bits_of(mask & ~127)) do
    if have < count then result, have = result | 1 << bit, have + 1 end
  end
  for bit = 7, 51 do
    if have < count and result >> bit & 1 == 0 then result, have = result | 1 << bit, have + 1 end
  end
  return result
end

--- A mask for each of the bits under `own`, which follow from these: it has that bit, and none of
-- the lower ones. nil: none are wanted.
local function xor_masks(text, own)
  local drawn, masks = {}, {}
  for mask in text:gmatch "[^,]+" do drawn[#drawn + 1] = math.tointeger(tonumber(mask)) end
  for i, bit in ipairs(drawn[1] and bits_of(own) or {}) do
    masks[i] = ("0x%x"):format(drawn[(i - 1) % #drawn + 1] & ~(own & ((2 << bit) - 1)) | 1 << bit)
  end
  return masks[1] and table.concat(masks, ",")
end

local function make_xor_masks_legal(object, plan, map)
  local channel_bits = (plan.channels - 1) << log2(value_of(object, "interleave"))
  local by_mask = plan.channels & (plan.channels - 1) == 0 and not value_of(object, "channel_hash")
  object.params.channel_masks = by_mask and xor_masks(value_of(object, "channel_masks"), channel_bits) or nil
  object.params.bank_masks = not value_of(object, "bank_hash") and xor_masks(value_of(object, "bank_masks"), map.bank_mask) or nil
  object.params.slice_masks = xor_masks(value_of(object, "slice_masks"), map.slice_mask)
end

function legal.AddressMap(object, plan)
  local banks, map = math.huge, {}
  for _, other in ipairs(plan.objects) do
    if other.class == "MemoryController" then banks = math.min(banks, value_of(other, "banks")) end
  end
  for _, name in ipairs { "row_mask", "bank_mask", "column_mask", "slice_mask" } do
    map[name] = math.tointeger(tonumber(value_of(object, name)))
  end
  if banks ~= math.huge and #bits_of(map.bank_mask) > log2(banks) then map.bank_mask = with_bits(map.bank_mask, log2(banks)) end
  map.slice_mask = with_bits(map.slice_mask, plan.slices & (plan.slices - 1) == 0 and log2(plan.slices) or 0)
  map.row_mask = map.row_mask & ~127 & ~map.bank_mask
  map.column_mask = map.column_mask & ~map.bank_mask & ~map.row_mask
  for _, name in ipairs(names.sorted_keys(map)) do
    if map[name] ~= math.tointeger(tonumber(rows.default_of("AddressMap", name))) then
      object.params[name] = ("0x%x"):format(map[name])
    else
      object.params[name] = nil
    end
  end
  make_xor_masks_legal(object, plan, map)
end

return legal
