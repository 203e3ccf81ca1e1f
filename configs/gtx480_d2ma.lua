-- The GTX 480 of the D2MA paper (Jamshidi, Samadi, Mahlke, PACT 2014), Table 1: gtx480 with eight memory channels, 768 KB of
-- L2 and a DMA engine in each SM. --set engines=false leaves the engines out. A kernel that does not use them runs as on
-- the same machine without.
local ww = require "warpwright"

return ww.variant("gtx480_d2ma", "gtx480", { partitions = 8, engines = true }, function(m, o)
  m:clock("dram", "700MHz")                             -- 8 channels of 32 B per cycle: 179.2 GB/s
  m:change("l2[*]", { size = "96KiB", ways = 16 })      -- 768 KB in all
  m:base()
  if not o.engines then return end
  for i = 0, o.sms - 1 do
    local sm = m:object(("sm[%d]"):format(i))
    local dma = m:DmaEngine (sm, "dma") { buffers = 4 } -- section 4.1
    m:wire(sm.transfers, dma.sm)
    m:wire(dma.mem, sm.l1d.dma)
  end
end)
