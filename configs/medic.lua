-- A GTX 480 with a banked L2, in the manner of the machine on which MeDiC was evaluated (Ausavarungnirun et al., PACT 2015).
-- The text at hand says that GPGPU-Sim was changed to model conflicts of cache banks (section 4), and that requests queue at
-- the few ports of the banks (section 2.3). It has no figures; these are of the authors' simulator (CMU-SAFARI/MeDiC): two
-- banks a partition, each with a queue of its own and two ports, and an access, hit or miss, has a port to itself for all of
-- its 8 to 10 cycles. A slice is a bank. So a bank begins an access every five cycles on average, the machine 2.4 a cycle.
-- A request that bypasses goes to memory a cycle after it has come, past the lookup, the bank and its queue.
-- There is room in the queue for all requests that may come, so that those that bypass the L2 stand behind none. Between L2
-- and memory, too, there is room for all of a bank: requests for one queue of the controller overtake there those for the
-- other, but not in front of full wires. The text's Figure 5, how long requests queue, is of a lookup of one cycle:
-- l2[*].rop_delay=1.
local ww = require "warpwright"

return ww.variant("medic", "gtx480", { banks = 2 }, function(m)
  m:change("l2[*]", {
    rop_delay = 10,      -- the lookup
    bank_busy = 10,      -- an access is not pipelined
    ports = 2,           -- of a bank
    bypass_delay = 1,
    queue_entries = 512, -- of a bank
  })
  m:change("l2[*].mem -> mc[*].cpu[*]", { depth = 512 })
end)
