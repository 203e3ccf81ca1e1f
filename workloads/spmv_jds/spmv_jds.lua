local ww = require "warpwright"
local constants = require "workloads.lib.constants"
local csr = require "workloads.lib.csr"

local spmv_jds = ww.workload "spmv_jds" {
  doc = "y = A x for a banded sparse matrix in jagged diagonals: coalesced but for x, which alone is used again",
  ptx = "spmv_jds.ptx",
  sizes = { -- rows: a multiple of 32; the matrix as in csr.banded
    small = { rows = 2048, shortest = 12, longest = 38, alike = 256, band = 500, jitter = 128, far = 2, launches = 1, seed = 1 },
    medium = { rows = 144 * 1024, shortest = 12, longest = 38, alike = 256, band = 2000, jitter = 128, far = 2, launches = 1, seed = 1 },
    paper = { rows = 144 * 1024, shortest = 12, longest = 38, alike = 256, band = 2000, jitter = 128, far = 2, launches = 3, seed = 1 },
  },
  expected = {
    class = "memory-intensive: cache-sensitive", size = "small,rows=8192", hit_rate = { 0.2, 0.7 },
    instructions_per_miss = { 1, 10 },
  },
}

local threads <const>, most_rows <const>, most_elements <const> = 256, 12288 * 32, 512

function spmv_jds:run(gpu, size)
  local n = size.rows
  if n % 32 ~= 0 or n > most_rows then
    error(("spmv_jds: rows: expected a multiple of 32, at most %d, got %d"):format(most_rows, n), 0)
  end
  if size.longest > most_elements then
    error(("spmv_jds: longest: expected at most %d, got %d"):format(most_elements, size.longest), 0)
  end
  local A = csr.banded(size)
  local jagged = csr.jagged(A)
  local x = ww.array("f32", n):random(size.seed + 2, -1, 1)
  constants.write(gpu, self.kernels.where_is_lengths, jagged.lengths)
  constants.write(gpu, self.kernels.where_is_first, jagged.first:slice(0, #jagged.first - 1))
  local columns, values, perm = gpu:upload(jagged.col), gpu:upload(jagged.val), gpu:upload(jagged.perm)
  local dev_x, dev_y = gpu:upload(x), gpu:alloc(4 * n)

  for _ = 1, size.launches do
    gpu:launch(self.kernels.spmv_jds, {
      grid = (n + threads - 1) // threads,
      block = threads,
      args = { columns, values, perm, dev_x, dev_y, n },
    })
  end
  self:check("y", gpu:download("f32", dev_y, n), csr.multiply(A, x))
end

return spmv_jds
