-- Warp-type-aware bypassing (MeDiC, section 3.2): requests of mostly-miss and all-miss warps do not queue for the L2 but go
-- straight to memory. They skip the time that others take to the tags, and the bank (`bypass_delay` of L2). Loads and stores
-- bypass; atomics cannot, they are performed in the L2. A line that a bypassing request finds is written back before, and
-- forgotten when it is written.
local load = require "warpwright.load"
local policy = require "warpwright.policy"

local types = load.get("policy", "warp_types")

local wbyp = policy "wbyp" {
  doc = "Requests of warps that miss go past the L2",
  uses = { "warp_types" },
}

function wbyp:configure(class)
  if class ~= "L2" then return end
  return { bypass = true, bypass_classes = types.set("all_miss", "mostly_miss") }
end

return wbyp
