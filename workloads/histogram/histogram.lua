local ww = require "warpwright"

local histogram = ww.workload "histogram" {
  doc = "Histogram of bytes in shared memory, one for each warp: computation, and at the end global atomics",
  ptx = "histogram.ptx",
  sizes = { -- update: "tags", by turns of the lanes that meet at a counter, or "atomics" of shared memory
    small = { words = 6000, ctas = 4, update = "tags", seed = 1 },
    medium = { words = 4096 * 1024, ctas = 960, update = "tags", seed = 1 },
  },
  expected = { class = "compute-intensive", size = "small,words=60000", instructions_per_miss = { 30, 200 } },
}

local bins <const>, threads <const> = 256, 192

function histogram:run(gpu, size)
  local kernel = ({ tags = self.kernels.histogram_tags, atomics = self.kernels.histogram_atomics })[size.update]
  if not kernel then error(("histogram: update: expected tags or atomics, got '%s'"):format(size.update), 0) end
  -- The sum of two dice of different size: values in the middle are several times as frequent as others.
  local bytes = ww.array("u8", 4 * size.words):random(size.seed, 0, 127)
  local more = ww.array("u8", #bytes):random(size.seed + 1, 0, 128)
  local counts = {}
  for bin = 0, bins - 1 do counts[bin] = 0 end
  for i = 0, #bytes - 1 do
    local value = bytes[i] + more[i]
    bytes[i] = value
    counts[value] = counts[value] + 1
  end

  local result = gpu:upload(ww.array("u32", bins))
  gpu:launch(kernel, { grid = size.ctas, block = threads, args = { gpu:upload(bytes), result, size.words } })

  local want = ww.array("u32", bins)
  for bin = 0, bins - 1 do want[bin] = counts[bin] end
  self:check("histogram", gpu:download("u32", result, bins), want)
end

return histogram
