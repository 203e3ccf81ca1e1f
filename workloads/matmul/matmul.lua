local ww = require "warpwright"
local product = require "workloads.lib.product"

local matmul = ww.workload "matmul" {
  doc = "C = A B by tiles of 16 x 16 in shared memory; version plain or d2ma",
  ptx = "matmul.ptx",
  sizes = {
    small = { m = 96, n = 128, k = 128, version = "plain", registers = 20, seed = 1 },
    medium = { m = 224, n = 224, k = 224, version = "plain", registers = 20, seed = 1 },
    large = { m = 768, n = 768, k = 768, version = "plain", registers = 20, seed = 1 },
  },
}

local tile = 16

function matmul:run(gpu, size)
  local m, n, k = size.m, size.n, size.k
  self:check_that("m and n are multiples of 16, k is one of 32", m % tile == 0 and n % tile == 0 and k % (2 * tile) == 0)
  local A = ww.array("f32", m * k):random(size.seed, -1, 1)
  local B = ww.array("f32", k * n):random(size.seed + 1, -1, 1)
  local dev_a, dev_b, dev_c = gpu:upload(A), gpu:upload(B), gpu:alloc(4 * m * n)

  gpu:launch(self.kernels["matmul_" .. size.version], {
    grid = { n // tile, m // tile },
    block = { tile, tile },
    registers = size.registers,
    args = { dev_a, dev_b, dev_c, n, k },
  })

  local p = { m = m, n = n, k = k, alpha = 1, A = A, B = B, C = gpu:download("f32", dev_c, m * n) }
  product.check_all(self, p, size.seed + 2)
  product.check_sample(self, p, function(sum) return sum end, size.seed + 3)
end

return matmul
