-- Lines of 128 B of which 32 B are fetched at a time, two L2 slices per channel, and a DMA engine in each SM, which fills
-- shared memory through the L1.
local ww = require "warpwright"

return ww.machine("sectored_dma", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2, slices_per_channel = 2, slice_mask = 128 }
  m:Crossbar "xbar" { up = 4, down = 4, clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32, sectors = 4 }
    m:DmaEngine (sm, "dma") { buffers = 2 }
  end
  for s = 0, 3 do m:L2 ("l2", s) { size = "64KiB", ways = 16, mshrs = 32, sectors = 4 } end
  for c = 0, 1 do m:MemoryController ("mc", c) { ports = 2, clock = "dram" } end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:wire("sm[*].transfers", "sm[*].dma.sm")
  m:wire("sm[*].dma.mem", "sm[*].l1d.dma")
  m:wire("sm[*].l1d.mem", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
