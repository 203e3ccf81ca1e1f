-- Networks of as many sources as sinks in several topologies, and what theory says of them under
-- uniform traffic of single flits.
local network = require "configs.lib.network"
local ww = require "warpwright"

local topologies = { names = { "crossbar", "series", "mesh", "ring", "torus" } }

local router_latency <const>, group <const>, slice_bytes <const> = 2, 4, 128

--- The shape of a network of so many nodes: columns, rows.
local function shape(name, nodes)
  local side = math.floor(math.sqrt(nodes) + 0.5)
  if name == "ring" then return nodes, 1 end
  return side, nodes // side
end

--- Which numbers of nodes every topology has: squares of even numbers.
function topologies.is_legal(nodes)
  local side = math.floor(math.sqrt(nodes) + 0.5)
  return side * side == nodes and side % 2 == 0 and nodes <= 64
end

-- Theory ------------------------------------------------------------------------------------------

--- The steps along one dimension, +1 or -1 and how many; as the class Router goes them.
local function steps(from, to, side, wraps)
  if not wraps then return to > from and 1 or -1, math.abs(to - from) end
  local forward, backward = (to - from) % side, (from - to) % side
  if forward < backward or forward == backward and from % 2 == 0 then return 1, forward end
  return -1, backward
end

--- Adds the channels of a way to `load`; returns how many.
local function walk(load, name, from, to, columns, rows)
  local wraps, hops = name ~= "mesh", 0
  local x, y = from % columns, from // columns
  for dimension = 1, 2 do
    local at, goal, side = x, to % columns, columns
    if dimension == 2 then at, goal, side = y, to // columns, rows end
    local direction, count = steps(at, goal, side, wraps)
    for _ = 1, count do
      local channel = ("%d,%d,%d,%d"):format(x, y, dimension, direction)
      load[channel] = (load[channel] or 0) + 1
      hops = hops + 1
      if dimension == 1 then x = (x + direction) % columns else y = (y + direction) % rows end
    end
  end
  return hops
end

--- Mean hops, and flits per cycle of a node at which the fullest channel is always busy (at most 1:
-- a sink's own).
local function reckon(name, nodes)
  local columns, rows = shape(name, nodes)
  local load, hops, fullest = {}, 0, nodes
  for from = 0, nodes - 1 do
    for to = 0, nodes - 1 do hops = hops + walk(load, name, from, to, columns, rows) end
  end
  for _, ways in pairs(load) do fullest = math.max(fullest, ways) end
  return hops / nodes / nodes, nodes / fullest
end

--- What theory says: mean hops (of networks of routers), latency of a packet alone, highest
-- throughput of a node.
function topologies.theory(name, nodes)
  local links <const> = 2
  if name == "crossbar" then return { latency = links + 1, throughput = 1 } end
  if name == "series" then return { latency = links + 1 + 1 + 1, throughput = 1 / group } end
  local hops, throughput = reckon(name, nodes)
  return { hops = hops, latency = links + router_latency + hops * (router_latency + 1), throughput = throughput }
end

-- Machines ----------------------------------------------------------------------------------------

--- Makes the network; returns functions that give the port of a source and of a sink.
local function make(m, name, nodes)
  if name == "crossbar" then
    local xbar = m:Crossbar "xbar" { up = nodes, down = nodes }
    return function(i) return xbar.up[i] end, function(j) return xbar.down[j] end
  elseif name == "series" then
    local xbar, near = m:Crossbar "xbar" { up = nodes // group, down = nodes }, {}
    for g = 0, nodes // group - 1 do
      near[g] = m:Crossbar ("near", g) { up = group, down = 1 }
      m:wire(near[g].down[0], xbar.up[g])
    end
    return function(i) return near[i // group].up[i % group] end, function(j) return xbar.down[j] end
  end
  local columns, rows = shape(name, nodes)
  local made = network[name == "mesh" and "mesh" or "torus"](m, name, { columns = columns, rows = rows, up = 1, down = 1,
    vcs = 4, buffer = 8, latency = router_latency })
  return function(i) return made:up(i) end, function(j) return made:down(j) end
end

--- A machine of source[i] and sink[j]; `rate`: packets of one flit per source and cycle.
function topologies.machine(name, nodes, rate, seed)
  return ww.machine(name, function(m)
    m:clocks { core = "1GHz" }
    m:quantum(256)
    m:AddressMap "map" { channels = nodes, interleave = slice_bytes }
    local up, down = make(m, name, nodes)
    for i = 0, nodes - 1 do
      local source = m:TrafficSource ("source", i) { rate = rate, bytes = 1, footprint = 16 * nodes * slice_bytes,
        writes = 1, posted = true, destination = 0, destination_share = 0, seed = seed }
      m:wire(source.mem, up(i))
    end
    for j = 0, nodes - 1 do m:wire(m:TrafficSink ("sink", j) {}.cpu, down(j)) end
  end)
end

return topologies
