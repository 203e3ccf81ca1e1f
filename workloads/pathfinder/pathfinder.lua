local ww = require "warpwright"

local pathfinder = ww.workload "pathfinder" {
  doc = "cheapest way down a grid, 20 rows a launch with costs in shared memory; version plain or d2ma",
  ptx = "pathfinder.ptx",
  sizes = {
    small = { columns = 216 * 30, rows = 33, version = "plain", registers = 20, seed = 1 },
    medium = { columns = 216 * 463, rows = 100, version = "plain", registers = 20, seed = 1 },
    large = { columns = 216 * 960, rows = 101, version = "plain", registers = 20, seed = 1 },
  },
}

local inner, threads, most_steps = 216, 256, 20

--- The costs of the last row, row by row.
local function reference(walls, columns, rows)
  local before, costs = {}, {}
  for x = 0, columns - 1 do before[x] = walls[x] end
  for first = columns, (rows - 1) * columns, columns do
    before[-1], before[columns] = math.maxinteger, math.maxinteger
    for x = 0, columns - 1 do
      local a, b, c = before[x - 1], before[x], before[x + 1]
      if a < b then b = a end
      if c < b then b = c end
      costs[x] = walls[first + x] + b
    end
    before, costs = costs, before
  end
  local want = ww.array("i32", columns)
  for x = 0, columns - 1 do want[x] = before[x] end
  return want
end

function pathfinder:run(gpu, size)
  local columns, rows = size.columns, size.rows
  self:check_that("columns is a multiple of " .. inner, columns % inner == 0)
  local walls = ww.array("i32", rows * columns):random(size.seed, 0, 9)
  local dev_walls = gpu:upload(walls)
  local before, after = dev_walls, gpu:alloc(4 * columns)

  local spare = gpu:alloc(4 * columns)
  for row = 1, rows - 1, most_steps do
    gpu:launch(self.kernels["pathfinder_" .. size.version], {
      grid = columns // inner,
      block = threads,
      registers = size.registers,
      args = { before, dev_walls + 4 * columns * row, after, columns, math.min(most_steps, rows - row) },
    })
    before, after, spare = after, spare, after
  end
  self:check("costs of the last row", gpu:download("i32", before, columns), reference(walls, columns, rows))
end

return pathfinder
