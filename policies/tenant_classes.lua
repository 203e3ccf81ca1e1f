-- Tells the requests of tenants apart: the class of a warp's requests is the number of the tenant whose kernel it runs, 0 where a
-- launch names none. Caches (partition_by, ucp), networks (arbitration = "class") and memory controllers (class_queues, bliss)
-- go by classes. A policy that sets classes itself cannot be beside it.
local bits = require "warpwright.bits"
local policy = require "warpwright.policy"

local tenant_classes = policy "tenant_classes" {
  doc = "The class of requests is the tenant of their kernel",
  sets_classes = true,
  counters = { ctas = "CTAs of kernels with a tenant" },
}

--- Of CTAs that are there already when a run goes on under the policy.
function tenant_classes:start()
  for warp in bits.each(self.sm.live) do self.sm:set_class(bits.of(warp), self.sm:tenant_of(warp)) end
end

function tenant_classes:on_cta_start(_, warps)
  local tenant = self.sm:tenant_of(bits.lowest(warps))
  self.sm:set_class(warps, tenant)
  if tenant > 0 then self:count "ctas" end
end

return tenant_classes
