-- Cache-conscious wavefront scheduling (Rogers et al., MICRO 2012; CACM, December 2014). A warp that misses lines which it
-- had in L1 before has lost locality to others. Its score rises, and pushes the warps with the lowest scores above a
-- cut-off: these may not load until the score has decayed.
local policy = require "warpwright.policy"

local ccws = policy "ccws" {
  doc = "Cache-conscious wavefront scheduling: warps that lose locality keep others from loading",
  order = "gto", -- the wavefront prioritization logic beneath (section 4)
  params = {
    k_throttle = { 8, min = 0, max = 1000000, doc = "How strongly lost locality throttles; 0: never" },
    base_score = { 100, min = 1, doc = "Score of a warp that loses nothing" },
    -- Two readings of "performs a prefix sum" (section 3.3), without or with a warp's own score; locality_scores.h has the
    -- reasons for each.
    edge = { "bottom", doc = "bottom or top of a warp's score in the stack: it may not load when this is above the cut-off" },
    vta_entries = { 16, min = 1, doc = "Victim tags per warp" },
    vta_ways = { 8, min = 1, doc = "Victim tags per set" },
  },
  caches = "data",
  parts = {
    { class = "VictimTags", name = "vta", of = "SM",
      cache = policy.first_cache, sm = policy.sm_number,
      warps = function(_, sm) return sm.warps end,
      entries = policy.param "vta_entries", ways = policy.param "vta_ways" },
    { class = "LocalityScores", name = "scores", of = "SM",
      base = policy.param "base_score", edge = policy.param "edge" },
  },
}

-- Section 3.3: active are the warps allocated to the SM that have not exited --------------------------------------------

function ccws:set_active() self.scores:set_active(self.sm.live) end

ccws.on_cta_start = ccws.set_active
ccws.on_warp_end = ccws.set_active

function ccws:start()
  -- Sections 3.2, 3.3: a hit in the victim tags of the lost-locality detector raises the warp's score to that of MICRO 2012,
  --   LLDS = (VTA hits total / instructions issued total) * K_throttle * cumulative cut-off
  -- unless it is higher already: a hit never lowers a score.
  self.scores:update_on_hits(self.vta, self.params.k_throttle)
  -- Section 3.1: the Can Issue vector
  self:bind("on_scores_changed", self.sm:setting { may_load = policy.argument })
end

return ccws
