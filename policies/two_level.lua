-- Two-level scheduling (Narasiman et al., MICRO 2011; 2LVL-GTO in Rogers et al., Cache-Conscious Wavefront Scheduling,
-- section 4): the warps of a scheduler are divided into fetch groups, and one group issues until all of its warps have
-- stalled. `arbitration` chooses among the warps of a group, and among groups: "gto" as in 2LVL-GTO, "lrr" as in the
-- original (TLS in Sethia et al., Mascar).
local policy = require "warpwright.policy"

local two_level = policy "two_level" {
  doc = "Two-level scheduling: fetch groups, one after the other",
  order = "groups",
  params = {
    group_size = { 8, min = 1, max = 64, doc = "Warps of a scheduler in a fetch group" },
    arbitration = { "gto", doc = "gto or lrr: within a group and between groups" },
  },
}

function two_level:configure(class)
  if class == "SM" then
    return { group_size = self.params.group_size, group_order = self.params.arbitration }
  end
end

return two_level
