local ww = require "warpwright"

local scalar_product = ww.workload "scalar_product" {
  doc = "Scalar products of pairs of long vectors: two streams, read once, and a tree of sums in shared memory",
  ptx = "scalar_product.ptx",
  sizes = {
    small = { pairs = 4, elements = 1024, seed = 1 },
    medium = { pairs = 1024, elements = 16 * 1024, seed = 1 },
    paper = { pairs = 2048, elements = 16 * 1024, seed = 1 },
  },
  expected = { class = "streaming", size = "small,pairs=16,elements=4096", hit_rate = { 0, 0.02 }, mpki = { 0, 10 } },
}

local ctas <const>, threads <const>, sums <const> = 128, 256, 1024

--- A product in the kernel's order of summation, to the last bit.
local function product_of(a, b, first, elements)
  local sum, round = {}, ww.float32.round
  for i = 0, sums - 1 do
    local count = (elements - i + sums - 1) // sums
    sum[i] = a:fma_dot(b, first + i, first + i, count, sums, sums)
  end
  local half = sums // 2
  while half > 0 do
    for i = 0, half - 1 do sum[i] = round(sum[i] + sum[half + i]) end
    half = half // 2
  end
  return sum[0]
end

function scalar_product:run(gpu, size)
  local pairs_count, elements = size.pairs, size.elements
  local a = ww.array("f32", pairs_count * elements):random(size.seed, 0, 1)
  local b = ww.array("f32", pairs_count * elements):random(size.seed + 1, 0.5, 1)
  local dev_product = gpu:alloc(4 * pairs_count)

  gpu:launch(self.kernels.scalar_product, {
    grid = ctas,
    block = threads,
    args = { gpu:upload(a), gpu:upload(b), dev_product, pairs_count, elements },
  })

  -- One element is 1 / (4 elements) of a product or more, unless it is nearly 0; rounding makes a
  -- few 2^-24.
  local got, want = gpu:download("f32", dev_product, pairs_count), ww.array("f64", pairs_count)
  for pair = 0, pairs_count - 1 do want[pair] = a:dot(b, pair * elements, pair * elements, elements, 1, 1) end
  self:check("products", got, want, { rel = 1e-6 })

  local rng, samples = ww.rng(size.seed + 2), math.min(pairs_count, 8)
  local sample, wanted = ww.array("f32", samples), ww.array("f32", samples)
  for s = 0, samples - 1 do
    local pair = s == 0 and pairs_count - 1 or rng:int(0, pairs_count - 1)
    sample[s], wanted[s] = got[pair], product_of(a, b, pair * elements, elements)
  end
  self:check("sampled products", sample, wanted)
end

return scalar_product
