local ww = require "warpwright"
local float32 = require "workloads.lib.float32"

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

--- Freivalds' check of all of C: C r must be alpha A (B r) + beta C0 r for a random vector r. The tolerance is several
-- times the largest rounding error of a row, and a small part of what one wrong element makes.
local function check_product(self, A, B, C0, C, size)
  local m, n, k = size.m, size.n, size.k
  local r, Br = ww.array("f64", n):random(size.seed + 3, 0.5, 1), ww.array("f64", k)
  for i = 0, k - 1 do Br[i] = B:dot(r, i * n, 0, n, 1, 1) end
  local got, want = ww.array("f64", m), ww.array("f64", m)
  for i = 0, m - 1 do
    got[i] = C:dot(r, i * n, 0, n, 1, 1)
    want[i] = alpha * A:dot(Br, i * k, 0, k, 1, 1) + beta * C0:dot(r, i * n, 0, n, 1, 1)
  end
  self:check("C r", got, want, { abs = 16 * (k + 16) * math.sqrt(n) * 1e-8 })
end

--- A sample of elements of C to the last bit, the last one among them: the kernel's order of summation, in single precision.
local function check_sample(self, A, B, C0, C, size)
  local m, n, k = size.m, size.n, size.k
  local fma, rng, samples = float32.fma, ww.rng(size.seed + 4), 512
  local got, want = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local row, column = rng:int(0, m - 1), rng:int(0, n - 1)
    if s == 0 then row, column = m - 1, n - 1 end
    local sum, a, b = 0.0, row * k, column
    for i = 0, k - 1 do sum = fma(A[a + i], B[b + i * n], sum) end
    got[s] = C[row * n + column]
    want[s] = fma(alpha, sum, float32.round(beta * C0[row * n + column]))
  end
  self:check("sampled elements of C", got, want)
end

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

  local C = gpu:download("f32", dev_c, m * n)
  check_product(self, A, B, C0, C, size)
  check_sample(self, A, B, C0, C, size)
end

return sgemm
