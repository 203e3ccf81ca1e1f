-- Machines made of settings. A setting is a name with a value: "sms", "l1", "quantum" say which
-- parts there are and how they are wired, "wire.up.depth" is of a kind of wires, "sm[*].warps" and
-- "sm[1].warps" are parameters. What no setting names is plain. So any part of the settings of a
-- machine makes a machine, a simpler one.
local core = require "warpwright.core"
local legal = require "scripts.lib.torture.legal"
local names = require "warpwright.names"
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
