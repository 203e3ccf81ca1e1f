local ww = require "warpwright"
local csr = require "workloads.lib.csr"

local spmv = ww.workload "spmv" {
  doc = "y = A x for a sparse matrix (CSR), one row per thread: divergent loops and random gathers",
  ptx = "spmv.ptx",
  sizes = { -- rows = columns; lengths of the rows as in csr.power_law_rows
    small = { rows = 8192, shortest = 4, longest = 64, seed = 1 },
    medium = { rows = 256 * 1024, shortest = 5, longest = 256, seed = 1 },
    large = { rows = 1024 * 1024, shortest = 5, longest = 512, seed = 1 },
  },
}

function spmv:run(gpu, size)
  local n = size.rows
  local A = csr.random { rows = n, columns = n, shortest = size.shortest, longest = size.longest, seed = size.seed }
  local x = ww.array("f32", n):random(size.seed + 3, -1, 1)
  local row, col, val = gpu:upload(A.row), gpu:upload(A.col), gpu:upload(A.val)
  local dev_x, dev_y = gpu:upload(x), gpu:alloc(4 * n)

  gpu:launch(self.kernels.spmv_csr, {
    grid = (n + 255) // 256,
    block = 256,
    args = { row, col, val, dev_x, dev_y, n },
  })

  self:check("y", gpu:download("f32", dev_y, n), csr.multiply(A, x))
end

return spmv
