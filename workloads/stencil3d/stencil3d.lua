local ww = require "warpwright"

local stencil3d = ww.workload "stencil3d" {
  doc = "3D stencil of seven points, rows a power of two apart: the rows of a CTA compete for few sets of the L1",
  ptx = "stencil3d.ptx",
  sizes = {
    -- lda: cells from row to row. width, height: of a CTA. heat = 1: a source of heat in every
    -- cell.
    small = { columns = 64, rows = 16, layers = 4, lda = 1024, width = 64, height = 4, heat = 1, launches = 2, seed = 1 },
    medium = { columns = 1024, rows = 256, layers = 16, lda = 1024, width = 64, height = 4, heat = 1, launches = 1, seed = 1 },
    paper = { columns = 1024, rows = 256, layers = 32, lda = 1024, width = 64, height = 4, heat = 1, launches = 2, seed = 1 },
  },
  expected = { class = "conflict", size = "medium,layers=2,rows=64", hit_rate = { 0, 0.3 }, mpki = { 2, 10 } },
}

local middle <const>, side <const>, source <const> = 0.25, 0.125, 0.0625

--- How far the neighbours are that a cell at this place has: itself at an edge.
local function neighbours(size, x, y, z)
  local lda, layer = size.lda, size.lda * size.rows
  return x > 0 and -1 or 0, x < size.columns - 1 and 1 or 0, y > 0 and -lda or 0, y < size.rows - 1 and lda or 0,
    z > 0 and -layer or 0, z < size.layers - 1 and layer or 0
end

--- Sampled rows to the last bit; all rows of a small block. The corners are among them.
local function check_rows(self, size, launch, before, heat, after)
  local fma, round, rng = ww.float32.fma, ww.float32.round, ww.rng(size.seed + 10 + launch)
  local all = size.rows * size.layers
  for sample = 0, math.min(all, 64) - 1 do
    local row = all <= 64 and sample or sample == 0 and 0 or sample == 1 and all - 1 or rng:int(0, all - 1)
    local y, z = row % size.rows, row // size.rows
    local first = row * size.lda
    local want = ww.array("f32", size.columns)
    for x = 0, size.columns - 1 do
      local at = first + x
      local sum = round(middle * before[at])
      local west, east, north, south, below, above = neighbours(size, x, y, z)
      sum = fma(side, before[at + west], sum)
      sum = fma(side, before[at + east], sum)
      sum = fma(side, before[at + north], sum)
      sum = fma(side, before[at + south], sum)
      sum = fma(side, before[at + below], sum)
      sum = fma(side, before[at + above], sum)
      if size.heat == 1 then sum = fma(source, heat[at], sum) end
      want[x] = sum
    end
    self:check(("row %d of layer %d after launch %d"):format(y, z, launch), after:slice(first, size.columns), want)
  end
end

--- All rows, as weighted sums of their cells: the step is linear.
local function check_all(self, size, launch, before, heat, after)
  local columns, rows, layers, lda = size.columns, size.rows, size.layers, size.lda
  local r = ww.array("f32", columns):random(size.seed + 2, 0.5, 1)
  local got, want = ww.array("f64", rows * layers), ww.array("f64", rows * layers)
  for row = 0, rows * layers - 1 do
    local _, _, north, south, below, above = neighbours(size, 0, row % rows, row // rows)
    local at = row * lda
    local function sum(offset) return before:dot(r, at + offset, 0, columns, 1, 1) end
    local westward = before[at] * r[0] + before:dot(r, at, 1, columns - 1, 1, 1)
    local eastward = before[at + columns - 1] * r[columns - 1] + before:dot(r, at + 1, 0, columns - 1, 1, 1)
    want[row] = middle * sum(0) + side * (westward + eastward + sum(north) + sum(south) + sum(below) + sum(above))
    if size.heat == 1 then want[row] = want[row] + source * heat:dot(r, at, 0, columns, 1, 1) end
    got[row] = after:dot(r, at, 0, columns, 1, 1)
  end
  self:check("weighted sums of rows after launch " .. launch, got, want, { abs = 1e-7 * columns })
end

function stencil3d:run(gpu, size)
  local columns, rows, layers, lda = size.columns, size.rows, size.layers, size.lda
  if lda < columns then error(("stencil3d: lda: expected at least columns (%d), got %d"):format(columns, lda), 0) end
  local cells = lda * rows * layers
  local block, heat = ww.array("f32", cells):random(size.seed, 0, 1), ww.array("f32", cells):random(size.seed + 1, 0, 1)
  local from, to, dev_heat = gpu:upload(block), gpu:alloc(4 * cells), size.heat == 1 and gpu:upload(heat)

  for launch = 1, size.launches do
    local launch_of = {
      grid = { (columns + size.width - 1) // size.width, (rows + size.height - 1) // size.height, 1 },
      block = { size.width, size.height, 1 },
    }
    if size.heat == 1 then
      launch_of.args = { from, dev_heat, to, columns, rows, layers, lda, middle, side, source }
      gpu:launch(self.kernels.stencil3d_heated, launch_of)
    else
      launch_of.args = { from, to, columns, rows, layers, lda, middle, side }
      gpu:launch(self.kernels.stencil3d_plain, launch_of)
    end
    local after = gpu:download("f32", to, cells)
    check_all(self, size, launch, block, heat, after)
    check_rows(self, size, launch, block, heat, after)
    block, from, to = after, to, from
  end
end

return stencil3d
