-- Random bypassing of the L2, a comparison point of MeDiC (section 5, note 3): a fixed part of all requests, drawn at random,
-- goes straight to memory. The paper chooses the best rate for each workload by hand; scripts/best_rand_byp finds it.
local policy = require "warpwright.policy"

local rand_byp = policy "rand_byp" {
  doc = "A fixed part of all requests, drawn at random, bypasses the L2",
  params = {
    rate = { 0.5, min = 0, max = 1, doc = "The part that bypasses, in steps of 0.001" },
    seed = { 1, min = 0, max = 65535, doc = "Of the draw; each slice has a sequence of its own" },
  },
  caches = "L2",
}

function rand_byp:configure(_, path)
  if not self:acts_on(path) then return end
  local rate = math.floor(self.params.rate * 1000 + 0.5)
  return { bypass = rate > 0, bypass_rate = rate, bypass_seed = self.params.seed }
end

return rand_byp
