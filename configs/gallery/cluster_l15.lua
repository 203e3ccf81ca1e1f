-- Clusters of two SMs: an L1 in each SM, an L1.5 in each cluster.
local ww = require "warpwright"

return ww.machine("cluster_l15", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 2, down = 2, clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  for k = 0, 1 do m:L1 ("l15", k) { size = "64KiB", ways = 8, mshrs = 64, latency = 20 } end
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:join("sm[*].l1d.mem", "l15[*].cpu", { latency = 4 })
  m:wire("l15[*].mem", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
