-- The workload of tests of the law: a kernel that races through global memory and atomics.
local ww = require "warpwright"

local racing = ww.workload "racing" {
  ptx = "racing_kernel.ptx",
  sizes = { small = { ctas = 60, threads = 128, words = 1024 } }, -- `words` is a power of two
}

function racing:run(gpu, size)
  local data = gpu:upload(ww.array("u32", size.words):random(1, 0, 0xffffffff))
  local counters = gpu:upload(ww.array("u32", 64))
  local threads = size.ctas * size.threads
  local result = gpu:alloc(4 * threads)
  gpu:launch(self.kernels.race, {
    grid = size.ctas,
    block = size.threads,
    args = { data, counters, result, size.words - 1 },
  })
  self:check("steps counted", gpu:download("u32", counters, 64):sum(), 16 * threads)
  racing.digest = gpu:digest() -- of what the last run left
end

return racing
