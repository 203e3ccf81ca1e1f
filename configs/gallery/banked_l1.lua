-- Two SMs share an L1 of two banks. A bank has the lines of one channel, and its own way to the L2 slice there; the bit of
-- the address that chooses the bank chooses no set in it.
local ww = require "warpwright"

return ww.machine("banked_l1", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 2 }
  for i = 0, 3 do m:SM ("sm", i) {} end
  for k = 0, 1 do m:Crossbar ("banks", k) { up = 2, down = 2, clock = "icnt" } end
  for b = 0, 3 do m:L1 ("l1d", b) { size = "16KiB", ways = 4, mshrs = 32 } end -- 0 and 1 are of the first two SMs
  for c = 0, 1 do
    m:Crossbar ("xbar", c) { up = 2, down = 1, clock = "icnt" }
    m:L2 ("l2", c) { size = "128KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  m:wire("sm[*].lsu.mem", "banks[*].up[*]", { latency = 2, back = { latency = 4 } })
  m:wire("banks[*].down[*]", "l1d[*].cpu", { latency = 4, back = { latency = 2 } })
  for k = 0, 1 do
    for c = 0, 1 do
      m:wire(("l1d[%d].mem"):format(2 * k + c), ("xbar[%d].up[%d]"):format(c, k),
        { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
    end
  end
  m:wire("xbar[*].down[0]", "l2[*].cpu", { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
