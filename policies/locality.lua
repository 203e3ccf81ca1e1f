-- Where the locality is (Khairy et al., section 3.1 and Figure 3; Rogers et al., Figure 2): every hit and merge of every
-- cache is classed by who touched its line before. It changes nothing in the machine. With `unbounded` it shows the locality
-- that there is, alone what the caches make use of: --policy gto+unbounded:l2=false+locality.
--
-- Of kernels side by side, all accesses count as those of the one that began last.
-- The first of these that holds: inter-kernel, inter-core, intra-core (another CTA of the SM), intra-CTA (another warp),
-- inter-thread, intra-thread. The paper says "referenced and re-referenced", of the line: the reference before the hit is
-- what counts here, and a hit is intra-thread when one of its threads has touched the line since the warp is the last to do
-- so. since=first takes who had the line brought, as Rogers et al. say ("initially referenced").
local policy = require "warpwright.policy"

local locality = policy "locality" {
  doc = "Classes the hits of all caches by who touched the line before; changes nothing",
  scope = "machine",
  params = { since = { "last", doc = "last or first: whose touch counts" } },
  caches = "L1|L2",
  parts = { { class = "LineReuse", name = "reuse", of = "cache", since = policy.param "since" } },
}

function locality:start() self.state.kernel = 0 end

--- An L1 is empty when a kernel starts; what an L2 holds may be an earlier kernel's.
function locality:on_kernel_start()
  for _, reuse in ipairs(self.reuses or {}) do reuse.kernel = self.state.kernel end
  self.state.kernel = self.state.kernel + 1
end

return locality
