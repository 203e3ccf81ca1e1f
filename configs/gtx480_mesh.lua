-- gtx480 with a mesh in place of its crossbar: 15 SMs and 6 partitions on 3 rows of 7 routers, at the clock of the
-- crossbar and with its channels. What is not named here is as in gtx480, whose sources its parameters have.
--
-- The partitions lie in the outer columns, so that no row or column of routers has all the traffic:
--
--   P S S S S S P
--   P S S S S S P
--   P S S S S S P
local network = require "configs.lib.network"
local ww = require "warpwright"

local columns <const>, rows <const> = 7, 3

return ww.machine("gtx480_mesh", { routing = { "dimension_order", "adaptive" }, vcs = 2 }, function(m, o)
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }
  m:quantum(16)
  local dispatcher = m:Dispatcher "dispatcher" { sms = 15 }
  m:AddressMap "map" { channels = 6, interleave = "256B" }

  local up, down, sm_at, partition_at = {}, {}, {}, {}
  for number = 0, columns * rows - 1 do
    local outer = number % columns == 0 or number % columns == columns - 1
    up[number], down[number] = outer and 0 or 1, outer and 1 or 0
    table.insert(outer and partition_at or sm_at, number)
  end
  local mesh = network.mesh(m, "mesh", {
    columns = columns, rows = rows, up = up, down = down, routing = o.routing, vcs = o.vcs,
    flit = "32B", buffer = 8, latency = 2, clock = "icnt",
  })

  for i = 0, 14 do
    local sm = m:SM ("sm", i) { warps = 48, schedulers = 2, scheduler = "gto", registers = 32768, ctas = 8, shared = "48KiB" }
    local l1d = m:L1 (sm, "l1d") { size = "16KiB", ways = 4, line = "128B", mshrs = 32, merges = 8, latency = 32 }
    local constant = m:L1 (sm, "constant_cache") { size = "8KiB", ways = 2, line = "64B", mshrs = 2, merges = 32, allocate = "fill" }
    local texture = m:L1 (sm, "texture_cache") { size = "12KiB", ways = 24, line = "128B", mshrs = 128, merges = 4, allocate = "fill" }
    local mux = m:Mux (sm, "mux") { up = 3 }
    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 16 })
    m:wire(sm.lsu.mem, l1d.cpu)
    m:wire(sm.lsu.constant, constant.cpu)
    m:wire(sm.lsu.texture, texture.cpu)
    m:wire(l1d.mem, mux.up[0])
    m:wire(constant.mem, mux.up[1])
    m:wire(texture.mem, mux.up[2])
    m:wire(mux.down, mesh:up(sm_at[i + 1]), { latency = 16, depth = 64, back = { latency = 32, depth = 64 } })
  end

  for c = 0, 5 do
    local l2 = m:L2 ("l2", c) { size = "128KiB", ways = 16, line = "128B", mshrs = 32, merges = 4 }
    local mc = m:MemoryController ("mc", c) {
      scheduler = "frfcfs", tCL = 12, tRP = 12, tRC = 40, tRAS = 28, tRCD = 12, tRRD = 6, clock = "dram",
    }
    m:wire(mesh:down(partition_at[c + 1]), l2.cpu, { latency = 32, depth = 64, back = { latency = 16, depth = 64 } })
    m:wire(l2.mem, mc.cpu[0], { latency = 30, depth = 64, back = { latency = 1 } })
  end
end)
