-- Static wavefront limiting (Rogers et al., Cache-Conscious Wavefront Scheduling, section 1.4; SWT in Khairy et al., section
-- 4.2): of each scheduler's warps only the oldest issue, so many as the limit says. When some warps of a CTA wait at a
-- barrier, those that it waits for issue too: else a CTA with more warps than the limit would hang. Warps that spin, for a
-- lock or a flag, issue beyond the limit: younger ones may have what they wait for.
-- scripts/best_swl finds the best limit.
local policy = require "warpwright.policy"

local swl = policy "swl" {
  doc = "Static wavefront limiting: a cap on the warps that issue",
  order = "gto",
  params = { limit = { 8, min = 1, max = 64, doc = "Warps of each scheduler that may issue" } },
}

function swl:configure(class)
  if class == "SM" then return { warp_limit = self.params.limit } end
end

return swl
