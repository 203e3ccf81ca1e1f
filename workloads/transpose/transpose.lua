local ww = require "warpwright"

local transpose = ww.workload "transpose" {
  doc = "transpose by tiles of 32 x 32 in shared memory, order rows or diagonal; version plain or d2ma",
  ptx = "transpose.ptx",
  sizes = {
    small = { n = 256, order = "rows", launches = 1, version = "plain", registers = 20, seed = 1 },
    medium = { n = 256, order = "rows", launches = 25, -- 524 KB: from the second launch on its tiles are in an L2 of 768 KB
      version = "plain", registers = 20, seed = 1 },
    large = { n = 4096, order = "rows", launches = 1, version = "plain", registers = 20, seed = 1 },
  },
}

local tile, rows = 32, 8

function transpose:run(gpu, size)
  local n = size.n
  self:check_that("n is a multiple of " .. tile, n % tile == 0)
  local matrix = ww.array("i32", n * n):random(size.seed, 0, 0x7fffffff)
  local dev_in, dev_out = gpu:upload(matrix), gpu:alloc(4 * n * n)

  for _ = 1, size.launches do
    gpu:launch(self.kernels[("transpose_%s_%s"):format(size.order, size.version)], {
      grid = { n // tile, n // tile },
      block = { tile, rows },
      registers = size.registers,
      args = { dev_in, dev_out, n },
    })
  end

  local want = ww.array("i32", n * n)
  for row = 0, n - 1 do
    for column = 0, n - 1 do want[column * n + row] = matrix[row * n + column] end
  end
  self:check("transpose", gpu:download("i32", dev_out, n * n), want)
end

return transpose
