-- A GPU of the size of NVIDIA's Tesla V100 (Volta, PCIe): its SMs, caches, channels and clocks, and the latencies of its
-- memories and operations. What our SM leaves out is said in configs/README.md.
--
--   [V]  NVIDIA's white paper on the Tesla V100, and its CUDA programming guide, compute capability 7.0
--   [J]  Jia, Maggioni, Staiger, Scarpazza: Dissecting the NVIDIA Volta GPU architecture via microbenchmarking, 2018
--   [P]  NVIDIA's developer forum, 2019, on the pipelines of GV100: which instructions go to FMA, ALU, FP64 and tensor pipes
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
  local xbar = m:Crossbar "xbar" { up = o.sms, down = o.channels, flit = "40B", clock = "icnt" } -- [W] a sector and its header
  for i = 0, o.sms - 1 do
    local sm = m:SM ("sm", i) {
      warps = 64, schedulers = 4, sub_cores = 4, scheduler = "gto", registers = 65536, register_unit = 8, ctas = 32, -- [V]
      shared = o.shared * 1024, result_bus = 8, -- [W]
      -- Each sub-core has 16 lanes for single precision, 16 for integers, 8 for double precision, 4 for special functions [V]: a
      -- warp takes 2, 2, 4 and 8 cycles of them. Integers are multiplied where floating-point numbers are [P].
      sp_units = 1, int_units = 1, dp_units = 1, sfu_units = 1, matrix_units = 1,
      sp_collectors = 4, int_collectors = 4, dp_collectors = 4, sfu_collectors = 4, matrix_collectors = 4, mem_collectors = 4, -- [W]
      sp_latches = 1, int_latches = 1, dp_latches = 1, sfu_latches = 1, matrix_latches = 1, mem_latches = 1, -- [W]
      other_unit = "int", int_add_unit = "int", int_max_unit = "int",
      dp_add_unit = "dp", dp_max_unit = "dp", dp_mul_unit = "dp", dp_mad_unit = "dp",
      matrix_short_unit = "matrix", matrix_long_unit = "matrix", matrix_dp_unit = "dp",
      shuffle_unit = "sfu", -- [W] on the chip the load/store unit's, where 32 lanes pass per cycle
      other_interval = 2, int_add_interval = 2, int_max_interval = 2, int_mul_interval = 2, int_mad_interval = 2,
      fp_add_interval = 2, fp_max_interval = 2, fp_mul_interval = 2, fp_mad_interval = 2,
      dp_add_interval = 4, dp_max_interval = 4, dp_mul_interval = 4, dp_mad_interval = 4,
      matrix_short_interval = 8, matrix_long_interval = 16, -- [V] 128 products a cycle and sub-core
      -- A dependent instruction issues three cycles and the latency after one: in all 4, 5, 8 and 10 cycles [J].
      dispatch_cycles = 1, result_cycles = 0,
      other_latency = 1, int_add_latency = 1, fp_add_latency = 1, fp_mul_latency = 1, fp_mad_latency = 1,
      int_max_latency = 2, int_mul_latency = 2, int_mad_latency = 2, fp_max_latency = 2,
      dp_add_latency = 5, dp_max_latency = 5, dp_mul_latency = 5, dp_mad_latency = 5,
      sfu_latency = 7,
      lsu = { shared_latency = 14 }, -- [J] 19 cycles in all
    }
    local l1d = m:L1 (sm, "l1d") {
      size = (o.combined - o.shared) * 1024,           -- [V]
      line = "128B", sectors = 4, ways = 64,           -- [J] 4 sets
      mshrs = 256, merges = 32, miss_queue = 64,       -- [W]
      latency = 21, write_policy = "through",          -- [J] 28 cycles in all
    }
    local constant = m:L1 (sm, "constant_cache") {
      size = "2KiB", ways = 4, line = "64B",           -- [J]
      mshrs = 2, merges = 32, allocate = "fill",       -- [W]
    }
    local mux = m:Mux (sm, "mux") { up = 2 }
    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 16 })
    m:wire(sm.lsu.mem, l1d.cpu) -- textures, too: they are read through the L1 [V]
    m:wire(sm.lsu.constant, constant.cpu)
    m:wire(l1d.mem, mux.up[0])
    m:wire(constant.mem, mux.up[1])
    m:wire(mux.down, xbar.up[i], { latency = 16, depth = 64, back = { latency = 16, depth = 64 } }) -- [W] a quantum each
  end

  for c = 0, o.channels - 1 do
    local l2 = m:L2 ("l2", c) {
      size = 6144 * 1024 // o.channels, ways = 24, line = "128B", sectors = 4, -- [V] 6 MiB
      mshrs = 192, merges = 32, miss_queue = 32,                              -- [W]
      rop_delay = 96,                                                         -- [J] 193 cycles of a load that hits
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

machine.reference = { -- [J]
  ["latency.l1"] = 28, ["latency.l2"] = 193, ["latency.dram_sequential"] = 375, ["latency.shared"] = 19,
  ["operations.int_add.dependent"] = 4, ["operations.int_mad.dependent"] = 5, ["operations.fp_fma.dependent"] = 4,
  ["operations.dp_fma.dependent"] = 8,
}
return machine
