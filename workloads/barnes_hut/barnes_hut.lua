local ww = require "warpwright"
local octree = require "workloads.lib.octree"

local barnes_hut = ww.workload "barnes_hut" {
  doc = "Forces between bodies by Barnes and Hut: warps walk through an octree, farthest where their bodies are",
  ptx = "barnes_hut.ptx",
  sizes = { -- theta: a cell is opened when its side is more than that part of its distance; ctas: the grid, which stays
    small = { bodies = 256, theta = 0.5, ctas = 15, seed = 1 },
    medium = { bodies = 16384, theta = 0.5, ctas = 75, seed = 1 },
    paper = { bodies = 30000, theta = 0.5, ctas = 75, seed = 1 },
  },
  expected = { class = "computation, whose tree fits the L1", hit_rate = { 0.9, 1 }, mpki = { 0, 1 } },
}

local threads <const>, warp <const>, deepest <const>, softening <const> = 256, 32, 32, 0.05 * 0.05

--- What the tree pulls at the bodies of a warp, all of which open a cell that one of them is too
-- near to.
local function walk(cell, side, theta, bodies, sums)
  for part = 1, 8 do
    local node = cell[part]
    if node then
      local open = false
      for _, body in ipairs(bodies) do
        local x, y, z = node.x - body.x, node.y - body.y, node.z - body.z
        local square = x * x + y * y + z * z + softening
        open = open or node.is_cell and square < (side / 2 / theta) ^ 2
      end
      if open then
        walk(node, side / 2, theta, bodies, sums)
      else
        for i, body in ipairs(bodies) do
          local x, y, z, sum = node.x - body.x, node.y - body.y, node.z - body.z, sums[i]
          local pull = node.mass * (x * x + y * y + z * z + softening) ^ -1.5
          sum[1], sum[2], sum[3] = sum[1] + pull * x, sum[2] + pull * y, sum[3] + pull * z
        end
      end
    end
  end
end

--- What all bodies pull at this one, without a tree.
local function direct_sum(bodies, body)
  local sum_x, sum_y, sum_z = 0, 0, 0
  for _, other in ipairs(bodies) do
    local x, y, z = other.x - body.x, other.y - body.y, other.z - body.z
    local pull = other.mass * (x * x + y * y + z * z + softening) ^ -1.5
    sum_x, sum_y, sum_z = sum_x + pull * x, sum_y + pull * y, sum_z + pull * z
  end
  return { sum_x, sum_y, sum_z }
end

local function length(v) return math.sqrt(v[1] * v[1] + v[2] * v[2] + v[3] * v[3]) end

--- Checks forces, each as a part of the wanted one's size. `wanted` has those of some bodies by
-- number.
local function check_forces(self, what, got, wanted, tolerance)
  local numbers = {}
  for number in pairs(wanted) do numbers[#numbers + 1] = number end
  table.sort(numbers)
  local a, b = ww.array("f64", 3 * #numbers), ww.array("f64", 3 * #numbers)
  for i, number in ipairs(numbers) do
    local size = length(wanted[number])
    for axis = 1, 3 do
      a[3 * i + axis - 4], b[3 * i + axis - 4] = got[axis][number] / size, wanted[number][axis] / size
    end
  end
  self:check(what, a, b, { abs = tolerance })
end

function barnes_hut:run(gpu, size)
  local n, theta = size.bodies, size.theta
  local tree = octree.build(octree.plummer(n, size.seed))
  if tree.depth > deepest then
    error(("barnes_hut: expected a tree of a depth of at most %d, got one of %d"):format(deepest, tree.depth), 0)
  end

  local nodes, bodies = n + #tree.cells, tree.bodies
  local x, y, z, mass = ww.array("f32", nodes), ww.array("f32", nodes), ww.array("f32", nodes), ww.array("f32", nodes)
  local children = ww.array("i32", 8 * #tree.cells):fill(-1)
  local function number_of(node) return node.is_cell and n + node.number or node.number end
  local function put(node)
    local i = number_of(node)
    x[i], y[i], z[i], mass[i] = node.x, node.y, node.z, node.mass
  end
  for _, body in ipairs(bodies) do put(body) end
  for _, cell in ipairs(tree.cells) do
    put(cell)
    local at = 8 * cell.number
    for part = 1, 8 do
      if cell[part] then
        children[at] = number_of(cell[part])
        at = at + 1
      end
    end
  end
  local opening = ww.array("f32", deepest)
  for depth = 0, deepest - 1 do opening[depth] = (2 * tree.half / 2 ^ (depth + 1) / theta) ^ 2 end

  local forces = { gpu:alloc(4 * n), gpu:alloc(4 * n), gpu:alloc(4 * n) }
  gpu:launch(self.kernels.barnes_hut_force, {
    grid = size.ctas, block = threads,
    args = {
      gpu:upload(children), gpu:upload(x), gpu:upload(y), gpu:upload(z), gpu:upload(mass), gpu:upload(opening),
      forces[1], forces[2], forces[3], n, n, softening,
    },
  })
  local got = {}
  for axis = 1, 3 do got[axis] = gpu:download("f32", forces[axis], n) end

  -- Every 64th warp, but 8 of a small number, with the same tree in double precision; the first
  -- body of each without a tree, which differs by some per cent; and the sum of all, which is
  -- nearly 0, since masses are equal.
  local warps = (n + warp - 1) // warp
  local step, walked, direct = math.max(1, math.min(64, warps // 8)), {}, {}
  for w = 0, warps - 1, step do
    local own, sums = {}, {}
    for i = w * warp + 1, math.min(n, (w + 1) * warp) do own[#own + 1], sums[#sums + 1] = bodies[i], { 0, 0, 0 } end
    walk(tree.root, 2 * tree.half, theta, own, sums)
    for i, body in ipairs(own) do walked[body.number] = sums[i] end
    direct[own[1].number] = direct_sum(bodies, own[1])
  end
  check_forces(self, "forces by the tree", got, walked, 1e-3)
  check_forces(self, "forces without a tree", got, direct, 0.1)
  local sizes = 0
  for i = 0, n - 1 do sizes = sizes + length { got[1][i], got[2][i], got[3][i] } end
  for axis, name in ipairs { "x", "y", "z" } do
    self:check("sum of forces along " .. name .. ", of their sizes'", got[axis]:sum() / sizes, 0, { abs = 0.003 })
  end
end

return barnes_hut
