local ww = require "warpwright"
local float32 = require "workloads.lib.float32"

local gesummv = ww.workload "gesummv" {
  doc = "y = alpha A x + beta B x, one row per thread: strided rows that collide in few cache sets",
  ptx = "gesummv.ptx",
  sizes = { -- a power of two of columns puts the rows of a warp into few sets
    small = { rows = 2048, columns = 64, seed = 1 },
    medium = { rows = 32 * 1024, columns = 128, seed = 1 },
    large = { rows = 64 * 1024, columns = 256, seed = 1 },
  },
}

local alpha, beta = 1.5, 0.5

--- All of y against sums in double precision; the tolerance is some ten times the largest rounding error of a row.
local function check_all(self, A, B, x, y, columns)
  local want = ww.array("f32", #y)
  for r = 0, #y - 1 do
    local first = r * columns
    want[r] = alpha * A:dot(x, first, 0, columns, 1, 1) + beta * B:dot(x, first, 0, columns, 1, 1)
  end
  self:check("y", y, want, { abs = 1e-6 * columns })
end

--- A sample of rows to the last bit, the last row among them: the kernel's order of summation, in single precision.
local function check_sample(self, A, B, x, y, columns, seed)
  local fma, rng, samples = float32.fma, ww.rng(seed), 1024
  local got, want = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local row = s == 0 and #y - 1 or rng:int(0, #y - 1)
    local sum_a, sum_b = 0.0, 0.0
    for j = 0, columns - 1 do
      sum_a = fma(A[row * columns + j], x[j], sum_a)
      sum_b = fma(B[row * columns + j], x[j], sum_b)
    end
    got[s], want[s] = y[row], fma(alpha, sum_a, float32.round(beta * sum_b))
  end
  self:check("sampled rows of y", got, want)
end

function gesummv:run(gpu, size)
  local rows, columns = size.rows, size.columns
  local A = ww.array("f32", rows * columns):random(size.seed, -1, 1)
  local B = ww.array("f32", rows * columns):random(size.seed + 1, -1, 1)
  local x = ww.array("f32", columns):random(size.seed + 2, -1, 1)
  local dev_a, dev_b, dev_x, dev_y = gpu:upload(A), gpu:upload(B), gpu:upload(x), gpu:alloc(4 * rows)

  gpu:launch(self.kernels.gesummv, {
    grid = (rows + 127) // 128,
    block = 128,
    args = { dev_a, dev_b, dev_x, dev_y, rows, columns, alpha, beta },
  })

  local y = gpu:download("f32", dev_y, rows)
  check_all(self, A, B, x, y, columns)
  check_sample(self, A, B, x, y, columns, size.seed + 3)
end

return gesummv
