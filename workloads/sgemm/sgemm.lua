local ww = require "warpwright"
local product = require "workloads.lib.product"

local sgemm = ww.workload "sgemm" {
  doc = "C = alpha A B + beta C with 16 x 16 tiles in shared memory: bound by computation",
  ptx = "sgemm.ptx",
  sizes = { -- version: "tiles", or "registers" (m a multiple of 128)
    small = { m = 192, n = 192, k = 192, version = "tiles", seed = 1 },
    medium = { m = 768, n = 768, k = 768, version = "tiles", seed = 1 },
    registers = { m = 512, n = 512, k = 512, version = "registers", seed = 1 },
    large = { m = 1536, n = 1536, k = 1536, version = "tiles", seed = 1 },
  },
  expected = {
    class = "registers: compute-intensive", size = "small,m=256,version=registers", instructions_per_miss = { 20, 120 },
  },
}

local tile <const>, rows_of_cta <const> = 16, 128
local alpha, beta = 1.5, 0.5

--- The transpose of a row-major matrix of rows x columns.
local function transposed(matrix, rows, columns)
  local result, to = ww.array("f32", rows * columns), 0
  for j = 0, columns - 1 do
    for at = j, j + (rows - 1) * columns, columns do
      result[to] = matrix[at]
      to = to + 1
    end
  end
  return result
end

local function run_tiles(self, gpu, size, A, B, C0)
  local m, n, k = size.m, size.n, size.k
  local dev_a, dev_b, dev_c = gpu:upload(A), gpu:upload(B), gpu:upload(C0)
  gpu:launch(self.kernels.sgemm, {
    grid = { n // tile, m // tile, 1 },
    block = { tile, tile, 1 },
    args = { dev_a, dev_b, dev_c, n, k, alpha, beta },
  })
  return gpu:download("f32", dev_c, m * n)
end

local function run_registers(self, gpu, size, A, B, C0)
  local m, n, k = size.m, size.n, size.k
  self:check_that("m is a multiple of " .. rows_of_cta, m % rows_of_cta == 0)
  local dev_a, dev_b, dev_c = gpu:upload(transposed(A, m, k)), gpu:upload(B), gpu:upload(transposed(C0, m, n))
  gpu:launch(self.kernels.sgemm_registers, {
    grid = { m // rows_of_cta, n // tile, 1 },
    block = { tile, rows_of_cta // tile, 1 },
    args = { dev_a, dev_b, dev_c, m, n, k, alpha, beta },
  })
  return transposed(gpu:download("f32", dev_c, m * n), n, m)
end

function sgemm:run(gpu, size)
  local m, n, k = size.m, size.n, size.k
  local run = ({ tiles = run_tiles, registers = run_registers })[size.version]
  if not run then error(("sgemm: version: expected tiles or registers, got '%s'"):format(size.version), 0) end
  self:check_that("m, n and k are multiples of " .. tile, m % tile == 0 and n % tile == 0 and k % tile == 0)
  local A = ww.array("f32", m * k):random(size.seed, -1, 1)
  local B = ww.array("f32", k * n):random(size.seed + 1, -1, 1)
  local C0 = ww.array("f32", m * n):random(size.seed + 2, -1, 1)

  local C = run(self, gpu, size, A, B, C0)
  local p = { m = m, n = n, k = k, alpha = alpha, beta = beta, A = A, B = B, C0 = C0, C = C }
  product.check_all(self, p, size.seed + 3)
  product.check_sample(self, p, function(sum, i) return ww.float32.fma(alpha, sum, ww.float32.round(beta * C0[i])) end, size.seed + 4)
end

return sgemm
