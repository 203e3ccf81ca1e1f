-- Warps that wait for unlike things before they meet at a barrier, in launches of every kind: with timing, `forward` (half of the CTAs
-- are executed ahead of it), `untimed` and then with it, and `together`: with a kernel of larger CTAs beside it.
local ww = require "warpwright"

local waiting = ww.workload "waiting" {
  ptx = "waiting_kernel.ptx",
  sizes = { small = { ctas = 8, threads = 160, rounds = 4, mode = "timed" } },
}

local most_threads <const>, shared <const> = 256, 4096

function waiting:run(gpu, size)
  local words = ww.array("u32", most_threads):random(1, 0, 0xffff)
  local from, lists = gpu:upload(words), {}
  local function launch(ctas, threads, options)
    local out = gpu:alloc(4 * ctas * threads)
    lists[#lists + 1] = { out = out, ctas = ctas, threads = threads }
    options.grid, options.block, options.args = ctas, threads, { from, out, size.rounds }
    return options
  end
  if size.mode == "together" then
    local more = { kernel = self.kernels.waiting, shared = shared }
    gpu:launch_together { launch(size.ctas, size.threads, { kernel = self.kernels.waiting }), launch(3, most_threads, more) }
  else
    if size.mode == "untimed" then gpu:launch(self.kernels.waiting, launch(size.ctas, size.threads, { timed = false })) end
    gpu:launch(self.kernels.waiting, launch(size.ctas, size.threads, { forward = size.mode == "forward" and size.ctas // 2 or nil }))
  end
  for i, list in ipairs(lists) do
    local found, wrong = gpu:download("u32", list.out, list.ctas * list.threads), 0
    for k = 0, list.ctas * list.threads - 1 do
      local sum = 0
      for round = 1, size.rounds do sum = sum + round * words[(k + 37 * round) % list.threads] end
      if found[k] ~= sum & 0xffffffff then wrong = wrong + 1 end
    end
    self:check(("wrong words of launch %d"):format(i), wrong, 0)
  end
end

return waiting
