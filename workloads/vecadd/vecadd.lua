local ww = require "warpwright"
local weighted = require "workloads.lib.weighted"

local vecadd = ww.workload "vecadd" {
  doc = "c = a + b: pure streaming, bound by DRAM bandwidth",
  ptx = "vecadd.ptx",
  sizes = {
    small = { n = 512 * 1024, seed = 1 },
    medium = { n = 16 * 1024 * 1024, seed = 1 },
    large = { n = 48 * 1024 * 1024, seed = 1 },
  },
}

local slab = 1024 * 1024 -- elements of c that are fetched and checked together

function vecadd:run(gpu, size)
  local n = size.n
  local a = ww.array("f32", n):random(size.seed, -1, 1)
  local b = ww.array("f32", n):random(size.seed + 1, -1, 1)
  local dev_a, dev_b, dev_c = gpu:upload(a), gpu:upload(b), gpu:alloc(4 * n)

  gpu:launch(self.kernels.vecadd, { grid = (n + 255) // 256, block = 256, args = { dev_a, dev_b, dev_c, n } })

  local function sum(i) return ww.float32.round(a[i] + b[i]) end
  for first = 0, n - 1, slab do
    local c = gpu:download("f32", dev_c + 4 * first, math.min(slab, n - first))
    weighted.check(self, "c", c, { { a }, { b } }, first, sum, size.seed + 2)
  end
end

return vecadd
