-- Memory request prioritization buffer (MRPB: Jia, Shaw, Martonosi, HPCA 2014), as Khairy et al. configure it in Table 4:
-- requests of the same warp are grouped in FIFO queues before they come to the L1, and a request that finds every way of its
-- set reserved, an associativity stall, passes the L1 by.
-- Table 4 says "buffer size: 32 requests" of 48 queues; here each queue holds 32, all requests of one instruction, so that
-- one warp does not keep out the others. total=32 is the other reading. The signature is the warp's number, the drain
-- policy non-greedy-fixed-order: the lowest warp that waits goes first, chosen anew for each request.
-- What bypasses does without a line. The text does not say that it does without an MSHR, and the option is to bypass on
-- associativity stalls, not on those for want of an MSHR: so it takes one, which knows whose answer it is. mshrs=false is the
-- other reading: as many as the miss queue takes.
local policy = require "warpwright.policy"

local mrpb = policy "mrpb" {
  doc = "Memory request prioritization buffer: L1 serves the lowest warp first; bypass on associativity stalls",
  params = {
    queues = { 48, min = 1, max = 64, doc = "FIFO queues; a warp's is its number modulo these" },
    requests = { 32, min = 0, max = 4096, doc = "Of each queue; 0: no reordering" },
    total = { 0, min = 0, doc = "Of all queues; 0: no other limit" },
    bypass = { true, doc = "Bypass on associativity stalls" },
    mshrs = { true, doc = "A request that bypasses holds an MSHR until it is answered" },
  },
  caches = "data",
}

function mrpb:configure(_, path)
  if not self:acts_on(path) then return end
  return {
    prioritization_queues = self.params.queues, prioritization_places = self.params.requests,
    prioritization_total = self.params.total, bypass_line_fails = self.params.bypass,
    bypassed_hold_mshrs = self.params.bypass and self.params.mshrs,
  }
end

return mrpb
