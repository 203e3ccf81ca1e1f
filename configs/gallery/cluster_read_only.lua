-- Clusters of two SMs share caches for constants, for textures and for code, as the texture processing clusters of Tesla
-- (GT200) did; each SM has its own L1 for data.
local ww = require "warpwright"

return ww.machine("cluster_read_only", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 7, down = 2, clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  for k = 0, 1 do
    m:L1 ("constant_cache", k) { size = "8KiB", ways = 2, line = "64B", mshrs = 4 }
    m:L1 ("texture_cache", k) { size = "24KiB", ways = 24, mshrs = 32 }
    m:L1 ("code_cache", k) { size = "16KiB", ways = 4, mshrs = 4 }
  end
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].l1d.cpu")
  m:join("sm[*].lsu.constant", "constant_cache[*].cpu")
  m:join("sm[*].lsu.texture", "texture_cache[*].cpu")
  m:join("sm[*].fetch", "code_cache[*].cpu")
  m:wire("sm[*].l1d.mem", "xbar.up[0..3]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:join("constant_cache[*].mem", "xbar.up[4]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:join("texture_cache[*].mem", "xbar.up[5]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:join("code_cache[*].mem", "xbar.up[6]", { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
