-- Decides nothing: counts how long requests queue at each L2 slice, beside any other policy (Figure 5 of MeDiC).
local policy = require "warpwright.policy"

return policy "l2_delays" {
  doc = "Decides nothing: the distribution of the delays of requests that queue at the L2",
  caches = "L2",
  parts = { { class = "QueueDelays", name = "delays", of = "cache" } },
}
