-- How much L1 does k-means want, and does the warp scheduler matter?
local ww = require "warpwright"

if arg[1] == "--help" then
  print "usage: build/opt/warpwright scripts/my_first_experiment.lua [small|medium|large]"
  return
end
local size = arg[1] or "medium"

print("policy  L1 KiB      cycles     IPC  L1 miss rate")
for _, policy in ipairs { "lrr", "gto" } do
  for _, kib in ipairs { 16, 32, 64 } do
    local r = ww.run {
      config = "gtx480",
      workload = "kmeans",
      size = size,
      policy = policy,
      set = { ["sm[*].l1d.size"] = kib .. "KiB" },
      out = false,
    }
    print(("%-6s %7d %11d %7.1f %13.3f"):format(policy, kib, r.cycles, r.ipc, r["sm[*].l1d.miss_rate"]))
  end
end
