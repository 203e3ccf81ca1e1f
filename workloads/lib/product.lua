-- Checks of products of row-major matrices.
local ww = require "warpwright"
local float32 = require "workloads.lib.float32"

local product = {}

--- Freivalds' check of all of C = alpha A B + beta C0, where A is m x k and B is k x n: C r must be alpha A (B r) + beta C0 r
-- for a random vector r. The tolerance is several times the largest rounding error of a row, and a small part of what one
-- wrong element makes. C0 may be nil when beta is 0.
function product.check_all(self, p, seed)
  local m, n, k = p.m, p.n, p.k
  local r, Br = ww.array("f64", n):random(seed, 0.5, 1), ww.array("f64", k)
  for i = 0, k - 1 do Br[i] = p.B:dot(r, i * n, 0, n, 1, 1) end
  local got, want = ww.array("f64", m), ww.array("f64", m)
  for i = 0, m - 1 do
    got[i] = p.C:dot(r, i * n, 0, n, 1, 1)
    want[i] = p.alpha * p.A:dot(Br, i * k, 0, k, 1, 1)
    if p.C0 then want[i] = want[i] + p.beta * p.C0:dot(r, i * n, 0, n, 1, 1) end
  end
  self:check("C r", got, want, { abs = 16 * (k + 16) * math.sqrt(n) * 1e-8 })
end

--- A sample of elements of C to the last bit, the last one among them: finish(sum, index) makes an element of the sum of
-- its products, added up in order of k in single precision.
function product.check_sample(self, p, finish, seed)
  local m, n, k = p.m, p.n, p.k
  local fma, rng, samples = float32.fma, ww.rng(seed), 512
  local got, want = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local row, column = rng:int(0, m - 1), rng:int(0, n - 1)
    if s == 0 then row, column = m - 1, n - 1 end
    local sum, a, b = 0.0, row * k, column
    for i = 0, k - 1 do sum = fma(p.A[a + i], p.B[b + i * n], sum) end
    got[s] = p.C[row * n + column]
    want[s] = finish(sum, row * n + column)
  end
  self:check("sampled elements of C", got, want)
end

return product
