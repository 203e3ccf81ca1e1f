-- The machine of the CCWS paper (Rogers, O'Connor, Aamodt, MICRO 2012): a Quadro FX 5800 (GT200) with L1 data caches and a
-- unified L2 like Fermi's, which the chip did not have.
--
--   [C]  the paper's baseline: 30 SMs of 32 warps, 32 KB L1, 128 KB L2 per channel, 8 channels, 1300/650/800 MHz
--   [G]  the Quadro FX 5800 configuration of GPGPU-Sim (configs/QuadroFX5800/gpgpusim.config, "gpgpu_clock_domains
--        325.0:650.0:650.0:800.0": cores, interconnect, L2, DRAM), the simulator on which the paper was run
--   [N]  NVIDIA's CUDA programming guide, compute capability 1.3, and data sheet of the Quadro FX 5800
--   [W]  ours: a choice that none of them makes
--
-- The 1300 MHz of [C] are the clock of the eight lanes. A core of GPGPU-Sim is as wide as a warp and has a quarter of it
-- [G]: fetch, issue and the scores of CCWS, which fall by one per cycle, go at 325 MHz. What is not named here is gtx480's.
local ww = require "warpwright"

-- Eight lanes at 1300 MHz take a warp instruction in a core cycle, two lanes of the special function unit in four [C] [N].
local function timings()
  local sm = { sfu_interval = 4 }
  for class, timing in pairs { -- latency, initiation interval [G]: its defaults, which that configuration has
    int_add = { 1, 1 }, int_max = { 1, 1 }, int_mul = { 19, 4 }, int_mad = { 25, 4 }, int_div = { 145, 32 },
    fp_add = { 1, 1 }, fp_max = { 1, 1 }, fp_mul = { 1, 1 }, fp_mad = { 1, 1 }, fp_div = { 30, 5 },
  } do
    sm[class .. "_latency"], sm[class .. "_interval"] = timing[1], timing[2]
  end
  return sm
end

local sm = timings()
sm.warps, sm.ctas = 32, 8      -- [C] [N] 1024 threads
sm.schedulers = 1              -- [N]
sm.registers = 16384           -- [N]
sm.shared = "16KiB"            -- [N]
sm.shared_banks = 16           -- [N] 32 lanes take two cycles
sm.sp_units, sm.result_bus = 1, 1 -- [N]

return ww.variant("fx5800_l1", "gtx480", { sms = 30, partitions = 8 }, function(m) -- [C]
  m:clock("core", "325MHz")                                                    -- [G]
  m:clock("icnt", "650MHz")                                                    -- [G]
  m:clock("dram", "800MHz")                                                    -- [G]
  m:quantum(4)                                                                 -- [W] core cycles, as long as 16 at 1300 MHz
  m:change("map", { bank_mask = "0xe000", column_mask = "0x1fff" }) -- [W] eight banks, rows of 8 KiB
  m:change("sm[*]", sm)
  m:change("sm[*].l1d", { size = "32KiB", ways = 8, line = "128B" })            -- [C]
  m:change("l2[*]", {
    size = "128KiB", ways = 8, line = "128B",                              -- [C]
    clock = "icnt",                                                        -- [G]
    rop_delay = 170, bypass_delay = 170,                                   -- [G] 85 core cycles, its default
  })
  m:change("mc[*]", {
    bus_bytes = 16, burst_bytes = 64,                                      -- [N] 64 bits per channel, GDDR3: 102 GB/s
    banks = 8, bank_groups = 1,                                            -- [N] GDDR3
    tCL = 10, tRP = 10, tRC = 35, tRAS = 25, tRCD = 12, tRRD = 8,          -- [G] GDDR3 at 800 MHz
    tCCD = 4, tCCDL = 4,                                                   -- [W] a burst's time on the bus
    queue_entries = 32,                                                    -- [W]
  })
  m:change("dispatcher.sm[*] -> sm[*].dispatch", { latency = 4 })
  -- A quantum each [W]: 8 cycles of crossbar and L2.
  m:change("sm[*].mux.down -> xbar.up[*]", { latency = 4, depth = 64, back = { latency = 8, depth = 64 } })
  m:change("xbar.down[*] -> l2[*].cpu", { latency = 8, depth = 64, back = { latency = 8, depth = 64 } })
  m:change("l2[*].mem -> mc[*].cpu[0]", { latency = 60, depth = 64, back = { latency = 1 } }) -- [G] 30 core cycles, its default
end)
