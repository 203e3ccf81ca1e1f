-- Distributed CTA scheduling (A. Arunkumar et al., "MCM-GPU: Multi-Chip-Module GPUs for Continued Performance Scalability",
-- ISCA 2017): each module gets a contiguous share of the grid, so that CTAs that use the same lines and pages run in one module.
-- SMs of a group get the CTAs of their share in order, and none of another group's: the paper's scheduler balances nothing.
-- Of kernels side by side, which have not all groups' SMs, an SM goes on with other shares when its own is used up.
local policy = require "warpwright.policy"

local distributed_ctas = policy "distributed_ctas" {
  doc = "Each group of SMs gets a contiguous share of the grid",
  scope = "dispatcher",
  params = { groups = { 4, min = 1, max = 1024, doc = "Groups of SMs that follow each other, modules say" } },
}

--- The whole numbers below `count` are cut into as many parts as there are groups, which differ by one at most.
function distributed_ctas:next_cta(sm)
  local x, y, z = self.dispatcher:grid()
  local groups = math.min(self.params.groups, self.dispatcher.sms)
  local group, ctas = sm * groups // self.dispatcher.sms, x * y * z
  local cta = self.dispatcher:first_waiting(group * ctas // groups, (group + 1) * ctas // groups - 1)
  return cta or self.dispatcher:kernels() > 1 and self.dispatcher:first_waiting(0, ctas - 1) or -1
end

return distributed_ctas
