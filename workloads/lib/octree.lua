-- Bodies in space, and octrees of them.
local ww = require "warpwright"

local octree = {}

--- Bodies { x, y, z, mass } of a Plummer sphere of the mass of 1: lists from 1. Its core is dense;
-- none is farther away than 10.
function octree.plummer(count, seed)
  local rng, sqrt, cos, sin = ww.rng(seed), math.sqrt, math.cos, math.sin
  local bodies = {}
  for i = 1, count do
    local radius
    repeat radius = 1 / sqrt((1e-9 + rng:float()) ^ (-2 / 3) - 1) until radius <= 10
    local height, angle = 2 * rng:float() - 1, 2 * math.pi * rng:float()
    local flat = radius * sqrt(1 - height * height)
    bodies[i] = { x = flat * cos(angle), y = flat * sin(angle), z = radius * height, mass = 1 / count }
  end
  return bodies
end

--- In which of a cell's eight parts a body is, and the middle of that part.
local function part_of(body, x, y, z, half)
  local part, quarter = 1, half / 2
  if body.x >= x then part, x = part + 4, x + quarter else x = x - quarter end
  if body.y >= y then part, y = part + 2, y + quarter else y = y - quarter end
  if body.z >= z then part, z = part + 1, z + quarter else z = z - quarter end
  return part, x, y, z
end

local function insert(tree, body)
  local cell, x, y, z, half, depth = tree.root, 0, 0, 0, tree.half, 0
  while true do
    local part
    part, x, y, z = part_of(body, x, y, z, half)
    half, depth = half / 2, depth + 1
    if depth > tree.depth then tree.depth = depth end
    local there = cell[part]
    if not there then
      cell[part] = body
      return
    elseif there.is_cell then
      cell = there
    else
      local parted = { is_cell = true, number = #tree.cells }
      tree.cells[#tree.cells + 1] = parted
      cell[part] = parted
      parted[part_of(there, x, y, z, half)] = there
      cell = parted
    end
  end
end

--- Mass and centre of mass of each cell, and the bodies in the order of the tree.
local function summarise(tree, cell)
  local mass, x, y, z = 0, 0, 0, 0
  for part = 1, 8 do
    local node = cell[part]
    if node then
      if node.is_cell then summarise(tree, node) else tree.bodies[#tree.bodies + 1] = node end
      mass, x, y, z = mass + node.mass, x + node.mass * node.x, y + node.mass * node.y, z + node.mass * node.z
    end
  end
  cell.mass, cell.x, cell.y, cell.z = mass, x / mass, y / mass, z / mass
end

--- The tree of the bodies, one to a leaf: { root, cells = in the order in which they came up,
-- bodies = in the order of the tree, half = half of the root's side, depth = of the deepest leaf }.
-- A cell has nodes at some of 1 to 8, its mass and the centre of that; cell.number and body.number
-- count from 0.
function octree.build(bodies)
  local half = 0
  for _, body in ipairs(bodies) do half = math.max(half, math.abs(body.x), math.abs(body.y), math.abs(body.z)) end
  local root = { is_cell = true, number = 0 }
  local tree = { root = root, cells = { root }, bodies = {}, half = half * 1.001, depth = 0 }
  for _, body in ipairs(bodies) do insert(tree, body) end
  summarise(tree, root)
  for i, body in ipairs(tree.bodies) do body.number = i - 1 end
  return tree
end

return octree
