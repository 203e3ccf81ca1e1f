-- Machines made of settings. A setting is a name with a value: "sms", "l1", "quantum" say which
-- parts there are and how they are wired, "wire.up.depth" is of a kind of wires, "sm[*].warps" and
-- "sm[1].warps" are parameters. What no setting names is plain. So any part of the settings of a
-- machine makes a machine, a simpler one.
local core = require "warpwright.core"
local names = require "warpwright.names"
local rows = require "scripts.lib.torture.rows"
local ww = require "warpwright"

local machine = {}

--- Files of classes that are written in Lua, of which machines may have objects.
local class_files <const> = { "victim_buffer", "traffic_shaper", "link_compressor" }
for _, file in ipairs(class_files) do require("warpwright.class").use(file) end

-- Settings ----------------------------------------------------------------------------------------

--- A function get(name, plain value) over a list of { name, value }.
function machine.reader(settings)
  local by_name = {}
  for _, setting in ipairs(settings) do by_name[setting[1]] = setting[2] end
  return function(name, plain)
    local value = by_name[name]
    if value == nil then return plain end
    return value
  end
end

-- Which parts there are ---------------------------------------------------------------------------

local Plan = {}
Plan.__index = Plan

--- An object: its parameters so far, in `child` those of parts that its class brings with it.
function Plan:add(class, path, params, clock)
  local object = { class = class, path = path, params = params or {}, clock = self.clocks[clock] and clock }
  if class == "SM" then object.child = { name = "lsu", class = "LSU", path = path .. ".lsu", params = {} } end
  self.objects[#self.objects + 1] = object
  return path
end

--- Wires of a kind have the same latencies, depths and widths. `clocks`: those of sender and
-- receiver, for wires that may cut the machine, which are as slow as a quantum.
function Plan:wire(kind, from, to, clocks)
  self.wires[#self.wires + 1] = { kind = kind, from = from, to = to, clocks = clocks }
end

--- The clock that a part of this kind has.
function Plan:clock(name) return self.clocks[name] and name or "core" end

local function add_clocks(plan, get)
  for _, name in ipairs { "core", "icnt", "l2", "dram" } do
    plan.clocks[name] = get("clock." .. name, name == "core" and 700 or nil)
  end
  plan.quantum = get("quantum", 4)
end

--- Joins `ports` into one by a Mux, which belongs to `owner`, a path with a dot behind it, or to
-- nobody.
local function mux(plan, path, ports, kind)
  plan:add("Mux", path, { up = #ports })
  for i, port in ipairs(ports) do plan:wire(kind, port, ("%s.up[%d]"):format(path, i - 1)) end
  return path .. ".down"
end

local plain_l1 = { size = 16384, ways = 4, mshrs = 32 }
local plain_read_only = { size = 8192, ways = 2, mshrs = 8 }

local function copy(params)
  local copied = {}
  for _, key in ipairs(names.sorted_keys(params)) do copied[key] = params[key] end
  return copied
end

--- An object that passes messages on, behind `port`; returns its own port to memory.
local function between(plan, class, path, port, kind, clock)
  plan:add(class, path, {}, clock)
  plan:wire(kind, port, path .. ".up")
  return path .. ".down"
end

--- A cache behind `port`; returns its own port to memory.
local function cache(plan, path, params, port, kind)
  plan:add("L1", path, copy(params))
  plan:wire(kind, port, path .. ".cpu")
  return path .. ".mem"
end

--- A TLB behind `port`; returns its own port to memory.
local function tlb(plan, path, port)
  plan.walks[#plan.walks + 1] = path .. ".walk"
  return between(plan, "TLB", path, port, "tlb")
end

--- What answers the TLBs; `ports`: towards the network, of which the walker gets one.
local function add_walker(plan, get, ports)
  local walk = #plan.walks == 1 and plan.walks[1] or mux(plan, "walks", plan.walks, "walk")
  if get("second_tlb", false) then
    plan:add("TLB", "second_tlb")
    plan:wire("walk", walk, "second_tlb.up")
    walk = "second_tlb.walk"
  end
  plan:add("PageWalker", "walker")
  plan:wire("walk", walk, "walker.up")
  ports[#ports + 1] = "walker.mem"
end

--- The caches of each SM alone: returns ports towards the network, and those that are to be shared,
-- by name.
local function add_sm(plan, get, i)
  local sm = plan:add("SM", ("sm[%d]"):format(i))
  local l1, ports, shared = get("l1", "own"), {}, {}
  local mem = get("tlb", "none") == "front" and tlb(plan, sm .. ".tlb", sm .. ".lsu.mem") or sm .. ".lsu.mem"
  plan:wire("dispatch", ("dispatcher.sm[%d]"):format(i), sm .. ".dispatch", { "core", "core" })
  if l1 == "shared" then
    shared.l1d = mem
  elseif l1 == "none" then
    ports[1] = mem
  else
    ports[1] = cache(plan, sm .. ".l1d", plain_l1, mem, "l1")
    if get("victims", false) then ports[1] = between(plan, "VictimBuffer", sm .. ".victims", ports[1], "victims") end
    if l1 == "two" then ports[1] = cache(plan, sm .. ".l15", plain_l1, ports[1], "l15") end
    if l1 == "shared l15" then shared.l15, ports[1] = ports[1], nil end
  end
  for _, name in ipairs { "constant", "texture" } do
    local kind, port = get(name, "none"), ("%s.lsu.%s"):format(sm, name)
    if kind == "own" then ports[#ports + 1] = cache(plan, ("%s.%s_cache"):format(sm, name), plain_read_only, port, name) end
    if kind == "shared" then shared[name .. "_cache"] = port end
    if kind == "bare" then ports[#ports + 1] = port end
  end
  if get("fetch", false) then ports[#ports + 1] = sm .. ".fetch" end
  local dma = get("dma", "none")
  if dma ~= "none" then
    plan:add("DmaEngine", sm .. ".dma")
    plan:wire("dma", sm .. ".transfers", sm .. ".dma.sm")
    if dma == "l1" and l1 ~= "none" and l1 ~= "shared" then
      plan:wire("dma", sm .. ".dma.mem", sm .. ".l1d.dma")
    else
      ports[#ports + 1] = sm .. ".dma.mem"
    end
  end
  if get("sm_mux", false) and #ports > 1 then ports = { mux(plan, sm .. ".mux", ports, "sm_mux") } end
  if get("shaper", false) and ports[1] then ports[1] = between(plan, "TrafficShaper", sm .. ".shaper", ports[1], "shaper") end
  if get("tlb", "none") == "behind" and ports[1] then ports[1] = tlb(plan, sm .. ".tlb", ports[1]) end
  return ports, shared
end

--- SMs in groups, each of which may share caches; returns all ports towards the network.
local function add_sms(plan, get)
  local sms, together, ports = plan.sms, get("sms_of_a_group", 2), {}
  local function finish_group(group, shared)
    for _, name in ipairs { "l1d", "l15", "constant_cache", "texture_cache" } do
      if shared[name] then
        local path, params = ("%s[%d]"):format(name, group), name:find "cache" and plain_read_only or plain_l1
        local port = #shared[name] == 1 and shared[name][1]
          or mux(plan, ("%s_mux[%d]"):format(name, group), shared[name], "share")
        ports[#ports + 1] = cache(plan, path, params, port, name)
      end
    end
  end
  local shared = {}
  for i = 0, sms - 1 do
    local own, to_share = add_sm(plan, get, i)
    table.move(own, 1, #own, #ports + 1, ports)
    for _, name in ipairs(names.sorted_keys(to_share)) do
      shared[name] = shared[name] or {}
      table.insert(shared[name], to_share[name])
    end
    if (i + 1) % together == 0 or i == sms - 1 then
      finish_group(i // together, shared)
      shared = {}
    end
  end
  return ports
end

--- A machine without SMs: sources of random requests, some of them with an L1.
local function add_sources(plan, get)
  local ports = {}
  for i = 0, get("sources", 1) - 1 do
    local source = plan:add("TrafficSource", ("source[%d]"):format(i), { footprint = 1 << 20 })
    ports[i + 1] = source .. ".mem"
    if get("shaper", false) then ports[i + 1] = between(plan, "TrafficShaper", ("shaper[%d]"):format(i), ports[i + 1], "shaper") end
    if get("tlb", "none") ~= "none" then ports[i + 1] = tlb(plan, ("tlb[%d]"):format(i), ports[i + 1]) end
    if get("source_l1", false) then ports[i + 1] = cache(plan, ("l1d[%d]"):format(i), plain_l1, ports[i + 1], "l1") end
  end
  return ports
end

local most_ports <const> = 64 -- of a crossbar or a Mux

local function join(plan, path, ports, clock)
  plan:add("Mux", path, { up = #ports }, "icnt")
  for i, port in ipairs(ports) do plan:wire("up", port, ("%s.up[%d]"):format(path, i - 1), { "core", clock }) end
  return { path .. ".down" }
end

--- A crossbar; `kind`: of the wires to it, `clocks` theirs.
local function crossbar(plan, path, ports, downs, kind, clocks)
  plan:add("Crossbar", path, { up = #ports, down = downs }, "icnt")
  for i, port in ipairs(ports) do plan:wire(kind, port, ("%s.up[%d]"):format(path, i - 1), clocks) end
  local down = {}
  for i = 1, downs do down[i] = ("%s.down[%d]"):format(path, i - 1) end
  return down
end

--- A crossbar behind crossbars of so many ports each.
local function series(plan, get, ports, slices, clock)
  local near, together = {}, get("ports_of_a_crossbar", 2)
  for first = 1, #ports, together do
    local some = table.move(ports, first, math.min(first + together - 1, #ports), 1, {})
    near[#near + 1] = crossbar(plan, ("near[%d]"):format(#near), some, 1, "up", { "core", clock })[1]
  end
  return crossbar(plan, "xbar", near, slices, "middle")
end

--- Routers in a rectangle; ports and slices are dealt out to them in turn.
local function routers(plan, get, kind, ports, slices, clock)
  local columns, rows_of = get("columns", 2), kind == "ring" and 1 or get("rows", 2)
  local count, wraps, up, down, path = columns * rows_of, kind ~= "mesh", {}, {}, "net[%d]"
  for i = 0, count - 1 do up[i], down[i] = 0, 0 end
  for i, port in ipairs(ports) do
    local at = (i - 1) % count
    plan:wire("up", port, (path .. ".up[%d]"):format(at, up[at]), { "core", clock })
    up[at] = up[at] + 1
  end
  local to_slices = {}
  for s = 1, slices do
    local at = (count - s) % count
    to_slices[s] = (path .. ".down[%d]"):format(at, down[at])
    down[at] = down[at] + 1
  end
  for i = 0, count - 1 do
    local x, y = i % columns, i // columns
    plan:add("Router", path:format(i), { up = up[i], down = down[i], x = x, y = y, columns = columns, rows = rows_of,
      topology = wraps and "torus" or "mesh" }, "icnt")
    local function channel(from, to, other)
      plan:wire("channel", (path .. ".%s"):format(i, to), (path .. ".from_%s"):format(other, from))
      plan:wire("channel", (path .. ".%s"):format(other, from), (path .. ".from_%s"):format(i, to))
    end
    if columns > 1 and (wraps or x + 1 < columns) then channel("west", "east", y * columns + (x + 1) % columns) end
    if rows_of > 1 and (wraps or y + 1 < rows_of) then channel("north", "south", (y + 1) % rows_of * columns + x) end
  end
  return to_slices
end

--- Returns the ports of the network towards the L2 slices, in order.
local function add_network(plan, get, ports)
  local slices, kind = plan.channels * plan.slices, get("network", "direct")
  local icnt = plan:clock "icnt"
  if #ports > most_ports then core.user_error ("expected up to %d ports on a network, got %d"):format(most_ports, #ports) end
  if slices == 1 and kind == "direct" and #ports == 1 then return ports, "core" end
  if slices == 1 and kind == "direct" then return join(plan, "network", ports, icnt), icnt end
  if kind == "series" then return series(plan, get, ports, slices, icnt), icnt end
  if kind == "mesh" or kind == "ring" or kind == "torus" then return routers(plan, get, kind, ports, slices, icnt), icnt end
  return crossbar(plan, "xbar", ports, slices, "up", { "core", icnt }), icnt
end

local function add_memory(plan, get, down, clock)
  for c = 0, plan.channels - 1 do
    local sink = get("memory", "dram") == "sink"
    if not sink then plan:add("MemoryController", ("mc[%d]"):format(c), { ports = plan.slices }, "dram") end
    for k = 0, plan.slices - 1 do
      local s = c * plan.slices + k
      local l2 = plan:add("L2", ("l2[%d]"):format(s), { size = 65536, ways = 8, mshrs = 32 }, "l2")
      plan:wire("down", down[s + 1], l2 .. ".cpu", { clock, plan:clock "l2" })
      if sink then plan:add("TrafficSink", ("memory[%d]"):format(s), {}, "dram") end
      local mem = l2 .. ".mem"
      if get("squeeze", false) then mem = between(plan, "LinkCompressor", ("squeeze[%d]"):format(s), mem, "squeeze", "l2") end
      plan:wire("mem", mem, sink and ("memory[%d].cpu"):format(s) or ("mc[%d].cpu[%d]"):format(c, k))
    end
  end
end

-- Parameters --------------------------------------------------------------------------------------

--- Objects, and the parts that their classes bring with them.
function machine.each(plan)
  local list = {}
  for _, object in ipairs(plan.objects) do
    list[#list + 1] = object
    list[#list + 1] = object.child
  end
  return ipairs(list)
end

--- "sm[3].l1d" as "sm[*].l1d".
function machine.pattern(path) return (path:gsub("%[%d+%]", "[*]")) end

local function set_parameters(plan, settings)
  local by_object = {}
  for _, setting in ipairs(settings) do
    local path, parameter = setting[1]:match "^(.+)%.([%w_]+)$"
    if path then
      by_object[path] = by_object[path] or {}
      table.insert(by_object[path], { parameter, setting[2] })
    end
  end
  for _, object in machine.each(plan) do
    for _, path in ipairs { machine.pattern(object.path), object.path } do
      for _, setting in ipairs(by_object[path] or {}) do object.params[setting[1]] = setting[2] end
      if path == machine.pattern(path) and path == object.path then break end -- it is its own pattern
    end
  end
end

-- Rules between parameters that rows do not tell; see the checks in the classes -------------------

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

local legal = {}

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

-- Wires -------------------------------------------------------------------------------------------

--- Cycles of the sender that take as long as a quantum.
local function least_latency(plan, clock)
  return (plan.quantum * plan.clocks[clock] + plan.clocks.core - 1) // plan.clocks.core
end

--- `get` says how much slower than it must be a wire is: then the same setting is legal with any
-- quantum.
local function finish_wires(plan, get)
  for _, wire in ipairs(plan.wires) do
    for _, back in ipairs { "", "back." } do
      local options, prefix = {}, ("wire.%s.%s"):format(wire.kind, back)
      local sender = wire.clocks and wire.clocks[back == "" and 1 or 2]
      options.latency = (sender and not plan.loose and least_latency(plan, sender) or 1) + get(prefix .. "latency", 0)
      for _, name in ipairs { "depth", "width" } do options[name] = get(prefix .. name, nil) end
      wire[back == "" and "forward" or "back"] = options
    end
  end
end

-- The whole ---------------------------------------------------------------------------------------

--- What the settings make: { clocks, quantum, objects, wires } as plain data. `needs`: what the
-- workload's kernels need at most, { warps and shared of a CTA, registers of a thread, engine = is
-- one needed? }; nil for a machine without SMs.
function machine.plan(settings, needs)
  local get = machine.reader(settings)
  local plan = setmetatable({
    clocks = {}, objects = {}, wires = {}, walks = {}, page = get("page", 65536), needs = needs, sms = get("sms", 1), channels = get("channels", 1),
    slices = get("slices", 1), loose = get("loose", false), texture = get("texture", "none"),
  }, Plan)
  add_clocks(plan, get)
  plan:add("AddressMap", "map", { channels = plan.channels, slices_per_channel = plan.slices })
  if needs then plan:add("Dispatcher", "dispatcher", { sms = plan.sms }) end
  local ports = needs and add_sms(plan, get) or add_sources(plan, get)
  if #plan.walks > 0 then add_walker(plan, get, ports) end
  local down, clock = add_network(plan, get, ports)
  add_memory(plan, get, down, clock)
  set_parameters(plan, settings)
  for _, object in machine.each(plan) do
    local rule = legal[object.class]
    if rule then rule(object, plan) end
  end
  finish_wires(plan, get)
  return plan
end

--- Kinds of wires, in the order in which they come.
function machine.wire_kinds(plan)
  local kinds, seen = {}, {}
  for _, wire in ipairs(plan.wires) do
    if not seen[wire.kind] then kinds[#kinds + 1] = wire.kind end
    seen[wire.kind] = true
  end
  return kinds
end

-- As a machine, and as text -----------------------------------------------------------------------

local function wire_options(wire)
  local options = copy(wire.forward)
  options.back = copy(wire.back)
  return options
end

local function clock_texts(plan)
  local clocks = {}
  for _, name in ipairs(names.sorted_keys(plan.clocks)) do clocks[name] = plan.clocks[name] .. "MHz" end
  return clocks
end

--- A description for ww.build().
function machine.description(plan)
  return ww.machine("torture", function(m)
    m:clocks(clock_texts(plan))
    m:quantum(plan.quantum)
    for _, file in ipairs(class_files) do m:use(file) end
    for _, object in ipairs(plan.objects) do
      local params = copy(object.params)
      params.clock = object.clock or nil
      if object.child then params[object.child.name] = object.child.params end
      m[object.class](m, object.path)(params)
    end
    for _, wire in ipairs(plan.wires) do m:wire(wire.from, wire.to, wire_options(wire)) end
  end)
end

local function table_text(values)
  local parts = {}
  for i, key in ipairs(names.sorted_keys(values)) do
    local value = values[key]
    parts[i] = ("%s = %s"):format(key, type(value) == "table" and table_text(value)
      or type(value) == "string" and ("%q"):format(value) or tostring(value))
  end
  return #parts > 0 and ("{ %s }"):format(table.concat(parts, ", ")) or "{}"
end

--- Wires of which most have one option in one direction.
local function wire_text(wire)
  local options = {}
  for _, name in ipairs { "latency", "depth", "width" } do
    local plain = name == "latency" and 1 or nil
    if wire.forward[name] ~= plain or wire.back[name] ~= plain then options = wire_options(wire) end
  end
  if next(options) and table_text(options.back) == table_text(wire.forward) then options.back = nil end
  return ("  m:wire(%q, %q%s)\n"):format(wire.from, wire.to, next(options) and ", " .. table_text(options) or "")
end

--- Lua that returns the same machine.
function machine.text(plan, name)
  local lines = {
    'local ww = require "warpwright"\n\n',
    ("return ww.machine(%q, function(m)\n"):format(name),
    ("  m:clocks %s\n"):format(table_text(clock_texts(plan))),
    ("  m:quantum(%d)\n"):format(plan.quantum),
  }
  for _, file in ipairs(class_files) do lines[#lines + 1] = ("  m:use %q\n"):format(file) end
  for _, object in ipairs(plan.objects) do
    local params = copy(object.params)
    params.clock = object.clock or nil
    if object.child and next(object.child.params) then params[object.child.name] = object.child.params end
    lines[#lines + 1] = ("  m:%s %q %s\n"):format(object.class, object.path, table_text(params))
  end
  for _, wire in ipairs(plan.wires) do lines[#lines + 1] = wire_text(wire) end
  lines[#lines + 1] = "end)\n"
  return table.concat(lines)
end

return machine
