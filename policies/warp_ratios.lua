-- Decides nothing: the distribution of the warps' L2 hit ratios over the samples that warp_types takes, beside any other policy. With
-- a short interval, and read again and again, it shows whether warps keep theirs (MeDiC, Figure 4). load_ratios has those of single
-- loads (Figure 2).
local policy = require "warpwright.policy"

--- Counters of a distribution, with what they count: one for each tenth, and those for nothing and for all.
local function ranges(what)
  local counters = { none = what .. " in which nothing hit", all = what .. " in which all hit" }
  for tenth = 0, 9 do
    counters[("from_%d"):format(10 * tenth)] = ("%s with a hit ratio from %d %% to less than %d %%, but for 0 %%"):format(
      what, 10 * tenth, 10 * tenth + 10)
  end
  return counters
end

local warp_ratios = policy "warp_ratios" {
  doc = "Decides nothing: the distribution of the warps' L2 hit ratios",
  uses = { "warp_types" },
  counters = ranges "Samples",
}

warp_ratios.ranges = ranges

--- The counter for this hit ratio.
function warp_ratios.range(hits, accesses)
  if hits == 0 then return "none" end
  if hits == accesses then return "all" end
  return ("from_%d"):format(10 * (10 * hits // accesses))
end

function warp_ratios:on_sampler_sampled(_, hits, accesses) self:count(warp_ratios.range(hits, accesses)) end

return warp_ratios
