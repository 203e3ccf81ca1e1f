-- One bus in place of a network: all L1s share the port of one L2 slice, whose controller is the only one.
local ww = require "warpwright"

return ww.machine("bus", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 1 }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  m:L2 "l2" { size = "256KiB", ways = 16, mshrs = 64 }
  m:MemoryController "mc" { clock = "dram" }

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:join("sm[*].l1d.mem", "l2.cpu", { latency = 24, depth = 32 })
  m:wire("l2.mem", "mc.cpu[0]")
end)
