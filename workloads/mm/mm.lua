local ww = require "warpwright"
local product = require "workloads.lib.product"

local mm = ww.workload "mm" {
  doc = "D = A B C in two launches, from global memory, rows a power of two apart: rows collide in few sets of the L1",
  ptx = "mm.ptx",
  sizes = {
    -- A: m x k, B: k x k, C: k x n. lda: elements from row to row. accumulate: where the sums are,
    -- "memory", "stored" (in memory, without the loads that a compiler leaves out) or "register".
    small = { m = 32, n = 64, k = 32, lda = 1024, accumulate = "memory", seed = 1 },
    medium = { m = 256, n = 512, k = 256, lda = 1024, accumulate = "memory", seed = 1 },
    paper = { m = 1024, n = 1024, k = 1024, lda = 1024, accumulate = "memory", seed = 1 },
  },
  expected = { class = "conflict", hit_rate = { 0, 0.5 }, mpki = { 2, 10 } },
}

local cta = { 32, 8 }

function mm:run(gpu, size)
  local m, n, k, lda = size.m, size.n, size.k, size.lda
  if lda < math.max(n, k) then error(("mm: lda: expected at least n and k (%d), got %d"):format(math.max(n, k), lda), 0) end
  local A = ww.array("f32", m * lda):random(size.seed, -1, 1)
  local B = ww.array("f32", k * lda):random(size.seed + 1, -1, 1)
  local C = ww.array("f32", k * lda):random(size.seed + 2, -1, 1)
  local dev_a, dev_b, dev_c = gpu:upload(A), gpu:upload(B), gpu:upload(C)

  --- The product of an m x k matrix with one of k x columns.
  local function multiply(name, scale, left, dev_left, right, dev_right, columns, seed)
    local dev_result = gpu:upload(ww.array("f32", m * lda):fill(7))
    gpu:launch(self.kernels["mm_" .. size.accumulate], {
      grid = { (columns + cta[1] - 1) // cta[1], (m + cta[2] - 1) // cta[2], 1 },
      block = { cta[1], cta[2], 1 },
      args = { dev_left, dev_right, dev_result, m, columns, k, lda },
    })
    local result = gpu:download("f32", dev_result, m * lda)
    local p = {
      name = name, m = m, n = columns, k = k, a_row = lda, b_row = lda, c_row = lda,
      alpha = 1, A = left, B = right, C = result, scale = scale,
    }
    product.check_all(self, p, seed)
    product.check_sample(self, p, function(sum) return sum end, seed + 1)
    return result, dev_result
  end

  local AB, dev_ab = multiply("A B", 1, A, dev_a, B, dev_b, k, size.seed + 3)
  multiply("A B C", math.sqrt(k), AB, dev_ab, C, dev_c, n, size.seed + 5)
end

return mm
