local ww = require "warpwright"

local stencil_shared = ww.workload "stencil_shared" {
  doc = "3D stencil of seven points, a layer in shared memory and two in registers: two barriers a layer",
  ptx = "stencil_shared.ptx",
  sizes = { -- columns: a multiple of 64, rows: of 4. lda: cells from row to row.
    small = { columns = 128, rows = 16, layers = 6, lda = 128, launches = 2, seed = 1 },
    medium = { columns = 512, rows = 256, layers = 16, lda = 512, launches = 2, seed = 1 },
    paper = { columns = 512, rows = 256, layers = 64, lda = 512, launches = 2, seed = 1 },
  },
  -- Mascar calls it "compute", with twice as many instructions for a miss: of an older compiler,
  -- for the same accesses.
  expected = {
    class = "between computation and memory", size = "medium,rows=64,launches=1", instructions_per_miss = { 12, 30 },
  },
}

local middle <const>, side <const> = 1.5, 0.125

--- Rows that are computed, to the last bit: all of a small block, else a sample.
local function check_rows(self, size, launch, before, after)
  local fma, round, rng = ww.float32.fma, ww.float32.round, ww.rng(size.seed + 10 + launch)
  local lda, layer, rows = size.lda, size.lda * size.rows, size.rows - 2
  local all = rows * (size.layers - 2)
  for sample = 0, math.min(all, 64) - 1 do
    local row = all <= 64 and sample or sample == 0 and 0 or sample == 1 and all - 1 or rng:int(0, all - 1)
    local y, z = 1 + row % rows, 1 + row // rows
    local first = z * layer + y * lda
    local want = before:slice(first, size.columns)
    for at = first + 1, first + size.columns - 2 do
      local sum = round(before[at - layer] + before[at + layer])
      sum = round(sum + before[at - lda])
      sum = round(sum + before[at + lda])
      sum = round(sum + before[at - 1])
      sum = round(sum + before[at + 1])
      want[at - first] = fma(side, sum, -round(middle * before[at]))
    end
    self:check(("row %d of layer %d after launch %d"):format(y, z, launch), after:slice(first, size.columns), want)
  end
end

--- All rows, as weighted sums of their cells: the step is linear.
local function check_all(self, size, launch, before, after)
  local columns, rows, layers, lda = size.columns, size.rows, size.layers, size.lda
  local layer, inner = lda * rows, columns - 2
  local r = ww.array("f32", columns):random(size.seed + 2, 0.5, 1)
  local got, want = ww.array("f64", rows * layers), ww.array("f64", rows * layers)
  for row = 0, rows * layers - 1 do
    local y, z, at = row % rows, row // rows, row * lda
    if y == 0 or y == rows - 1 or z == 0 or z == layers - 1 then
      want[row] = before:dot(r, at, 0, columns, 1, 1)
    else
      local function sum(offset) return before:dot(r, at + 1 + offset, 1, inner, 1, 1) end
      local around = sum(-1) + sum(1) + sum(-lda) + sum(lda) + sum(-layer) + sum(layer)
      local last = columns - 1
      want[row] = side * around - middle * sum(0) + r[0] * before[at] + r[last] * before[at + last]
    end
    got[row] = after:dot(r, at, 0, columns, 1, 1)
  end
  self:check("weighted sums of rows after launch " .. launch, got, want, { abs = 2e-7 * columns })
end

function stencil_shared:run(gpu, size)
  local columns, rows, layers, lda = size.columns, size.rows, size.layers, size.lda
  if columns % 64 ~= 0 then error(("stencil_shared: columns: expected a multiple of 64, got %d"):format(columns), 0) end
  if rows % 4 ~= 0 then error(("stencil_shared: rows: expected a multiple of 4, got %d"):format(rows), 0) end
  if lda < columns then
    error(("stencil_shared: lda: expected at least columns (%d), got %d"):format(columns, lda), 0)
  end
  local cells = lda * rows * layers
  local block = ww.array("f32", cells):random(size.seed, 0, 1)
  local from, to = gpu:upload(block), gpu:upload(block)

  for launch = 1, size.launches do
    gpu:launch(self.kernels.stencil_shared, {
      grid = { columns // 64, rows // 4, 1 }, block = { 32, 4, 1 },
      args = { from, to, columns, rows, layers, lda, middle, side },
    })
    local after = gpu:download("f32", to, cells)
    check_all(self, size, launch, block, after)
    check_rows(self, size, launch, block, after)
    block, from, to = after, to, from
  end
end

return stencil_shared
