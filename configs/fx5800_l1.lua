-- The machine of the CCWS paper (Rogers, O'Connor, Aamodt, MICRO 2012): a Quadro FX 5800 (GT200) with L1 data caches and a
-- unified L2 like Fermi's, which the chip did not have.
--
--   [C]  the paper's baseline: 30 SMs of 32 warps, 32 KB L1, 128 KB L2 per channel, 8 channels, 1300/650/800 MHz
--   [N]  NVIDIA's CUDA programming guide, compute capability 1.3, and data sheet of the Quadro FX 5800
--   [W]  ours: a choice that none of them makes
--
-- What is not named here is gtx480's: the rest of the caches, the latencies of units and of the way to memory in cycles.
-- Loads and stores issue in one cycle, not in four.
local variant = require "configs.lib.variant"

-- Eight lanes [C] [N]: a warp instruction takes a pipeline for four cycles, in the special function unit, of two lanes [N],
-- for sixteen.
local function intervals()
  local sm = {}
  for _, class in ipairs {
    "other", "int_add", "int_max", "int_mul", "int_mad", "fp_add", "fp_max", "fp_mul", "fp_mad",
  } do
    sm[class .. "_interval"] = 4
  end
  for _, class in ipairs { "int_div", "fp_div", "sfu" } do sm[class .. "_interval"] = 16 end
  return sm
end

local sm = intervals()
sm.warps, sm.ctas = 32, 8      -- [C] [N] 1024 threads
sm.schedulers = 1              -- [N]
sm.registers = 16384           -- [N]
sm.shared = "16KiB"            -- [N]
sm.shared_banks = 16           -- [N] 32 lanes take two cycles
sm.sp_units, sm.result_bus = 1, 1 -- [N]

return variant("fx5800_l1", require "configs.gtx480", {
  { "options", { sms = 30, partitions = 8 } },                                 -- [C]
  { "clocks", { core = "1300MHz", icnt = "650MHz", dram = "800MHz" } },        -- [C]; L2 runs at the core clock [W]
  { "map", { bank_mask = "0xe000", column_mask = "0x1fff" } }, -- [W] eight banks, rows of 8 KiB
  { "sm[*]", sm },
  { "sm[*].l1d", { size = "32KiB", ways = 8, line = "128B" } },            -- [C]
  { "l2[*]", { size = "128KiB", ways = 8, line = "128B" } },               -- [C]
  { "mc[*]", {
    bus_bytes = 16, burst_bytes = 64,                                      -- [N] 64 bits per channel, GDDR3: 102 GB/s
    banks = 8, bank_groups = 1,                                            -- [N] GDDR3
    tCL = 10, tRP = 10, tRC = 35, tRAS = 25, tRCD = 12, tRRD = 8,          -- [W] of the order of GDDR3's
    tCCD = 4, tCCDL = 4,                                                   -- [W] a burst's time on the bus
    queue_entries = 32,                                                    -- [W]
  } },
  -- A quantum each, 16 core cycles [W]: 8 of the crossbar's.
  { "sm[*].mux.down -> xbar.up[*]", { latency = 16, depth = 64, back = { latency = 8, depth = 64 } } },
  { "xbar.down[*] -> l2[*].cpu", { latency = 8, depth = 64, back = { latency = 16, depth = 64 } } },
})
