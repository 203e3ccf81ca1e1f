-- Decides nothing: each warp's requests to the L2 in the samples that warp_types takes, and those
-- that hit. A policy of scripts/warp_hits, which reads it window by window (MeDiC, Figure 4).
local policy = require "warpwright.policy"

local counters = {}
for warp = 0, 63 do
  counters["requests_" .. warp] = ("Requests of warp %d in its samples"):format(warp)
  counters["hits_" .. warp] = "Of these: hit in the L2"
end

local warp_curves = policy "warp_curves" {
  doc = "Decides nothing: the L2 hit ratio of each warp",
  uses = { "warp_types" },
  counters = counters,
}

function warp_curves:on_sampler_sampled(warp, hits, accesses)
  self:count("requests_" .. warp, accesses)
  self:count("hits_" .. warp, hits)
end

return warp_curves
