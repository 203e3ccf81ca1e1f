-- Loose round robin: each scheduler goes on from the warp that issued last to the next one that can issue.
local policy = require "warpwright.policy"

return policy "lrr" { order = "lrr", doc = "Loose round robin" }
