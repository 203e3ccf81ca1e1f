-- An L2 in two halves, as in NVIDIA's large GPUs since the A100: the SMs of a half have a crossbar to its slices, and a slower,
-- narrower way to those of the other half. Each line has one place; copies in the near half are not modelled.
local ww = require "warpwright"

return ww.machine("two_partitions", function(m)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = 4 }
  m:AddressMap "map" { channels = 4 }
  for half = 0, 1 do m:Crossbar ("xbar", half) { up = 2, down = 3, clock = "icnt" } end
  m:Crossbar "bridge" { up = 2, down = 4, flit = "16B", clock = "icnt" }
  for i = 0, 3 do
    local sm = m:SM ("sm", i) {}
    local l1d = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
    m:wire(sm.lsu.mem, l1d.cpu)
  end
  for c = 0, 3 do
    m:Mux ("l2_mux", c) { up = 2 }
    m:L2 ("l2", c) { size = "64KiB", ways = 16, mshrs = 32 }
    m:MemoryController ("mc", c) { clock = "dram" }
  end

  local to_network, to_slice = { latency = 8, depth = 32, back = { latency = 16 } }, { latency = 16, depth = 32, back = { latency = 8 } }
  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
  for half = 0, 1 do
    local first = 2 * half
    m:wire(("sm[%d..%d].l1d.mem"):format(first, first + 1), ("xbar[%d].up[*]"):format(half), to_network)
    m:wire(("xbar[%d].down[0..1]"):format(half), ("l2_mux[%d..%d].up[0]"):format(first, first + 1), to_slice)
    m:wire(("xbar[%d].down[2]"):format(half), ("bridge.up[%d]"):format(half), { latency = 60, depth = 32 })
  end
  m:wire("bridge.down[*]", "l2_mux[*].up[1]", to_slice)
  m:wire("l2_mux[*].down", "l2[*].cpu")
  m:wire("l2[*].mem", "mc[*].cpu[*]")
end)
