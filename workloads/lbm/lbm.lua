local ww = require "warpwright"

local lbm = ww.workload "lbm" {
  doc = "Lattice Boltzmann, D3Q19: 20 streams read and 19 written, nothing used twice",
  ptx = "lbm.ptx",
  sizes = { -- width: at most 126 cells. The outermost cells are solid, and `solids` of a thousand of the others
    small = { width = 120, height = 3, depth = 4, steps = 1, solids = 10, seed = 1 },
    medium = { width = 120, height = 120, depth = 50, steps = 2, solids = 10, seed = 1 },
    paper = { width = 120, height = 120, depth = 150, steps = 2, solids = 10, seed = 1 },
  },
  expected = {
    class = "memory-intensive: streaming", size = "small,height=8,depth=8", hit_rate = { 0, 0.05 },
    instructions_per_miss = { 8, 20 },
  },
}

local row <const>, directions <const>, omega <const> = 128, 19, 1.25

-- Where each population goes: cells to the right, rows, layers.
local way = {
  [0] = { 0, 0, 0 }, { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, -1, 0 }, { 0, 0, 1 }, { 0, 0, -1 },
  { 1, 1, 0 }, { -1, -1, 0 }, { -1, 1, 0 }, { 1, -1, 0 }, { 1, 0, 1 }, { -1, 0, -1 }, { -1, 0, 1 }, { 1, 0, -1 },
  { 0, 1, 1 }, { 0, -1, -1 }, { 0, -1, 1 }, { 0, 1, -1 },
}
local opposite, weight = {}, {}
for q = 0, directions - 1 do
  local squares = 0
  for axis = 1, 3 do squares = squares + way[q][axis] ^ 2 end
  weight[q] = squares == 0 and 1 / 3 or squares == 1 and 1 / 18 or 1 / 36
  for p = 0, directions - 1 do
    local turned = true
    for axis = 1, 3 do turned = turned and way[p][axis] == -way[q][axis] end
    if turned then opposite[q] = p end
  end
end

--- Where things stand in a grid: { plane, layer, margin } in words.
local function layout(size)
  local layer = row * size.height
  local margin = layer + 2 * row -- stores beyond the first and the last layer fall into it
  return { layer = layer, margin = margin, plane = layer * size.depth + 2 * margin }
end

--- Populations of a gas that is nearly at rest, none in solid cells; and which cells are solid.
local function new_grid(size, at)
  local grid, solid = ww.array("f32", (directions + 1) * at.plane), ww.array("i32", at.plane)
  local rng = ww.rng(size.seed)
  for z = 0, size.depth - 1 do
    for y = 0, size.height - 1 do
      for x = 0, size.width - 1 do
        local cell = at.margin + z * at.layer + y * row + x
        local wall = x == 0 or y == 0 or z == 0 or x == size.width - 1 or y == size.height - 1 or z == size.depth - 1
        if wall or rng:int(1, 1000) <= size.solids then
          solid[cell] = 1
        else
          local density = 1 + 0.2 * rng:float()
          for q = 0, directions - 1 do grid[q * at.plane + cell] = weight[q] * density end
        end
      end
    end
  end
  return grid, solid
end

--- One step of a cell, in double precision: where its populations go to in the grid, and how large they are.
local function meet(grid, solid, at, cell, visit)
  local f, density, velocity = {}, 0, { 0, 0, 0 }
  for q = 0, directions - 1 do
    f[q] = grid[q * at.plane + cell]
    density = density + f[q]
    for axis = 1, 3 do velocity[axis] = velocity[axis] + way[q][axis] * f[q] end
  end
  for q = 0, directions - 1 do
    local value = f[opposite[q]]
    if solid[cell] == 0 then
      local along, squares = 0, 0
      for axis = 1, 3 do
        local v = velocity[axis] / density
        along, squares = along + way[q][axis] * v, squares + v * v
      end
      local balance = weight[q] * density * (1 + 3 * along + 4.5 * along * along - 1.5 * squares)
      value = f[q] + omega * (balance - f[q])
    end
    visit(q * at.plane + cell + way[q][1] + way[q][2] * row + way[q][3] * at.layer, value)
  end
end

--- The rows whose cells are checked one by one: all of a small grid, some of a larger one.
local function sampled_rows(size)
  local rows, rng = {}, ww.rng(size.seed + 1)
  local all = size.height * size.depth
  if all <= 64 then
    for i = 0, all - 1 do rows[#rows + 1] = i end
  else
    for i = 1, 64 do rows[i] = rng:int(0, all - 1) end
  end
  return rows
end

local function check_step(self, size, at, solid, before, after)
  local got, want = {}, {}
  for _, i in ipairs(sampled_rows(size)) do
    local first = at.margin + i // size.height * at.layer + i % size.height * row
    for cell = first, first + size.width - 1 do
      meet(before, solid, at, cell, function(place, value) got[#got + 1], want[#want + 1] = after[place], value end)
    end
  end
  local got_array, want_array = ww.array("f32", #got), ww.array("f64", #want)
  for i = 1, #got do got_array[i - 1], want_array[i - 1] = got[i], want[i] end
  self:check("cells of the last step", got_array, want_array, { abs = 1e-6 })
end

function lbm:run(gpu, size)
  if size.width > row - 2 then error(("lbm: width: expected at most %d, got %d"):format(row - 2, size.width), 0) end
  local at = layout(size)
  local grid, solid = new_grid(size, at)
  local flags_at, bytes = 4 * directions * at.plane, 4 * (directions + 1) * at.plane
  local from, to = gpu:upload(grid), gpu:alloc(bytes)
  gpu:fill(to, 0, bytes)
  gpu:write(from + flags_at, solid)
  gpu:write(to + flags_at, solid)

  local cells = directions * at.plane
  local mass, before = grid:slice(0, cells):sum(), nil
  for step = 1, size.steps do
    if step == size.steps then before = gpu:download("f32", from, cells) end
    gpu:launch(self.kernels.lbm_step, {
      grid = { size.height, size.depth, 1 },
      block = size.width,
      args = { from, to, at.plane, at.layer, at.margin, omega },
    })
    from, to = to, from
  end

  local after = gpu:download("f32", from, cells)
  self:check("mass", after:sum(), mass, { rel = 1e-6 })
  check_step(self, size, at, solid, before, after)
end

return lbm
