-- A GTX 480 with a banked L2, in the manner of the machine on which MeDiC was evaluated (Ausavarungnirun et al., PACT 2015).
-- The text at hand says that GPGPU-Sim was changed to model conflicts of cache banks (section 4), and that requests queue at
-- the few ports of the banks (section 2.3). The numbers are ours: two slices per partition, each a bank of its own with a queue and
-- 32 B a cycle into and out of its data. There is room in the queue for all requests that may come, so that those that bypass
-- the L2 stand behind none. Between L2 and memory, too, there is room for all of a bank: requests for one queue of the
-- controller overtake there those for the other, but not in front of full wires. The text's Figure 5, how long requests queue,
-- is of a lookup of one cycle: l2[*].rop_delay=1.
local variant = require "configs.lib.variant"

return variant("medic", require "configs.gtx480", {
  { "options", { banks = 2 } },
  { "l2[*]", {
    data_port = 32,      -- a line takes four cycles
    queue_entries = 512, -- of a bank
  } },
  { "l2[*].mem -> mc[*].cpu[*]", { latency = 30, depth = 512, back = { latency = 1 } } },
})
