-- A kernel that races through global memory and atomics gives the same memory and the same stats in any tick order.
local ww = require "warpwright"
local harness = require "harness"

local digest

local racing = ww.workload "racing" {
  ptx = "racing_kernel.ptx",
  sizes = { small = { ctas = 60, threads = 128, words = 1024 } },
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
  digest = gpu:digest()
end

local function race(order, policy)
  local out = ("%s/%s-%s"):format(harness.folder(), order, policy)
  ww.run { config = "gtx480", workload = racing, policy = policy, out = out, order = order }
  return harness.read(out .. "/stats.txt"), digest
end

for _, policy in ipairs { "lrr", "gto" } do
  local stats, memory = race("path", policy)
  for _, order in ipairs { "path", "reversed", "shuffled:1", "shuffled:2", "shuffled:3" } do
    harness.test(("racing kernel under %s ticked in order %s"):format(policy, order), function()
      local other_stats, other_memory = race(order, policy)
      harness.equal(other_memory, memory, "digest of device memory")
      assert(other_stats == stats, "stats.txt differs")
    end)
  end
end

-- Otherwise the kernel would prove nothing.
harness.test("the outcome of the race depends on timing", function()
  local _, lrr = race("path", "lrr")
  local _, gto = race("path", "gto")
  assert(lrr ~= gto, "two policies left the same memory")
end)

harness.finish()
