local ww = require "warpwright"
local float32 = require "workloads.lib.float32"

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

--- Checks c, which holds the sums of a and b from element `first` on. Every element counts in a weighted sum of its chunk,
-- which must be that of the inputs up to rounding: one that is off by 2e-4 or more is found. A sample of elements,
-- the last one among them, must be right to the last bit.
local function check_slab(self, a, b, c, first, seed)
  local chunk = 1024
  local chunks = (#c + chunk - 1) // chunk
  local weight = ww.array("f32", chunk):random(seed, 0.5, 1)
  local got, want = ww.array("f64", chunks), ww.array("f64", chunks)
  for i = 0, chunks - 1 do
    local at = i * chunk
    local count = math.min(chunk, #c - at)
    got[i] = c:dot(weight, at, 0, count, 1, 1)
    want[i] = a:dot(weight, first + at, 0, count, 1, 1) + b:dot(weight, first + at, 0, count, 1, 1)
  end
  self:check("weighted sums of c from element " .. first, got, want, { abs = chunk * 2.0 ^ -24 })

  local rng, samples = ww.rng(seed + first), math.min(#c, 4096)
  local got_c, want_c = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local i = s == 0 and #c - 1 or rng:int(0, #c - 1)
    got_c[s], want_c[s] = c[i], float32.round(a[first + i] + b[first + i])
  end
  self:check("sampled elements of c from element " .. first, got_c, want_c)
end

function vecadd:run(gpu, size)
  local n = size.n
  local a = ww.array("f32", n):random(size.seed, -1, 1)
  local b = ww.array("f32", n):random(size.seed + 1, -1, 1)
  local dev_a, dev_b, dev_c = gpu:upload(a), gpu:upload(b), gpu:alloc(4 * n)

  gpu:launch(self.kernels.vecadd, { grid = (n + 255) // 256, block = 256, args = { dev_a, dev_b, dev_c, n } })

  for first = 0, n - 1, slab do
    local c = gpu:download("f32", dev_c + 4 * first, math.min(slab, n - first))
    check_slab(self, a, b, c, first, size.seed + 2)
  end
end

return vecadd
