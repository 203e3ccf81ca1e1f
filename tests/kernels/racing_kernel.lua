-- The workload of tests of the law: kernels that race through global memory and atomics. Several are launched together, and every
-- third one waits for the one before it.
local ww = require "warpwright"

local racing = ww.workload "racing" {
  ptx = "racing_kernel.ptx",
  sizes = { small = { ctas = 60, threads = 128, words = 1024, kernels = 1 } }, -- `words` is a power of two
}

function racing:run(gpu, size)
  local data = gpu:upload(ww.array("u32", size.words):random(1, 0, 0xffffffff))
  local counters = gpu:upload(ww.array("u32", 64))
  local list, threads = {}, 0
  for i = 1, size.kernels do
    local ctas = size.ctas + 2 * (i - 1)
    list[i] = { kernel = self.kernels.race, grid = ctas, block = size.threads,
      args = { data, counters, gpu:alloc(4 * ctas * size.threads), size.words - 1 }, after = i % 3 == 0 and i - 1 or nil }
    threads = threads + ctas * size.threads
  end
  gpu:launch_together(list)
  self:check("steps counted", gpu:download("u32", counters, 64):sum(), 16 * threads)
  racing.digest = gpu:digest() -- of what the last run left
end

return racing
