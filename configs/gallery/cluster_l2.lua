-- An L2 on the near side of the crossbar for two SMs each; behind the crossbar are the controllers alone, which perform the
-- atomics. Two L2s may hold the same line: what is loaded is right all the same, since caches hold no values, and nothing
-- keeps the copies coherent in time.
local ww = require "warpwright"

return ww.machine("cluster_l2", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 2, down = 2, clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  for k = 0, 1 do
    m:L2 ("l2", k) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", k) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:join("sm[*].l1d.mem", "l2[*].cpu", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("l2[*].mem", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "mc[*].cpu[*]", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
end)
