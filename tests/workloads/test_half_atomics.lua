-- Atomics on 16 bits, on halves and on vectors of them, from many CTAs: in any tick order, with threads, and from a
-- checkpoint with some of them in flight.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

local CTAS <const>, THREADS <const> = 12, 64
local ALL <const> = CTAS * THREADS

local function workload()
  local w = ww.workload "half_atomics" { ptx = "../kernels/half_atomics_kernel.ptx", sizes = { small = {} } }
  function w:run(gpu)
    local counters, olds = gpu:alloc(64), gpu:alloc(4 * ALL)
    gpu:fill(counters, 0, 64)
    gpu:launch(self.kernels.half_atomics, { grid = CTAS, block = THREADS, args = { counters, olds } })
    local got, seen = gpu:download("u16", counters, 17), gpu:download("u16", olds, 2 * ALL)
    local f16 <const> = { [96] = 0x5600, [768] = 0x6200 }
    for i = 0, 7 do assert(got[i] == f16[ALL // 8], ("counter %d: %x"):format(i, got[i])) end
    for i = 8, 15 do assert(got[i] == f16[ALL], ("element %d: %x"):format(i - 8, got[i])) end
    assert(got[16] == ALL, "the lock counts " .. got[16])
    local tickets = {}
    for thread = 0, ALL - 1 do tickets[seen[2 * thread + 1]] = true end
    for ticket = 0, ALL - 1 do assert(tickets[ticket], "nobody has ticket " .. ticket) end
  end
  return w
end

local function run(options)
  local all = { config = "gtx480", workload = workload(), size = "small", policy = "gto", out = false }
  for name, value in pairs(options) do all[name] = value end
  return ww.run(all)
end

harness.test("atomics of 16 bits and vectors obey the law: tick orders, threads, resumes", function()
  local folder = harness.folder() .. "/half_atomics"
  run { out = folder .. "-whole", checkpoint_at = 2000 }
  local stats = harness.read(folder .. "-whole/stats.txt")
  for _, order in ipairs { "reversed", "shuffled:3", "restless" } do
    run { out = folder .. "-" .. order, order = order }
    harness.same_text(harness.read(folder .. "-" .. order .. "/stats.txt"), stats, order)
  end
  run { out = folder .. "-threads", threads = 2 }
  harness.same_text(harness.read(folder .. "-threads/stats.txt"), stats, "two threads")
  local checkpoint = assert(io.popen("ls " .. folder .. "-whole/*.ckpt")):read "l"
  run { out = folder .. "-resumed", resume = checkpoint }
  harness.same_text(harness.read(folder .. "-resumed/stats.txt"), stats, "resumed")
end)

harness.finish()
