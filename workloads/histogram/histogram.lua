local ww = require "warpwright"
local rows = require "workloads.lib.rows"

local histogram = ww.workload "histogram" {
  doc = "Histogram of bytes in shared memory, one for each warp: computation, and at the end global atomics",
  ptx = "histogram.ptx",
  sizes = { -- update: "tags", by turns of the lanes that meet at a counter, or "atomics" of shared memory
    small = { words = 6000, ctas = 4, update = "tags", seed = 1 },
    medium = { words = 4096 * 1024, ctas = 960, update = "tags", seed = 1 },
  },
  expected = { class = "compute-intensive", size = "small,words=60000", instructions_per_miss = { 30, 200 } },
}

local bins <const>, threads <const>, piece <const> = 256, 192, 1024

--- Bytes, four in a word: each is the sum of two dice of different size, so that values in the
-- middle are several times as frequent as others. No sum is above 255, and words add up byte by
-- byte.
local function random_words(size)
  local small = ww.array("u8", 4 * size.words):random(size.seed, 0, 127)
  local large = ww.array("u8", 4 * size.words):random(size.seed + 1, 0, 128)
  local words, sums = ww.array("u32", size.words), {}
  for first = 0, size.words - 1, piece do
    local count = math.min(piece, size.words - first)
    local function own(bytes) return ww.array_from("u32", bytes:string(4 * first, 4 * count)):table() end
    local a, b = own(small), own(large)
    for i = 0, count - 1 do sums[i + 1] = a[i] + b[i] end
    words:put(first, ww.array_from("u32", sums), 0, count)
  end
  return words
end

--- How often each byte occurs, by the counts of halves of words.
local function histogram_of(words)
  local halves, counts = {}, ww.array("u32", bins)
  for half = 0, 0xffff do halves[half] = 0 end
  local words_of = rows.of(words, piece)
  for row = 0, (#words - 1) // piece do
    local own = words_of(row)
    for i = 0, #own do
      local high, low = own[i] >> 16, own[i] & 0xffff
      halves[high] = halves[high] + 1
      halves[low] = halves[low] + 1
    end
  end
  for half = 0, 0xffff do
    local high, low = half >> 8, half & 0xff
    counts[high] = counts[high] + halves[half]
    counts[low] = counts[low] + halves[half]
  end
  return counts
end

function histogram:run(gpu, size)
  local kernel = ({ tags = self.kernels.histogram_tags, atomics = self.kernels.histogram_atomics })[size.update]
  if not kernel then error(("histogram: update: expected tags or atomics, got '%s'"):format(size.update), 0) end
  local words = random_words(size)
  local result = gpu:upload(ww.array("u32", bins))
  gpu:launch(kernel, { grid = size.ctas, block = threads, args = { gpu:upload(words), result, size.words } })
  self:check("histogram", gpu:download("u32", result, bins), histogram_of(words))
end

return histogram
