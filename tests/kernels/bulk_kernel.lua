-- The workload of tests of bulk copies: tiles that come and go through two stages of shared memory.
local ww = require "warpwright"

local bulk = ww.workload "bulk" { ptx = "bulk_kernel.ptx", sizes = { small = { ctas = 40, bytes = 12 * 2048 + 1040 } } }

function bulk:run(gpu, size)
  local count = size.ctas * size.bytes // 4
  local a, want = ww.array("u32", count):random(1, 0, 1000000), ww.array("u32", count)
  for i = 0, count - 1 do want:set(i, 3 * a[i] + 1) end
  local out = gpu:alloc(4 * count)
  gpu:launch(self.kernels.bulk, { grid = size.ctas, block = 128, args = { gpu:upload(a), out, size.bytes } })
  self:check("words", gpu:download("u32", out, count), want)
end

return bulk
