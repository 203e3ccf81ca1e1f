-- PC-based bypassing of the L2, a comparison point of MeDiC (section 5): a table of counters, chosen by a hash of the load's
-- address in its kernel, knows the recent hit rate of each load instruction; loads with a low one go straight to memory.
-- The text gives no sizes. Every so many loads of such an instruction one goes through the cache, so that it can come back.
local policy = require "warpwright.policy"

local pc_byp = policy "pc_byp" {
  doc = "Load instructions with low hit rates bypass the L2",
  params = {
    entries = { 128, min = 1, max = 65536, doc = "Entries of the table of a slice, a power of two" },
    threshold = { 20, min = 0, max = 100, doc = "Hit rate in percent below which loads bypass; 0: never" },
    window = { 256, min = 2, doc = "An entry halves its counters after so many loads" },
    warm_up = { 64, min = 1, doc = "Loads of an entry before it decides; at most half of window" },
    probe = { 32, min = 1, doc = "One of so many loads that would bypass does not" },
  },
  caches = "L2",
  parts = {
    { class = "PcBypassTable", name = "pc_table", of = "cache", entries = policy.param "entries",
      threshold = policy.param "threshold", window = policy.param "window", warm_up = policy.param "warm_up",
      probe = policy.param "probe" },
  },
}

function pc_byp:configure(_, path)
  if self:acts_on(path) then return { bypass = true } end
end

return pc_byp
