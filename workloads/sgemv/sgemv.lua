local ww = require "warpwright"

local sgemv = ww.workload "sgemv" {
  doc = "y = alpha A x, A by columns, x by parts in shared memory: bound by DRAM; version plain, d2ma, cudadma or cudadma_single",
  ptx = "sgemv.ptx",
  sizes = {
    -- part: 0, or elements of x in a part of the kernels that load 8 elements of A ahead: 32, 64 or
    -- 128
    small = { m = 3840, n = 128, version = "plain", part = 0, registers = 20, seed = 1 },
    medium = { m = 15360, n = 512, version = "plain", part = 0, registers = 20, seed = 1 },
    large = { m = 61440, n = 512, version = "plain", part = 0, registers = 20, seed = 1 },
    -- two CTAs on an SM, so that DRAM is not what they wait for
    transfers = { m = 3840, n = 512, version = "plain", part = 32, registers = 20, seed = 1 },
  },
}

local threads = 128 -- and elements of the largest part
local alpha = 1.5

--- All of y in double precision, within rounding; some rows, the last one among them, to the last
-- bit.
local function check(self, A, x, y, size)
  local m, n = size.m, size.n
  local want = ww.array("f64", m)
  for row = 0, m - 1 do want[row] = alpha * A:dot(x, row, 0, n, m, 1) end
  self:check("y", y, want, { abs = 4 * n * 2.0 ^ -24 })

  local rng, samples = ww.rng(size.seed + 2), 64
  local got, exact = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local row = s == 0 and m - 1 or rng:int(0, m - 1)
    got[s], exact[s] = y[row], ww.float32.round(alpha * A:fma_dot(x, row, 0, n, m, 1))
  end
  self:check("sampled rows of y", got, exact)
end

function sgemv:run(gpu, size)
  local m, n = size.m, size.n
  self:check_that("m and n are multiples of " .. threads, m % threads == 0 and n % threads == 0)
  local A = ww.array("f32", m * n):random(size.seed, -1, 1)
  local x = ww.array("f32", n):random(size.seed + 1, -1, 1)
  local dev_a, dev_x, dev_y = gpu:upload(A), gpu:upload(x), gpu:alloc(4 * m)

  local kernel = size.part == 0 and "sgemv_" .. size.version or ("sgemv_part%d_%s"):format(size.part, size.version)
  gpu:launch(self.kernels[kernel], {
    grid = m // threads,
    block = size.version:find "^cudadma" and threads + 32 or threads, -- a warp more, which transfers
    registers = size.registers,
    args = { dev_a, dev_x, dev_y, m, n, alpha },
  })
  check(self, A, x, gpu:download("f32", dev_y, m), size)
end

return sgemv
