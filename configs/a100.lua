-- A GPU of the size of NVIDIA's A100 (Ampere, SXM4, 40 GB): its SMs, caches, channels and clocks, and the latencies of its
-- memories. The pipelines in front of them are v100's; what that leaves out is said in configs/README.md.
--
--   [A]  NVIDIA's white paper on the A100, and its CUDA programming guide, compute capability 8.0
--   [D]  Abdelkhalik, Arafa, Santhi, Badawy: Demystifying the NVIDIA Ampere architecture through microbenchmarking and
--        instruction-level analysis, 2022
--   [H]  JEDEC's HBM2 (JESD235) at 1215 MHz
--   [W]  ours: a choice that none of them makes
local ww = require "warpwright"

-- [A]; channels: 5 stacks of 16 [H]
local options = { sms = 108, channels = 80, combined = 192, shared = 164 }

local machine = ww.variant("a100", "v100", options, function(m, o)
  m:clock("core", "1410MHz") -- [A]
  m:clock("icnt", "1410MHz") -- [W]
  m:clock("dram", "1215MHz") -- [A]
  m:change("xbar", { flit = "72B" }) -- [A] 5120 B a cycle from the L2 [W] beside their header
  m:change("sm[*]", {
    reserved_shared = "1KiB",                              -- [A] so 163 KiB are the most that a CTA can have
    matrix_short_interval = 4, matrix_long_interval = 8,   -- [A] 256 products a cycle and scheduler
  })
  m:change("sm[*].lsu", { shared_latency = 18 }) -- [D] 23 cycles in all
  m:change("sm[*].l1d", {
    ways = (o.combined - o.shared) * 1024 // 128 // 4, -- [W] 4 sets, as in v100
    latency = 26,                                      -- [D] 33 cycles in all
  })
  m:change("l2[*]", {
    size = 40 * 1024 * 1024 // o.channels, ways = 16, -- [A] 40 MiB [W]
    rop_delay = 98,                                   -- [D] 200 cycles of a load that hits
  })
  m:change("mc[*]", { tCL = 17, tWL = 6, tRCD = 17, tRP = 17, tRAS = 40, tRC = 57, tRRD = 5, tWR = 19, tCDLR = 7, tRTPL = 7 }) -- [H]
  m:change("l2[*].mem -> mc[*].cpu[*]", { latency = 64 }) -- [D] 290 cycles from DRAM
end)

machine.reference = { ["latency.l1"] = 33, ["latency.l2"] = 200, ["latency.dram_sequential"] = 290, ["latency.shared"] = 23 } -- [D]
return machine
