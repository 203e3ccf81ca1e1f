-- Decides nothing: the distribution of the warps' L2 hit ratios (MeDiC, Figure 2) over the samples that warp_types takes, beside
-- any other policy. With a short interval, and read again and again, it shows whether warps keep theirs (Figure 4).
local policy = require "warpwright.policy"

local counters = { none = "Samples in which nothing hit", all = "Samples in which all hit" }
for tenth = 0, 9 do
  counters[("from_%d"):format(10 * tenth)] = ("Samples with a hit ratio from %d %% to less than %d %%, but for 0 %%"):format(
    10 * tenth, 10 * tenth + 10)
end

local warp_ratios = policy "warp_ratios" {
  doc = "Decides nothing: the distribution of the warps' L2 hit ratios",
  uses = { "warp_types" },
  counters = counters,
}

function warp_ratios:on_sampler_sampled(_, hits, accesses)
  if hits == 0 then
    self:count "none"
  elseif hits == accesses then
    self:count "all"
  else
    self:count(("from_%d"):format(10 * (10 * hits // accesses)))
  end
end

return warp_ratios
