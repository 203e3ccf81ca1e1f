-- Networks of routers, for configs by require "configs.lib.network": network.mesh(m, "mesh", { columns = 4, rows = 4, ... })
-- makes the routers and the channels between them, and returns what is needed to wire the rest:
--
--   local mesh = network.mesh(m, "mesh", { columns = 4, rows = 4, up = { [0] = 1, ... }, down = { [0] = 0, ... } })
--   m:wire(mux.down, mesh:up(3))      -- the next free port towards requesters of router 3
--   m:wire(mesh:down(0), l2.cpu)      -- the next free port towards L2 slices of router 0
--
-- Router x, y of the network has number y * columns + x and the path "mesh[number]". `up` and `down` are the local ports
-- of each router: a number for all of them, or a table by router number (0 where it has none). `channel` are the options
-- of the wires between routers; everything else are parameters of the class Router.
local core = require "warpwright.core"
local names = require "warpwright.names"

local network = {}

local Network = {}
Network.__index = Network

--- How many routers it has.
function Network:count() return self.columns * self.rows end

local function next_port(self, kind, number)
  local router = self.routers[number]
  if not router then
    names.expected(self.name, ("a router number from 0 to %d"):format(self:count() - 1), number)
  end
  local ports, used = router[kind], self.used[kind][number]
  if used >= self.ports[kind][number] then
    core.user_error(("%s[%d].%s: expected up to %d wires, as many as it has ports, got more"):format(self.name, number, kind,
      self.ports[kind][number]))
  end
  self.used[kind][number] = used + 1
  return ports[used]
end

--- The next port of a router to which nothing is wired: towards requesters, towards L2 slices.
function Network:up(number) return next_port(self, "up", number) end
function Network:down(number) return next_port(self, "down", number) end

local own = { up = true, down = true, channel = true }

--- How many there are of `what` in a network.
local function count_of(name, options, what, default)
  local count = options[what] or default
  if math.type(count) ~= "integer" or count < 1 then names.expected(("%s: %s"):format(name, what), "a whole number from 1 on", count) end
  return count
end

local function make(m, name, options, topology)
  local columns, rows = count_of(name, options, "columns", 1), count_of(name, options, "rows", 1)
  local made = setmetatable({ name = name, columns = columns, rows = rows, routers = {},
    ports = { up = {}, down = {} }, used = { up = {}, down = {} } }, Network)
  local common = { columns = columns, rows = rows, topology = topology }
  for key, value in pairs(options) do
    if not own[key] then common[key] = value end
  end
  for number = 0, columns * rows - 1 do
    local parameters = { x = number % columns, y = number // columns }
    for key, value in pairs(common) do parameters[key] = value end
    for _, kind in ipairs { "up", "down" } do
      local ports = options[kind] or 0
      made.ports[kind][number] = type(ports) == "table" and (ports[number] or 0) or ports
      made.used[kind][number] = 0
      parameters[kind] = made.ports[kind][number]
    end
    made.routers[number] = m:Router (name, number) (parameters)
  end
  return made
end

local function wire_neighbours(m, made, wraps, channel)
  local columns, rows = made.columns, made.rows
  for number = 0, columns * rows - 1 do
    local router, x, y = made.routers[number], number % columns, number // columns
    if columns > 1 and (x < columns - 1 or wraps) then
      local east = made.routers[y * columns + (x + 1) % columns]
      m:wire(router.east, east.from_west, channel)
      m:wire(east.west, router.from_east, channel)
    end
    if rows > 1 and (y < rows - 1 or wraps) then
      local south = made.routers[(y + 1) % rows * columns + x]
      m:wire(router.south, south.from_north, channel)
      m:wire(south.north, router.from_south, channel)
    end
  end
  return made
end

function network.mesh(m, name, options)
  return wire_neighbours(m, make(m, name, options, "mesh"), false, options.channel or {})
end

function network.torus(m, name, options)
  return wire_neighbours(m, make(m, name, options, "torus"), true, options.channel or {})
end

--- A torus of one row: { routers = 8, ... }.
function network.ring(m, name, options)
  local changed = { columns = count_of(name, options, "routers"), rows = 1 }
  for key, value in pairs(options) do
    if key ~= "routers" then changed[key] = value end
  end
  return network.torus(m, name, changed)
end

return network
