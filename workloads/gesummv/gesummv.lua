local ww = require "warpwright"

local gesummv = ww.workload "gesummv" {
  doc = "y = alpha A x + beta B x, one row per thread: strided rows that collide in few cache sets",
  ptx = "gesummv.ptx",
  sizes = {
    -- lda, a row's length: 0 stands for `columns`. A power of two puts the rows of a warp into few
    -- sets. accumulate: where the sums are, "register" or "memory"; threads: of a CTA.
    small = { rows = 2048, columns = 64, lda = 0, accumulate = "register", threads = 128, seed = 1 },
    medium = { rows = 32 * 1024, columns = 128, lda = 0, accumulate = "register", threads = 128, seed = 1 },
    large = { rows = 64 * 1024, columns = 256, lda = 0, accumulate = "register", threads = 128, seed = 1 },
    paper = { rows = 4096, columns = 128, lda = 1024, accumulate = "memory", threads = 256, seed = 1 },
  },
  expected = {
    class = "thrashing and conflict", size = "paper,rows=2048,columns=16", hit_rate = { 0, 0.05 }, mpki = { 80, 200 },
  },
}

local alpha, beta = 1.5, 0.5

--- All of y against sums in double precision; the tolerance is some ten times the largest rounding
-- error of a row.
local function check_all(self, A, B, x, y, columns, lda)
  local want = ww.array("f32", #y)
  for r = 0, #y - 1 do
    local first = r * lda
    want[r] = alpha * A:dot(x, first, 0, columns, 1, 1) + beta * B:dot(x, first, 0, columns, 1, 1)
  end
  self:check("y", y, want, { abs = 1e-6 * columns })
end

--- A sample of rows to the last bit, the last row among them: the kernel's order of summation, in
-- single precision.
local function check_sample(self, A, B, x, y, columns, lda, seed)
  local rng, samples = ww.rng(seed), 1024
  local got, want = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local row = s == 0 and #y - 1 or rng:int(0, #y - 1)
    local sum_a, sum_b = A:fma_dot(x, row * lda, 0, columns, 1, 1), B:fma_dot(x, row * lda, 0, columns, 1, 1)
    got[s], want[s] = y[row], ww.float32.fma(alpha, sum_a, ww.float32.round(beta * sum_b))
  end
  self:check("sampled rows of y", got, want)
end

--- Kernel `gesummv` takes packed rows and keeps the sums in registers; the others take lda and room
-- for the sums of A x.
local function launch(self, gpu, size, lda, dev_a, dev_b, dev_x, dev_y)
  local rows, columns = size.rows, size.columns
  local geometry = { grid = (rows + size.threads - 1) // size.threads, block = size.threads }
  if size.lda == 0 and size.accumulate == "register" then
    geometry.args = { dev_a, dev_b, dev_x, dev_y, rows, columns, alpha, beta }
    return gpu:launch(self.kernels.gesummv, geometry)
  end
  local dev_tmp = gpu:alloc(4 * rows)
  gpu:fill(dev_y, 0, 4 * rows)
  gpu:fill(dev_tmp, 0, 4 * rows)
  geometry.args = { dev_a, dev_b, dev_x, dev_y, dev_tmp, rows, columns, lda, alpha, beta }
  return gpu:launch(self.kernels["gesummv_" .. size.accumulate], geometry)
end

function gesummv:run(gpu, size)
  local rows, columns = size.rows, size.columns
  local lda = size.lda == 0 and columns or size.lda
  if lda < columns then error(("gesummv: lda: expected at least columns (%d), got %d"):format(columns, lda), 0) end
  local A = ww.array("f32", rows * lda):random(size.seed, -1, 1)
  local B = ww.array("f32", rows * lda):random(size.seed + 1, -1, 1)
  local x = ww.array("f32", columns):random(size.seed + 2, -1, 1)
  local dev_a, dev_b, dev_x, dev_y = gpu:upload(A), gpu:upload(B), gpu:upload(x), gpu:alloc(4 * rows)
  launch(self, gpu, size, lda, dev_a, dev_b, dev_x, dev_y)

  local y = gpu:download("f32", dev_y, rows)
  check_all(self, A, B, x, y, columns, lda)
  check_sample(self, A, B, x, y, columns, lda, size.seed + 3)
end

return gesummv
