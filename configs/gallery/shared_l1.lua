-- Two SMs share an L1.
local ww = require "warpwright"

return ww.machine("shared_l1", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 2, down = 2, clock = "icnt" }
  for i = 0, 3 do m:SM ("sm", i) {} end
  for k = 0, 1 do m:L1 ("l1d", k) { size = "32KiB", ways = 4, mshrs = 64 } end
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:join("sm[*].lsu.mem", "l1d[*].cpu")
  m:wire("l1d[*].mem", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
