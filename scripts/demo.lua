-- The main job: two kernels with opposite needs on a GTX 480 under two warp schedulers. Every run
-- verifies the kernel's results against an independent reference and stops with an error when they
-- differ.

local ww = require "warpwright"

local workloads = { "kmeans", "spmv" }
local policies = { "lrr", "gto" }
local core_hertz = 700e6 -- of configs/gtx480.lua

local function l1_hit_rate(r)
  local hits = r["sm[*].l1d.hits"]
  return hits / (hits + r["sm[*].l1d.misses"] + r["sm[*].l1d.merges"])
end

local function dram_bandwidth(r)
  return (r["mc[*].read_bytes"] + r["mc[*].write_bytes"]) / (r.cycles / core_hertz)
end

local columns = "%-9s %-6s %11s %7s %8s %12s %10s %9s %9s\n"

local function row(r, baseline)
  return columns:format(r.workload, r.policy, r.cycles, ("%.1f"):format(r.ipc), ("%.1f%%"):format(100 * l1_hit_rate(r)),
    ("%.1f GB/s"):format(dram_bandwidth(r) / 1e9), ("%.0f"):format(r.cycles_per_second),
    ("%.2fx"):format(baseline.cycles / r.cycles), r.checks > 0 and "yes" or "no")
end

local lines, folders = {}, {}
for _, workload in ipairs(workloads) do
  local baseline
  for _, policy in ipairs(policies) do
    print(("running %s, medium, on gtx480 under %s"):format(workload, policy))
    local r = ww.run { config = "gtx480", workload = workload, policy = policy, size = "medium" }
    baseline = baseline or r
    lines[#lines + 1] = row(r, baseline)
    folders[#folders + 1] = r.out
  end
end

print()
io.write(columns:format("workload", "policy", "cycles", "IPC", "L1 hits", "DRAM", "cycles/s", "speed-up", "verified"))
io.write(table.concat(lines))
print("\nIPC counts thread instructions, cycles/s simulated cycles per second; speed-up is over " .. policies[1] .. ".")
print("Stats, resolved configuration and provenance of each run:")
for _, folder in ipairs(folders) do print("  " .. folder) end
