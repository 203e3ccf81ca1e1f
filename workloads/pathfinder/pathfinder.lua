local ww = require "warpwright"
local rows = require "workloads.lib.rows"

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
local beyond <const> = 0x7fffffff -- the cost of what lies beyond the edges

--- The costs of the last row, row by row.
local function reference(walls, columns, height)
  local walls_of = rows.of(walls, columns)
  local costs, want = table.move(walls_of(0), 0, columns - 1, 0, {}), ww.array("i32", columns)
  costs[columns] = beyond
  for row = 1, height - 1 do
    local own, left, here = walls_of(row), beyond, costs[0]
    for x = 0, columns - 1 do
      local least, right = here, costs[x + 1]
      if left < least then least = left end
      if right < least then least = right end
      costs[x] = own[x] + least
      left, here = here, right
    end
  end
  rows.put(want, 0, costs, columns)
  return want
end

function pathfinder:run(gpu, size)
  local columns, height = size.columns, size.rows
  self:check_that("columns is a multiple of " .. inner, columns % inner == 0)
  local walls = ww.array("i32", height * columns):random(size.seed, 0, 9)
  local dev_walls = gpu:upload(walls)
  local before, after = dev_walls, gpu:alloc(4 * columns)

  local spare = gpu:alloc(4 * columns)
  for row = 1, height - 1, most_steps do
    gpu:launch(self.kernels["pathfinder_" .. size.version], {
      grid = columns // inner,
      block = threads,
      registers = size.registers,
      args = { before, dev_walls + 4 * columns * row, after, columns, math.min(most_steps, height - row) },
    })
    before, after, spare = after, spare, after
  end
  self:check("costs of the last row", gpu:download("i32", before, columns), reference(walls, columns, height))
end

return pathfinder
