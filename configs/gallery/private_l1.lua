-- The usual machine, small: an L1 in each SM, a crossbar, an L2 slice and a controller per channel.
local ww = require "warpwright"

return ww.machine("private_l1", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 4, down = 2, clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:wire("sm[*].l1d.mem", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
