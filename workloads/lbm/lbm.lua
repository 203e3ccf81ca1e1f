local ww = require "warpwright"
local rows = require "workloads.lib.rows"

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
local opposite, weight, way_x, way_y, way_z = {}, {}, {}, {}, {}
for q = 0, directions - 1 do
  local squares = 0
  way_x[q], way_y[q], way_z[q] = way[q][1], way[q][2], way[q][3]
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
  local densities, solid, rng = ww.array("f64", at.plane), ww.array("i32", at.plane), ww.rng(size.seed)
  for z = 0, size.depth - 1 do
    for y = 0, size.height - 1 do
      local first, density, flags = at.margin + z * at.layer + y * row, {}, {}
      local outermost = y == 0 or z == 0 or y == size.height - 1 or z == size.depth - 1
      for x = 0, size.width - 1 do
        local wall = outermost or x == 0 or x == size.width - 1
        if wall or rng:int(1, 1000) <= size.solids then
          density[x], flags[x] = 0, 1
        else
          density[x], flags[x] = 1 + 0.2 * rng:float(), 0
        end
      end
      rows.put(densities, first, density)
      rows.put(solid, first, flags)
    end
  end
  local grid, planes = ww.array("f32", (directions + 1) * at.plane), {}
  for q = 0, directions - 1 do
    local share = weight[q]
    planes[share] = planes[share] or ww.array_from("f32", densities:copy():scale(share))
    grid:put(q * at.plane, planes[share])
  end
  return grid, solid
end

--- One step of a cell that is not solid, in double precision: populations `f` by direction become
-- those that leave.
local function meet(f)
  local density, x, y, z = 0, 0, 0, 0
  for q = 0, directions - 1 do
    local population = f[q]
    density = density + population
    x, y, z = x + way_x[q] * population, y + way_y[q] * population, z + way_z[q] * population
  end
  x, y, z = x / density, y / density, z / density
  local at_rest = 1 - 1.5 * (x * x + y * y + z * z)
  for q = 0, directions - 1 do
    local along = way_x[q] * x + way_y[q] * y + way_z[q] * z
    local balance = weight[q] * density * (at_rest + 3 * along + 4.5 * along * along)
    f[q] = f[q] + omega * (balance - f[q])
  end
end

--- One step of a row of cells: the populations that leave them, a table for each direction.
local function after_step(before, solid, width)
  local after, f = {}, {}
  for q = 0, directions - 1 do after[q] = {} end
  for x = 0, width - 1 do
    if solid[x] == 0 then
      for q = 0, directions - 1 do f[q] = before[q][x] end
      meet(f)
    else
      for q = 0, directions - 1 do f[q] = before[opposite[q]][x] end
    end
    for q = 0, directions - 1 do after[q][x] = f[q] end
  end
  return after
end

--- The rows whose cells are checked one by one: all of a small grid, some of a larger one.
local function sampled_rows(size)
  local list, rng = {}, ww.rng(size.seed + 1)
  local all = size.height * size.depth
  if all <= 64 then
    for i = 0, all - 1 do list[#list + 1] = i end
  else
    for i = 1, 64 do list[i] = rng:int(0, all - 1) end
  end
  return list
end

--- Sampled rows of the grid `after` a step: populations go from the grid at address `before` to
-- neighbouring cells.
local function check_step(self, gpu, size, at, solid, before, after)
  local sampled, width, to = sampled_rows(size), size.width, 0
  local got, want = ww.array("f32", #sampled * directions * width), ww.array("f64", #sampled * directions * width)
  for _, i in ipairs(sampled) do
    local first, come = at.margin + i // size.height * at.layer + i % size.height * row, {}
    for q = 0, directions - 1 do
      come[q] = gpu:download("f32", before + 4 * (q * at.plane + first), width):table()
    end
    local gone = after_step(come, solid:slice(first, width):table(), width)
    for q = 0, directions - 1 do
      local place = q * at.plane + first + way_x[q] + way_y[q] * row + way_z[q] * at.layer
      got:put(to, after, place, width)
      rows.put(want, to, gone[q])
      to = to + width
    end
  end
  self:check("cells of the last step", got, want, { abs = 1e-6 })
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

  for _ = 1, size.steps do
    gpu:launch(self.kernels.lbm_step, {
      grid = { size.height, size.depth, 1 },
      block = size.width,
      args = { from, to, at.plane, at.layer, at.margin, omega },
    })
    from, to = to, from
  end

  local after = gpu:download("f32", from, directions * at.plane)
  self:check("mass", after:sum(), grid:sum(), { rel = 1e-6 })
  check_step(self, gpu, size, at, solid, to, after)
end

return lbm
