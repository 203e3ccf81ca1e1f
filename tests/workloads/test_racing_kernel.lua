-- A kernel that races through global memory and atomics gives the same memory and the same stats in any tick order.
local ww = require "warpwright"
local harness = require "tests.lib.harness"
local racing = require "tests.kernels.racing_kernel"

local function race(order, policy)
  local out = ("%s/%s-%s"):format(harness.folder(), order, policy)
  ww.run { config = "gtx480", workload = racing, policy = policy, out = out, order = order }
  return harness.read(out .. "/stats.txt"), racing.digest
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
