-- Address translation: each SM has a TLB in front of its L1, the SMs share a second one, and what that lacks a page walker
-- reads from the page table in memory, through the crossbar and the L2.
local ww = require "warpwright"

return ww.machine("translation", { page = "64KiB", entries = 32 }, function(m, o)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  m:Crossbar "xbar" { up = 5, down = 2, clock = "icnt" } -- the last one for the walker
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    m:TLB (sm, "tlb") { page = o.page, entries = o.entries }
    m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
  end
  m:Mux "misses" { up = 4 }
  m:TLB "l2tlb" { page = o.page, entries = 512, ways = 16 }
  m:PageWalker "walker" { page = o.page }
  for c = 0, 1 do
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  local far = { latency = 8, depth = 32, back = { latency = 16, depth = 32 } }
  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "sm[*].tlb.up")
  m:wire("sm[*].tlb.down", "sm[*].l1d.cpu")
  m:wire("sm[*].l1d.mem", "xbar.up[0..3]", far)
  m:wire("sm[*].tlb.walk", "misses.up[*]", far)
  m:wire("misses.down", "l2tlb.up")
  m:wire("l2tlb.walk", "walker.up")
  m:wire("walker.mem", "xbar.up[4]", far)
  m:wire("xbar.down[*]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
