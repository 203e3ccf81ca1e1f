-- GTX 480 as GPGPU-Sim 4.2 ships it (SM2_GTX480), parameter by parameter, for like-for-like comparison with that simulator.
-- It differs from gtx480.lua in parameters and in which parts there are, in nothing else. Latencies of wires are chosen
-- so that dependent loads take what they take there: 40 cycles from L1, 182 from L2, 300 from DRAM.
local ww = require "warpwright"
local gpgpusim = require "workloads.reference.gpgpusim"

local machine = ww.machine("gtx480_gpgpusim4", { sms = 15, partitions = 6 }, function(m, o)
  m:clocks { core = "700MHz", icnt = "700MHz", dram = "924MHz" }
  m:quantum(4)

  local slices = 2 * o.partitions -- two sub-partitions per channel
  local dispatcher = m:Dispatcher "dispatcher" {
    sms = o.sms,
    goes_on = true, -- a launch begins at the SM behind the one that got the last CTA of the launch before
    code_align = 8, -- kernels lie one behind the other
  }

  m:AddressMap "map" {
    channels = o.partitions, slices_per_channel = 2, interleave = "256B",
    row_mask = 0x0fff0000, bank_mask = 0xe100, column_mask = 0x1eff,
    slice_mask = 0x100,
  }

  local xbar = m:Crossbar "xbar" {
    up = o.sms, down = slices,
    flit = "40B", output_buffer = 64, response_part = 1, acknowledgements = "sector", -- the L2 answers sector by sector
    speedup = 1, -- its routers run twice per cycle; we take a flit to need two of their steps, allocation and crossing
    clock = "icnt",
  }

  for i = 0, o.sms - 1 do
    local sm = m:SM ("sm", i) {
      warps = 48, schedulers = 2, scheduler = "gto", registers = 32768, register_unit = 4, ctas = 8, shared = "48KiB",
      sp_units = 2, sfu_units = 1, sp_collectors = 6, sfu_collectors = 8, mem_collectors = 2,
      dp_roots_on_sfu = true,
      atomics_stall = true, -- 16 atomics that nobody waits for take 16 latencies there
      sp_latches = 2, sfu_latches = 1, mem_latches = 1, register_banks = 16, result_bus = 2,
      code_bytes = "2KiB", code_ways = 4, code_line = 128, code_misses = 2,
      lsu = { shared_latency = 26, narrow_segments = true },
    }
    local l1d = m:L1 (sm, "l1d") {
      size = "16KiB", ways = 4, line = "128B", mshrs = 64, merges = 8, miss_queue = 8, latency = 32,
      index = "xor", -- address bits 11:7, and 13, 14, 15, 17, 19 folded in
      index_masks = "0x2080,0x4100,0x8200,0x20400,0x80800",
      local_allocate = false,
    }
    local constant = m:L1 (sm, "constant_cache") {
      size = "8KiB", ways = 2, line = "64B", mshrs = 2, merges = 32, miss_queue = 4, allocate = "fill",
      write_policy = "none", keeps_lines = true, -- between kernels the L1D alone is flushed
    }
    local texture = m:L1 (sm, "texture_cache") {
      size = "12KiB", ways = 24, line = "128B", mshrs = 128, merges = 128, miss_queue = 4, allocate = "fill", -- FIFOs: see gtx480
      write_policy = "none", keeps_lines = true,
    }
    local mux = m:Mux (sm, "mux") { up = 4 }

    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 4 })
    m:wire(sm.lsu.mem, l1d.cpu, { depth = 3 }) -- with the cache's 32: the 35 stages in front of the tags
    m:wire(sm.lsu.constant, constant.cpu)
    m:wire(sm.lsu.texture, texture.cpu)
    m:wire(l1d.mem, mux.up[0])
    m:wire(constant.mem, mux.up[1])
    m:wire(texture.mem, mux.up[2])
    m:wire(sm.fetch, mux.up[3])
    m:wire(mux.down, xbar.up[i], { latency = 4, depth = 16, back = { latency = 4, depth = 32 } })
  end

  for c = 0, o.partitions - 1 do
    local mc = m:MemoryController ("mc", c) {
      ports = 2, queue_entries = 64, return_entries = 116, scheduler = "frfcfs", age_cap = 0,
      banks = 16, bank_groups = 4, bus_bytes = 32, burst_bytes = 64,
      tCL = 12, tWL = 4, tRCD = 12, tRP = 12, tRC = 40, tRAS = 28, tRRD = 6, tCCD = 2, tCCDL = 3, tWR = 12, tCDLR = 5,
      tRTPL = 2,
      clock = "dram",
    }
    for k = 0, 1 do
      local s = 2 * c + k
      local l2 = m:L2 ("l2", s) {
        size = "64KiB", ways = 8, line = "128B", sectors = 4, mshrs = 256, merges = 4, miss_queue = 4,
        rop_delay = 120, data_port = 32, write_miss = "lazy",
        host_copies = true,
      }
      m:wire(xbar.down[s], l2.cpu, { latency = 4, depth = 64, back = { latency = 4, depth = 64 } })
      m:wire(l2.mem, mc.cpu[k], { latency = 94, depth = 128, back = { latency = 1, depth = 64 } })
    end
  end
end)

machine.reference = gpgpusim.characteristics
return machine
