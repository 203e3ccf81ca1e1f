local ww = require "warpwright"
local product = require "workloads.lib.product"

local syrk = ww.workload "syrk" {
  doc = "C = alpha A A' + beta C, rows a power of two apart: the 32 lines of a warp's load fall into one set of the L1",
  ptx = "syrk.ptx",
  sizes = {
    -- lda: elements from row to row. accumulate: where the sums are, "memory", "stored" (in memory,
    -- without the loads that a compiler leaves out) or "register".
    -- second = 1: syr2k, C = alpha (A B' + B A') + beta C.
    small = { n = 64, k = 8, lda = 1024, accumulate = "memory", second = 0, seed = 1 },
    medium = { n = 128, k = 128, lda = 1024, accumulate = "memory", second = 0, seed = 1 },
    large = { n = 256, k = 128, lda = 1024, accumulate = "memory", second = 0, seed = 1 },
    paper = { n = 1024, k = 1024, lda = 1024, accumulate = "memory", second = 0, seed = 1 },
  },
  expected = { class = "thrashing and conflict", hit_rate = { 0, 0.1 }, mpki = { 60, 130 } },
}

local alpha, beta = 1.5, 0.5
local cta = { 32, 8 }

--- A matrix of n rows, random in its first `columns` columns.
local function matrix(n, columns, lda, seed)
  local M, rng = ww.array("f32", n * lda), ww.rng(seed)
  for i = 0, n - 1 do
    for j = 0, columns - 1 do M[i * lda + j] = 2 * rng:float() - 1 end
  end
  return M
end

--- Freivalds' check: C r = alpha (A (B' r) + B (A' r)) + beta C0 r.
local function check_all(self, size, A, B, C, C0)
  local n, k, lda = size.n, size.k, size.lda
  local r = ww.array("f64", n):random(size.seed + 3, 0.5, 1)
  local function product_with_transpose(M, N)
    return product.times(M, n, k, lda, 1, product.times(N, k, n, 1, lda, r))
  end
  local terms = size.second == 1 and { product_with_transpose(A, B), product_with_transpose(B, A) } or
    { product_with_transpose(A, A) }
  local got, want = product.times(C, n, n, lda, 1, r), product.times(C0, n, n, lda, 1, r)
  for i = 0, n - 1 do
    want[i] = beta * want[i]
    for _, t in ipairs(terms) do want[i] = want[i] + alpha * t[i] end
  end
  self:check("C r", got, want, product.tolerance(#terms * k, n))
end

--- Sampled elements to the last bit, the last one among them.
local function check_sample(self, size, A, B, C, C0)
  local n, lda, fma, round = size.n, size.lda, ww.float32.fma, ww.float32.round
  local rng, samples = ww.rng(size.seed + 4), 512
  local got, want = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local i, j = rng:int(0, n - 1), rng:int(0, n - 1)
    if s == 0 then i, j = n - 1, n - 1 end
    local sum = round(C0[i * lda + j] * beta)
    for step = 0, size.k - 1 do
      if size.second == 1 then
        sum = fma(alpha, round(A[i * lda + step] * B[j * lda + step]), sum)
        sum = fma(alpha, round(B[i * lda + step] * A[j * lda + step]), sum)
      else
        sum = fma(alpha, round(A[i * lda + step] * A[j * lda + step]), sum)
      end
    end
    got[s], want[s] = C[i * lda + j], sum
  end
  self:check("sampled elements of C", got, want)
end

function syrk:run(gpu, size)
  local n, k, lda = size.n, size.k, size.lda
  if lda < math.max(n, k) then
    error(("syrk: lda: expected at least n and k (%d), got %d"):format(math.max(n, k), lda), 0)
  end
  local A, B, C0 = matrix(n, k, lda, size.seed), matrix(n, k, lda, size.seed + 1), matrix(n, n, lda, size.seed + 2)
  local dev_a, dev_b, dev_c = gpu:upload(A), gpu:upload(B), gpu:upload(C0)

  gpu:launch(self.kernels[(size.second == 1 and "syr2k_" or "syrk_") .. size.accumulate], {
    grid = { (n + cta[1] - 1) // cta[1], (n + cta[2] - 1) // cta[2], 1 },
    block = { cta[1], cta[2], 1 },
    args = { dev_a, dev_b, dev_c, n, k, lda, alpha, beta },
  })

  local C = gpu:download("f32", dev_c, n * lda)
  check_all(self, size, A, B, C, C0)
  check_sample(self, size, A, B, C, C0)
end

return syrk
