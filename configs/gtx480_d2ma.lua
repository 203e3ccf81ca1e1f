-- The GTX 480 of the D2MA paper (Jamshidi, Samadi, Mahlke, PACT 2014), Table 1: gtx480 with eight memory channels, 768 KB of
-- L2 and a DMA engine in each SM. --set engines=false leaves the engines out. A kernel that does not use them runs as on
-- the same machine without.
local variant = require "configs.lib.variant"

local function add_engines(m, options, parts)
  if not options.engines then return end
  for i = 0, options.sms - 1 do
    local sm = parts[("sm[%d]"):format(i)]
    local dma = m:DmaEngine (sm, "dma") { buffers = 4 } -- section 4.1
    m:wire(sm.transfers, dma.sm)
    m:wire(dma.mem, parts[sm.path .. ".l1d"].dma)
  end
end

return variant("gtx480_d2ma", require "configs.gtx480", {
  { "options", { partitions = 8, engines = true } },
  { "clocks", { dram = "700MHz" } },            -- 8 channels of 32 B per cycle: 179.2 GB/s
  { "l2[*]", { size = "96KiB", ways = 16 } },   -- 768 KB in all
}, add_engines)
