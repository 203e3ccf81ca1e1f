-- Warp-type-aware insertion (MeDiC, section 3.3): lines of warps that hit enter the L2 as the most recently used, those of
-- balanced warps in the middle, those of warps that miss as the least recently used. Each line keeps the type of the warp that
-- brought it, and lines of warps that miss are replaced first, those of warps that hit last.
-- The text appends the type to the replacement bits, and calls lines of warps that miss "more likely to be evicted". Taken as
-- leading bits for ever (keep_uses=0), they keep lines of warps that hit even when nobody uses them any more. So the type ages:
-- each of its steps is worth keep_uses uses of the slice, after which a line that was not used goes like one of the type
-- below. A hit makes it a line of the type of the warp that hits. keep_hits=false leaves lines of warps that hit their place
-- in the order of use alone. Two bits hold one value for both types that miss and one for both that hit. Lines of warps not
-- sampled yet enter as they always did and rank as balanced.
local load = require "warpwright.load"
local policy = require "warpwright.policy"

local types = load.get("policy", "warp_types")

local wip = policy "wip" {
  doc = "Lines of warps that hit stay in the L2, those of warps that miss go first",
  uses = { "warp_types" },
  caches = "L2",
  params = {
    keep_hits = { true, doc = "Lines of warps that hit are replaced last; false: they enter as the most recently used, no more" },
    keep_uses = { 4096, min = 0, max = 1 << 40, doc = "So many uses of the slice is a step from type to type worth; 0: more than any number" },
    balanced_depth = { 0.5, min = 0, max = 1, doc = "Where lines of balanced warps enter: 0 most, 1 least recently used" },
  },
}

local least_recently_used = 255

function wip:configure(_, path, params)
  if not self:acts_on(path) then return end
  local hits = self.params.keep_hits and 2 or 1
  local balanced = math.floor(self.params.balanced_depth * (params.ways - 1) + 0.5)
  return {
    insertion_position = types.table {
      all_miss = least_recently_used, mostly_miss = least_recently_used, balanced = math.min(balanced, least_recently_used),
    },
    retention_uses = self.params.keep_uses,
    retention_priority = types.table { unknown = 1, balanced = 1, mostly_hit = hits, all_hit = hits },
  }
end

return wip
