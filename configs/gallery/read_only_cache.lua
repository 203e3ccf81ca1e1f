-- Loads of what a kernel only reads (ld.global.nc) have a cache of their own, with short lines, as on Kepler; textures, too.
local ww = require "warpwright"

return ww.machine("read_only_cache", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 4, down = 2, clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) { lsu = { read_only_segment = "32B" } }
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
    m:L1 (sm, "read_only") { size = "48KiB", ways = 24, line = "32B", mshrs = 64, write_policy = "none" }
    m:Mux (sm, "mux") { up = 2 }
  end
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:wire("sm[*].lsu.texture", "sm[*].read_only.cpu")
  m:wire("sm[*].l1d.mem", "sm[*].mux.up[0]")
  m:wire("sm[*].read_only.mem", "sm[*].mux.up[1]")
  m:wire("sm[*].mux.down", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
