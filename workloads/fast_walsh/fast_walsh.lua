local ww = require "warpwright"

local fast_walsh = ww.workload "fast_walsh" {
  doc = "Walsh-Hadamard transform of one long vector, launch by launch over all of it: reuse only between kernels",
  ptx = "fast_walsh.ptx",
  sizes = { -- length: a power of two, at least 1024
    small = { length = 1 << 14, seed = 1 },
    medium = { length = 1 << 22, seed = 1 },
    paper = { length = 1 << 23, seed = 1 },
  },
  expected = { class = "streaming in L1", hit_rate = { 0, 0.05 }, instructions_per_miss = { 4, 30 }, mpki = { 0, 10 } },
}

local shortest <const>, longest <const>, threads <const> = 1024, 2048, 512

--- Weights that are a product, with one factor for each bit of an element's number: by_bit(b) has
-- both.
local function weights(length, by_bit)
  local weight, count, bit = ww.array("f64", length):set(0, 1), 1, 0
  while count < length do
    local zero, one = by_bit(bit)
    weight:put(count, weight, 0, count):scale(one, count, count):scale(zero, 0, count)
    count, bit = 2 * count, bit + 1
  end
  return weight
end

--- Element i by the definition: all elements, those negative whose numbers have an odd number of
-- bits in common with i.
local function element(values, i)
  return values:dot(weights(#values, function(bit) return 1, i >> bit & 1 == 1 and -1 or 1 end))
end

--- All elements: weighted sums of the transform are sums of the vector with transformed weights.
-- The transform of the factors (1, a) of a bit is (1 + a, 1 - a).
local function check_sums(self, values, got, seed)
  local sums, want, rng = ww.array("f64", 2), ww.array("f64", 2), ww.rng(seed)
  for s = 0, 1 do
    local factor = {}
    for bit = 0, 62 do factor[bit] = (0.9 + 0.2 * rng:float()) * (2 * rng:int(0, 1) - 1) end
    sums[s] = got:dot(weights(#got, function(bit) return 1, factor[bit] end))
    local transformed = weights(#got, function(bit) return 1 + factor[bit], 1 - factor[bit] end)
    want[s] = values:dot(transformed)
  end
  self:check("weighted sums", sums, want, { abs = 1e-3 })
end

function fast_walsh:run(gpu, size)
  local n = size.length
  if n < shortest or n & (n - 1) ~= 0 then
    error(("fast_walsh: length: expected a power of two, at least %d, got %d"):format(shortest, n), 0)
  end
  -- Whole numbers, so that every sum is exact.
  local values = ww.array_from("f32", ww.array("i32", n):random(size.seed, -1, 1))
  local vector, block = gpu:upload(values), n
  while block > longest do
    gpu:launch(self.kernels.walsh_stages, { grid = n // 4 // threads, block = threads, args = { vector, block // 4 } })
    block = block // 4
  end
  gpu:launch(self.kernels.walsh_blocks, { grid = n // block, block = block // 4, args = { vector, block } })

  local got, rng, samples = gpu:download("f32", vector, n), ww.rng(size.seed + 1), 4
  local sample, want = ww.array("f32", samples), ww.array("f64", samples)
  for s = 0, samples - 1 do
    local i = s == 0 and n - 1 or rng:int(0, n - 1)
    sample[s], want[s] = got[i], element(values, i)
  end
  self:check("sampled elements", sample, want)
  check_sums(self, values, got, size.seed + 2)
end

return fast_walsh
