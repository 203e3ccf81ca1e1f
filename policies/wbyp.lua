-- Warp-type-aware bypassing (MeDiC, section 3.2): requests of mostly-miss and all-miss warps do not queue for the L2 but go
-- straight to memory. They skip the time that others take to the tags, and the bank (`bypass_delay` of L2). Loads and stores
-- bypass; atomics cannot, they are performed in the L2. A line that a bypassing request finds is written back before, and
-- forgotten when it is written: so its tag is looked up, beside its way to memory.
--
-- That look-up also tells warp_types whether the request would have hit. What only warps that bypass use is not in the L2. For
-- that the part `shadow` of each slice has tags without data, in sets of 16 in the order of use: the last lines that bypassing
-- requests asked for, as if these had an L2 to themselves. Nobody waits for them. 512 tags of 3 bytes are 1.5 KB beside a bank of
-- 64 KiB. With shadow=0 the L2's own tags alone are probed: a warp comes back when it turns to lines that others brought.
local load = require "warpwright.load"
local policy = require "warpwright.policy"

local types = load.get("policy", "warp_types")

local wbyp = policy "wbyp" {
  doc = "Requests of warps that miss go past the L2",
  uses = { "warp_types" },
  params = {
    shadow = { 512, min = 0, max = 1 << 20, doc = "Tags in each slice for what bypasses it, a multiple of 16" },
  },
  caches = "L2",
  parts = {
    { class = "ShadowTags", name = "shadow", of = "cache", entries = policy.param "shadow",
      where = function(params) return params.shadow > 0 end },
  },
}

function wbyp:configure(_, path)
  if not self:acts_on(path) then return end
  return { bypass = true, bypass_classes = types.set("all_miss", "mostly_miss") }
end

return wbyp
