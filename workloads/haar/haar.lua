local ww = require "warpwright"

local haar = ww.workload "haar" {
  doc = "Haar wavelet transform of a vector, nine levels a launch in shared memory; version plain or d2ma",
  ptx = "haar.ptx",
  sizes = {
    small = { n = 64 * 1024, version = "plain", registers = 20, seed = 1 },
    medium = { n = 1024 * 1024, version = "plain", registers = 20, seed = 1 },
    large = { n = 8192 * 1024, version = "plain", registers = 20, seed = 1 },
  },
}

local most_threads = 256
local root_half = ww.float32.round(0.70710678)

--- The transform in single precision, level by level over the whole vector.
local function reference(values)
  local round, n = ww.float32.round, #values
  local want, averages = ww.array("f32", n), {}
  for i = 0, n - 1 do averages[i] = values[i] end
  while n > 1 do
    n = n // 2
    for i = 0, n - 1 do
      local a, b = averages[2 * i], averages[2 * i + 1]
      want[n + i] = round(a - b) * root_half
      averages[i] = round(round(a + b) * root_half)
    end
  end
  return want:set(0, averages[0])
end

function haar:run(gpu, size)
  local n = size.n
  self:check_that("n is a power of two from 2 on", n > 1 and n & (n - 1) == 0)
  local values = ww.array("f32", n):random(size.seed, -1, 1)
  local input, details = gpu:upload(values), gpu:alloc(4 * n)

  local length = n
  while length > 1 do
    local threads = math.min(most_threads, length // 2)
    local ctas = length // (2 * threads)
    local averages = ctas > 1 and gpu:alloc(4 * ctas) or details -- the last one is the result's first element
    gpu:launch(self.kernels["haar_" .. size.version], {
      grid = ctas,
      block = threads,
      registers = size.registers,
      args = { input, details, averages, length },
    })
    input, length = averages, ctas
  end
  self:check("coefficients", gpu:download("f32", details, n), reference(values))
end

return haar
