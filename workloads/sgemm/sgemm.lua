local ww = require "warpwright"
local float32 = require "workloads.lib.float32"
local product = require "workloads.lib.product"

local sgemm = ww.workload "sgemm" {
  doc = "C = alpha A B + beta C with 16 x 16 tiles in shared memory: bound by computation",
  ptx = "sgemm.ptx",
  sizes = {
    small = { m = 192, n = 192, k = 192, seed = 1 },
    medium = { m = 768, n = 768, k = 768, seed = 1 },
    large = { m = 1536, n = 1536, k = 1536, seed = 1 },
  },
}

local tile = 16
local alpha, beta = 1.5, 0.5

function sgemm:run(gpu, size)
  local m, n, k = size.m, size.n, size.k
  self:check_that("m, n and k are multiples of " .. tile, m % tile == 0 and n % tile == 0 and k % tile == 0)
  local A = ww.array("f32", m * k):random(size.seed, -1, 1)
  local B = ww.array("f32", k * n):random(size.seed + 1, -1, 1)
  local C0 = ww.array("f32", m * n):random(size.seed + 2, -1, 1)
  local dev_a, dev_b, dev_c = gpu:upload(A), gpu:upload(B), gpu:upload(C0)

  gpu:launch(self.kernels.sgemm, {
    grid = { n // tile, m // tile, 1 },
    block = { tile, tile, 1 },
    args = { dev_a, dev_b, dev_c, n, k, alpha, beta },
  })

  local p = { m = m, n = n, k = k, alpha = alpha, beta = beta, A = A, B = B, C0 = C0, C = gpu:download("f32", dev_c, m * n) }
  product.check_all(self, p, size.seed + 3)
  product.check_sample(self, p, function(sum, i) return float32.fma(alpha, sum, float32.round(beta * C0[i])) end, size.seed + 4)
end

return sgemm
