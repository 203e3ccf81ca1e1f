-- Warp-type-aware memory scheduling (MeDiC, section 3.4): two request queues in each memory controller, one for mostly-hit
-- and all-hit warps and one for all others; FR-FCFS in each, and the first goes first. A command of the second queue is
-- issued only in a cycle in which none of the first can be, and to a bank that the first does not want. Write-backs, for
-- which no warp waits, are of the second queue whoever wrote the line.
local load = require "warpwright.load"
local policy = require "warpwright.policy"

local types = load.get("policy", "warp_types")

local wms = policy "wms" {
  doc = "Memory controllers serve the warps that hit in the L2 first",
  uses = { "warp_types" },
}

function wms:configure(class)
  if class ~= "MemoryController" then return end
  return {
    scheduler = "frfcfs", queues = 2,
    class_queues = types.table { unknown = 1, all_miss = 1, mostly_miss = 1, balanced = 1, mostly_hit = 0, all_hit = 0 },
  }
end

return wms
