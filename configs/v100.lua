-- A GPU of the size of NVIDIA's Tesla V100 (Volta, PCIe): its SMs, caches, channels and clocks, and the latencies of its
-- memories. The pipelines in front of them are those of our SM; what that leaves out is said in configs/README.md.
--
--   [V]  NVIDIA's white paper on the Tesla V100, and its CUDA programming guide, compute capability 7.0
--   [J]  Jia, Maggioni, Staiger, Scarpazza: Dissecting the NVIDIA Volta GPU architecture via microbenchmarking, 2018
--   [H]  JEDEC's HBM2 (JESD235) at 877 MHz: pseudo channels of 64 bits, bursts of 32 B
--   [W]  ours: a choice that none of them makes
local ww = require "warpwright"

-- combined: KiB of an SM that shared memory and L1 are together; shared: those of them that are shared memory; the rest is the
-- L1 [V]. channels: 4 stacks of 16 [H]
local options = { sms = 80, channels = 64, combined = 128, shared = 96 } -- [V]

local machine = ww.machine("v100", options, function(m, o)
  m:clocks { core = "1380MHz", icnt = "1380MHz", dram = "877MHz" }                          -- [J] [V]
  m:quantum(16)
  local dispatcher = m:Dispatcher "dispatcher" { sms = o.sms }
  m:AddressMap "map" { channels = o.channels, interleave = "256B", channel_hash = true, bank_hash = true } -- [W]
  local xbar = m:Crossbar "xbar" { up = o.sms, down = o.channels, flit = "32B", clock = "icnt" } -- [W]
  for i = 0, o.sms - 1 do
    local sm = m:SM ("sm", i) {
      warps = 64, schedulers = 4, scheduler = "gto", registers = 65536, register_unit = 8, ctas = 32, -- [V]
      shared = o.shared * 1024,
      -- Each scheduler has 16 lanes for single precision, 16 for integers, 8 for double precision, 4 for special functions [V]:
      -- a warp takes 2, 2, 4 and 8 cycles of them.
      sp_units = 4, sfu_units = 4, result_bus = 8,
      sp_collectors = 16, sp_latches = 4, sfu_collectors = 8, sfu_latches = 4, mem_collectors = 8, mem_latches = 4, -- [W]
      other_interval = 2, int_add_interval = 2, int_max_interval = 2, int_mul_interval = 2, int_mad_interval = 2,
      fp_add_interval = 2, fp_max_interval = 2, fp_mul_interval = 2, fp_mad_interval = 2,
      dp_add_interval = 4, dp_max_interval = 4, dp_mul_interval = 4, dp_mad_interval = 4,
      int_add_latency = 1, int_max_latency = 1, int_mul_latency = 1, int_mad_latency = 1,
      fp_add_latency = 1, fp_max_latency = 1, fp_mul_latency = 1, fp_mad_latency = 1, -- [J] 4 cycles; ours cannot do with less than 7
      dp_add_latency = 2, dp_max_latency = 2, dp_mul_latency = 2, dp_mad_latency = 2, -- [J] 8 cycles in all
      matrix_short_interval = 8, matrix_long_interval = 16, -- [V] 128 products a cycle and scheduler
      lsu = { shared_latency = 13 }, -- [J] 19 cycles in all
    }
    local l1d = m:L1 (sm, "l1d") {
      size = (o.combined - o.shared) * 1024,           -- [V]
      line = "128B", sectors = 4, ways = 64,           -- [J] 4 sets
      mshrs = 256, merges = 32, miss_queue = 64,       -- [W]
      latency = 18, write_policy = "through",          -- [J] 28 cycles in all
    }
    local constant = m:L1 (sm, "constant_cache") {
      size = "2KiB", ways = 4, line = "64B",           -- [J]
      mshrs = 2, merges = 32, allocate = "fill",       -- [W]
    }
    local unified = m:Mux (sm, "unified") { up = 2 } -- textures are read through the L1 [V]
    local mux = m:Mux (sm, "mux") { up = 2 }
    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 16 })
    m:wire(sm.lsu.mem, unified.up[0])
    m:wire(sm.lsu.texture, unified.up[1])
    m:wire(unified.down, l1d.cpu)
    m:wire(sm.lsu.constant, constant.cpu)
    m:wire(l1d.mem, mux.up[0])
    m:wire(constant.mem, mux.up[1])
    m:wire(mux.down, xbar.up[i], { latency = 16, depth = 64, back = { latency = 16, depth = 64 } }) -- [W] a quantum each
  end

  for c = 0, o.channels - 1 do
    local l2 = m:L2 ("l2", c) {
      size = 6144 * 1024 // o.channels, ways = 24, line = "128B", sectors = 4, -- [V] 6 MiB
      mshrs = 192, merges = 32, miss_queue = 32,                              -- [W]
      rop_delay = 94,                                                         -- [J] 193 cycles of a load that hits
      write_miss = "lazy",                                                    -- [W]
    }
    local mc = m:MemoryController ("mc", c) {
      clock = "dram", scheduler = "frfcfs",
      banks = 16, bank_groups = 4, bus_bytes = 16, burst_bytes = 32,               -- [H]
      tCL = 12, tWL = 4, tRCD = 12, tRP = 12, tRAS = 29, tRC = 41, tRRD = 4,       -- [H]
      tCCD = 2, tCCDL = 4, tWR = 14, tCDLR = 5, tRTPL = 5,                         -- [H]
    }
    m:wire(xbar.down[c], l2.cpu, { latency = 16, depth = 64, back = { latency = 16, depth = 64 } }) -- [W] a quantum each
    m:wire(l2.mem, mc.cpu[0], { latency = 155, depth = 128, back = { latency = 1, depth = 64 } }) -- [J] 375 cycles from DRAM
  end
end)

machine.reference = { ["latency.l1"] = 28, ["latency.l2"] = 193, ["latency.dram_sequential"] = 375, ["latency.shared"] = 19 } -- [J]
return machine
