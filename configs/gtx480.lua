-- NVIDIA GeForce GTX 480 (Fermi, GF100), the baseline machine of the literature on GPU warp scheduling and caches.
--
--   [B]  the baseline table that these papers share: 15 SMs, 16 KB L1, 6 x 128 KB L2, 924 MHz GDDR5, GTO
--   [F]  NVIDIA's Fermi white paper and CUDA programming guide, compute capability 2.0
--   [G]  the GTX 480 configuration of GPGPU-Sim, on which the papers were run
--   [W]  ours: a choice that none of them makes
--
-- What is not named here has the default of its class, which is the GTX 480's: see warpwright --describe CLASS.
local ww = require "warpwright"

-- banks: L2 slices of a partition, which take its lines in turn and its capacity in equal parts [W]
return ww.machine("gtx480", { sms = 15, partitions = 6, banks = 1 }, function(m, o) -- [B]
  m:clocks { core = "700MHz", icnt = "1400MHz", dram = "924MHz" }        -- [B]; L2 runs at the core clock [W]
  m:quantum(16)                                                          -- [W] core cycles; the least latency of the
                                                                         --     wires between SMs, crossbar and L2
  local dispatcher = m:Dispatcher "dispatcher" { sms = o.sms }

  m:AddressMap "map" {
    channels = o.partitions, -- [B]
    interleave = "256B",     -- [G]
    slices_per_channel = o.banks, slice_mask = (o.banks - 1) * 128,
  }

  local xbar = m:Crossbar "xbar" {
    up = o.sms, down = o.partitions * o.banks,
    flit = "32B",   -- [B] channel width, one crossbar per direction
    clock = "icnt", -- [B]
  }

  for i = 0, o.sms - 1 do
    local sm = m:SM ("sm", i) {
      warps = 48,        -- [B] [F] 1536 threads
      schedulers = 2,    -- [B] [F]
      scheduler = "gto", -- [B] greedy, then oldest
      registers = 32768, -- [B] [F]
      ctas = 8,          -- [F]
      shared = "48KiB",  -- [B]
    }
    local l1d = m:L1 (sm, "l1d") {
      size = "16KiB", ways = 4, line = "128B", -- [B]
      mshrs = 32,                              -- [B]
      merges = 8,                              -- [G]
      latency = 32,                            -- [G] a dependent load that hits takes 40 cycles in all
    }
    local constant = m:L1 (sm, "constant_cache") {
      size = "8KiB",                           -- [B]
      ways = 2, line = "64B",                  -- [G]
      mshrs = 2, merges = 32,                  -- [G]
      allocate = "fill",                       -- [G]
    }
    local texture = m:L1 (sm, "texture_cache") {
      size = "12KiB", ways = 24, line = "128B", -- [B]
      -- One with FIFOs (Igehy, Eldridge, Proudfoot, 1998): 128 fetches, of one line or many, wait in
      -- the fragment FIFO, and 4 requests on their way down.
      mshrs = 128, merges = 128, miss_queue = 4, -- [G]
      allocate = "fill",                         -- [G]
    }
    local mux = m:Mux (sm, "mux") { up = 3 }

    m:wire(dispatcher.sm[i], sm.dispatch, { latency = 16 })
    m:wire(sm.lsu.mem, l1d.cpu)
    m:wire(sm.lsu.constant, constant.cpu)
    m:wire(sm.lsu.texture, texture.cpu)
    m:wire(l1d.mem, mux.up[0])
    m:wire(constant.mem, mux.up[1])
    m:wire(texture.mem, mux.up[2])
    m:wire(mux.down, xbar.up[i], { latency = 16, depth = 64, back = { latency = 32, depth = 64 } }) -- [W] a quantum each
  end

  for c = 0, o.partitions - 1 do
    local l2s = {}
    for bank = 0, o.banks - 1 do
      l2s[bank] = m:L2 ("l2", c * o.banks + bank) {
        size = 128 * 1024 // o.banks, ways = 16, line = "128B", -- [B]
        mshrs = 32,                                             -- [B]
        merges = 4,                                             -- [G]
      }
    end
    local mc = m:MemoryController ("mc", c) {
      ports = o.banks,
      scheduler = "frfcfs",                                           -- [B]
      tCL = 12, tRP = 12, tRC = 40, tRAS = 28, tRCD = 12, tRRD = 6,   -- [B] GDDR5
      clock = "dram",                                                 -- [B]
    }
    for bank = 0, o.banks - 1 do
      local l2 = l2s[bank]
      m:wire(xbar.down[c * o.banks + bank], l2.cpu, -- [W] a quantum each
        { latency = 32, depth = 64, back = { latency = 16, depth = 64 } })
      m:wire(l2.mem, mc.cpu[bank], { latency = 30, depth = 64, back = { latency = 1 } }) -- [W] so that 32 MSHRs cover it
    end
  end
end)
