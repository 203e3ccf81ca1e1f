-- Constants, textures and code have a narrow crossbar of their own beside the one for data.
local ww = require "warpwright"

return ww.machine("two_crossbars", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 4, down = 2, clock = "icnt" }
  m:Crossbar "read_only" { up = 4, down = 2, flit = "16B", clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
    m:L1 (sm, "constant_cache") { size = "8KiB", ways = 2, line = "64B", mshrs = 2 }
    m:L1 (sm, "texture_cache") { size = "12KiB", ways = 24, mshrs = 16 }
    m:Mux (sm, "mux") { up = 3 }
  end
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:Mux ("l2_mux", c) { up = 2 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:wire("sm[*].lsu.constant", "sm[*].constant_cache.cpu")
  m:wire("sm[*].lsu.texture", "sm[*].texture_cache.cpu")
  m:wire("sm[*].constant_cache.mem", "sm[*].mux.up[0]")
  m:wire("sm[*].texture_cache.mem", "sm[*].mux.up[1]")
  m:wire("sm[*].fetch", "sm[*].mux.up[2]")
  m:wire("sm[*].mux.down", "read_only.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("sm[*].l1d.mem", "xbar.up[*]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2_mux[*].up[0]", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("read_only.down[*]", "l2_mux[*].up[1]", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2_mux[*].down", "l2[*].cpu")
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
