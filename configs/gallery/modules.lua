-- A GPU of four modules (MCM-GPU: Arunkumar et al., ISCA 2017), each with an SM, an L2 slice and memory of its own, on a ring
-- of narrow channels. An L1.5 keeps what comes from other modules. A request takes the port that is nearest to its slice: in
-- the module the wire to it, to other modules the ring. Pages of 4 KiB lie in the modules in turn.
local network = require "configs.lib.network"
local ww = require "warpwright"

return ww.machine("modules", { modules = 4, sms = 1 }, function(m, o)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:Dispatcher "dispatcher" { sms = o.modules * o.sms, placement = "blocks", block = 4 }
  m:AddressMap "map" { channels = o.modules, interleave = "4KiB" }
  local ring = network.ring(m, "ring", {
    routers = o.modules, up = 1, down = 1, flit = "16B", buffer = 16, latency = 4, clock = "icnt",
    channel = { latency = 16 },
  })
  for k = 0, o.modules - 1 do
    local xbar = m:Crossbar ("xbar", k) { up = o.sms, down = 2, clock = "icnt" }
    for i = 0, o.sms - 1 do
      local sm = m:SM ("sm", k * o.sms + i) {}
      local l1d = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, mshrs = 32 }
      m:wire(sm.lsu.mem, l1d.cpu)
      m:wire(l1d.mem, xbar.up[i], { latency = 8, depth = 32, back = { latency = 16, depth = 32 } })
    end
    local l15 = m:L1 ("l15", k) { size = "64KiB", ways = 8, mshrs = 64, latency = 20 }
    local mux = m:Mux ("l2_mux", k) { up = 2 }
    local l2 = m:L2 ("l2", k) { size = "128KiB", ways = 16, mshrs = 32 }
    local mc = m:MemoryController ("mc", k) { clock = "dram" }
    m:wire(xbar.down[0], mux.up[0], { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
    m:wire(xbar.down[1], l15.cpu, { latency = 16, depth = 32, back = { latency = 8, depth = 32 } })
    m:wire(l15.mem, ring:up(k), { latency = 4, depth = 32, back = { latency = 8, depth = 32 } })
    m:wire(ring:down(k), mux.up[1], { latency = 8, depth = 32, back = { latency = 4, depth = 32 } })
    m:wire(mux.down, l2.cpu)
    m:wire(l2.mem, mc.cpu[0])
  end
  m:wire("dispatcher.sm[*]", "sm[*].dispatch", { latency = 8 })
end)
