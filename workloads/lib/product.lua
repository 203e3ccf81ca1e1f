-- Checks of products of row-major matrices.
local ww = require "warpwright"

local product = {}

--- M r for a matrix of rows x columns whose element (i, j) is M[i * down + j * across] (f64).
function product.times(M, rows, columns, down, across, r)
  local result = ww.array("f64", rows)
  for i = 0, rows - 1 do result[i] = M:dot(r, i * down, 0, columns, across, 1) end
  return result
end

--- The difference that rounding makes at most between C r and its reference, for sums of k products
-- of numbers below 1 and an r of n numbers below 1: several times the largest that it does make,
-- and a small part of what one wrong element makes.
function product.tolerance(k, n) return { abs = 16 * (k + 16) * math.sqrt(n) * 1e-8 } end

--- Freivalds' check of all of C = alpha A B + beta C0, where A is m x k and B is k x n: C r must be
-- alpha A (B r) + beta C0 r for a random vector r. C0 may be nil when beta is 0. Rows of a matrix
-- follow each other, or are a_row, b_row, c_row apart. Elements are below 1, or those of A below
-- `scale`.
function product.check_all(self, p, seed)
  local m, n, k = p.m, p.n, p.k
  local a_row, b_row, c_row = p.a_row or k, p.b_row or n, p.c_row or n
  local r = ww.array("f64", n):random(seed, 0.5, 1)
  local got, want = product.times(p.C, m, n, c_row, 1, r), product.times(p.A, m, k, a_row, 1, product.times(p.B, k, n, b_row, 1, r))
  local before = p.C0 and product.times(p.C0, m, n, c_row, 1, r)
  for i = 0, m - 1 do want[i] = p.alpha * want[i] + (before and p.beta * before[i] or 0) end
  self:check((p.name or "C") .. " r", got, want, { abs = (p.scale or 1) * product.tolerance(k, n).abs })
end

--- A sample of elements of C to the last bit, the last one among them: finish(sum, index) makes an
-- element of the sum of its products, added up in order of k in single precision.
function product.check_sample(self, p, finish, seed)
  local m, n, k = p.m, p.n, p.k
  local a_row, b_row, c_row = p.a_row or k, p.b_row or n, p.c_row or n
  local rng, samples = ww.rng(seed), 512
  local got, want = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local row, column = rng:int(0, m - 1), rng:int(0, n - 1)
    if s == 0 then row, column = m - 1, n - 1 end
    got[s] = p.C[row * c_row + column]
    want[s] = finish(p.A:fma_dot(p.B, row * a_row, column, k, 1, b_row), row * c_row + column)
  end
  self:check("sampled elements of " .. (p.name or "C"), got, want)
end

return product
