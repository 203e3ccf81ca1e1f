-- Every workload computes what its reference does, under every policy.
local ww = require "warpwright"
local harness = require "tests.lib.harness"

for _, workload in ipairs { "vecadd", "sgemm", "spmv", "kmeans", "bfs", "gesummv" } do
  for _, policy in ipairs { "lrr", "gto" } do
    harness.test(workload .. " under " .. policy, function()
      local r = ww.run { config = "gtx480", workload = workload, size = "small", policy = policy, out = false }
      assert(r.checks > 0, "nothing was checked")
      assert(r.cycles > 0 and r.thread_instructions > r.warp_instructions)
    end)
  end
end

harness.finish()
