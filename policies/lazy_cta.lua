-- Lazy CTA scheduling (LCS: M. Lee, S. Song, J. Moon, J. Kim, W. Seo, Y. Cho, S. Ryu, "Improving GPGPU Resource Utilization
-- Through Alternative Thread Block Scheduling", HPCA 2014): an SM starts with as many CTAs as fit, under a greedy warp
-- scheduler. What the CTAs behind the first have issued until that one ends says how many of them the SM can keep busy; the
-- dispatcher gives it no more from then on.
--
-- The number is that of all instructions until then over those of the CTA that ended, the paper's idea as others describe it;
-- that it is rounded up, and found anew for each kernel by each SM, is our choice. An SM may hold more CTAs than that for a
-- while: those that it has are not taken away.
local policy = require "warpwright.policy"

local lazy_cta = policy "lazy_cta" {
  doc = "Each SM holds as many CTAs as its first one, which a greedy scheduler prefers, leaves time for",
  scope = "machine",
  order = "gto",
  params = {
    least = { 1, min = 1, max = 32, doc = "CTAs that an SM holds at least" },
    margin = { 0.0, min = 0, max = 32, doc = "Added to the number of CTAs before it is rounded up; 32: no limit" },
  },
  parts = { { class = "CtaProgress", name = "progress", of = "SM" } },
  counters = { limited = "SMs that were given a limit below what fits", ctas = "CTAs of these limits, summed" },
}

function lazy_cta:start() self.state.known = {} end

function lazy_cta:on_sm_kernel_given(sm)
  self.dispatchers[1]:set_limit(sm:number(), 0)
  self.state.known[sm:number() + 1] = false
end

--- The first that ends on the SM in this kernel.
function lazy_cta:on_sm_cta_end(sm, slot)
  local i = sm:number() + 1
  if self.state.known[i] then return end
  self.state.known[i] = true
  local progress, all = self.progresss[i], 0
  for other = 0, sm:ctas_per_sm() - 1 do all = all + progress:issued(other) end
  local ctas = math.max(self.params.least, math.ceil(all / math.max(1, progress:issued(slot)) + self.params.margin))
  if ctas >= sm:ctas_per_sm() then return end
  self.dispatchers[1]:set_limit(i - 1, ctas)
  self:count "limited"
  self:count("ctas", ctas)
end

return lazy_cta
