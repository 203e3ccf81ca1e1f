-- No caches (Khairy et al., section 3.1: the lowest of its three cache scenarios): every access of global and local memory
-- goes past the L1 data cache and the L2 to memory. Atomics are still performed in the L2, which is where they live, and the
-- constant and texture caches stay.
local policy = require "warpwright.policy"

local bypass_all = policy "bypass_all" {
  doc = "No caches: all accesses bypass the L1 data caches and the L2",
  params = {
    l1 = { true, doc = "Bypass the L1 data caches" },
    l2 = { true, doc = "Bypass the L2" },
  },
  caches = { "data", when = "l1" },
}

function bypass_all:configure(class, path)
  if self:acts_on(path) or class == "L2" and self.params.l2 then return { enabled = false } end
end

return bypass_all
