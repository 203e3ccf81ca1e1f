-- Greedy, then oldest: each scheduler stays with the warp that issued last until it stalls, then takes the oldest
-- that can issue (Rogers et al., Cache-Conscious Wavefront Scheduling, MICRO 2012).
local policy = require "warpwright.policy"

return policy "gto" { order = "gto", doc = "Greedy, then oldest" }
