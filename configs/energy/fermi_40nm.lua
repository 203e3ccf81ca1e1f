-- Energies for a GPU like the GTX 480: 40 nm, GDDR5. Each number has where it is from, and `kind` says how much it is worth:
--
--   published  in the source
--   scaled     calculated from published numbers, as the source says
--   assumed    ours, of the right order; nothing better was at hand
--
-- scripts/energy prints what half as much and half as much again of each number does to a comparison.
--
--   Keckler   Keckler, Dally, Khailany, Garland, Glasco: GPUs and the Future of Parallel Computing. IEEE Micro 31(5), 2011, table 1
--   Gebhart   Gebhart et al.: Energy-efficient mechanisms for managing thread context in throughput processors. ISCA 2011
--   O'Connor  O'Connor et al.: Fine-grained DRAM. MICRO 2017
--   Lucas     Lucas, Lal, Andersch, Alvarez-Mesa, Juurlink: How a single chip causes massive power bills. ISPASS 2013
--   Mascar    Sethia, Jamshidi, Mahlke: Mascar. HPCA 2015
local ww = require "warpwright"

return ww.technology "fermi_40nm" {
  doc = "GF100 at 40 nm with GDDR5",

  -- On the chip
  sram_bit = { 14 / 64, "pJ/bit", "published", "Keckler: 64 bits of an 8 KiB SRAM, 14 pJ. Of other sizes: by the square root" },
  crossbar_bit = { 0.12 * 11.5, "pJ/bit", "scaled",
    "Keckler: 240 fJ a transition, bit and mm, half the bits change; 11.5 mm, half the side of a chip of 529 mm2. Of routers: by length" },
  operand = { 2 * 40 / 28, "pJ", "scaled", "Gebhart: 32 bits of a register file, about 2 pJ; by feature size from 28 nm" },
  sp_lane = { 50, "pJ", "scaled", "Lucas: measured at 40 nm, about 40 pJ an integer and 75 pJ a float operation of a lane; three integers in four" },
  sfu_lane = { 200, "pJ", "assumed", "four times sp_lane: a table, and more than one multiplication" },
  memory_lane = { 40, "pJ", "scaled", "Lucas: an integer operation, for the address" },
  issue = { 200, "pJ", "assumed", "fetch of 8 B, decoding, scoreboard and scheduler of a warp instruction" },
  shared_word = { 7, "pJ", "scaled", "Keckler: 32 bits of a bank of 1.5 KiB, 3 pJ, and 1 mm to the lane, 4 pJ" },
  reexecution_entry = { 0.03, "L1 accesses", "published", "Mascar, section III: 3 % of the energy of an L1 access, by CACTI" },

  -- DRAM
  dram_activate = { 909 * 4 * (1.5 / 1.2) ^ 2, "pJ", "scaled",
    "O'Connor: 909 pJ for a row of 1 KiB of HBM2 at 1.2 V; two chips with rows of 2 KiB at 1.5 V" },
  dram_bit = { 11.7, "pJ/bit", "scaled",
    "O'Connor: GDDR5 about 14 pJ/bit in all; less background at full rate and one ACTIVATE a row" },
  dram_background = { 0.5, "W", "assumed", "a channel: two chips with open rows, 1.5 V and some 160 mA each" },

  -- What flows all the time: 50 W in all for 15 SMs and six slices of 128 KiB, a fifth of the card's 250 W
  sm_leakage = { 2.5, "W", "assumed", "a SM, with its caches" },
  l2_leakage = { 1 / 128, "W/KiB", "assumed", "of L2" },
  crossbar_leakage = { 6.5, "W", "assumed", "crossbar, controllers and the rest of the chip" },
}
