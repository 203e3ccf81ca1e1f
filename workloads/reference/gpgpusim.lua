-- GPGPU-Sim 4.2 (configuration SM2_GTX480, power model off) on the jobs of this folder, measured.
-- Cycles, instructions and rates are exact and repeatable. `seconds` are the CPU seconds (user and
-- system) of the fastest of three runs on a loaded 2-core x86-64 machine, and `cycles_per_second`
-- is what follows from them; `megabytes` is the most memory that the process had. It counts one
-- thread instruction less per thread than it issues in vecadd.
local gpgpusim = {}

gpgpusim.jobs = {
  vecadd = {
    cycles = 85737, warp_instructions = 720896, thread_instructions = 22020096,
    l1d_miss_rate = 1.000, l2_miss_rate = 0.9996, dram_busy = 0.951,
    seconds = 34.1, cycles_per_second = 2537, megabytes = 205,
  },
  sgemm = {
    cycles = 116787, warp_instructions = 2144256, thread_instructions = 68485120,
    l1d_miss_rate = 0.877, l2_miss_rate = 0.011, dram_busy = 0.006,
    seconds = 110.9, cycles_per_second = 1055, megabytes = 190,
  },
  syrk = {
    cycles = 411265, warp_instructions = 384000, thread_instructions = 11730944,
    l1d_miss_rate = 0.224, l2_miss_rate = 0.000, dram_busy = 0.000,
    seconds = 84.3, cycles_per_second = 4885, megabytes = 108,
  },
  spmv = {
    cycles = 267812, warp_instructions = 355942, thread_instructions = 2214855,
    l1d_miss_rate = 0.832, l2_miss_rate = 0.077, dram_busy = 0.112,
    seconds = 50.5, cycles_per_second = 5321, megabytes = 108,
  },
  rdstream = {
    cycles = 66830, warp_instructions = 371872, thread_instructions = 11853824,
    l1d_miss_rate = 1.0, l2_miss_rate = 0.999, dram_busy = 0.959,
    seconds = 16.6, cycles_per_second = 4065, megabytes = 119,
  },
  fmaloop = {
    cycles = 72545, warp_instructions = 1627200, thread_instructions = 52024320,
    dram_busy = 0,
    seconds = 26.2, cycles_per_second = 2783, megabytes = 90,
  },
}

--- Cycles of each launch of a job, in its order.
gpgpusim.launch_cycles = {
  own_bank = { 7256, 5050, 5159, 5414, 8786, 18076, 35640 },
  own_bank32w = { 4646, 3037, 3549, 5595, 9375, 17587, 34075 },
  own_diverge2 = { 5980, 4615, 8253, 15555, 30109, 59303, 117695 },
  own_diverge = { 5905, 7830, 15102, 58645, 141356, 263633 },
  own_atom = { 62597, 7949, 2865 },
}

--- Core cycles of one dependent load of one thread: the cycles of chase_NAME_128 less those of
-- chase_NAME_64, over the 64 x 16 loads by which they differ.
gpgpusim.load_latency = { l1 = 40, l2 = 182, dramseq = 300, dramrand = 306 }

--- What scripts/characterise measures, as it came out there: core cycles of one warp. `dependent`:
-- from an operation to the one that waits for it, the share of the loop around them included (about
-- 0.4 cycles where operations are short). `independent`: between two operations that wait for
-- nothing, as { least, most }.
gpgpusim.characteristics = {
  ["latency.l1"] = gpgpusim.load_latency.l1,
  ["latency.l2"] = gpgpusim.load_latency.l2,
  ["latency.dram_sequential"] = gpgpusim.load_latency.dramseq,
  ["latency.dram_random"] = gpgpusim.load_latency.dramrand,
  ["latency.shared"] = 32,
  ["latency.atomic"] = 175,
}

local dependent = {
  int_add = 10.4, int_mul = 10.4, int_mad = 11.3, int_min = 19.1, int_max = 19.1, int_div = 151,
  ["and"] = 7.5, mov = 7.5, cvt = 7.5,
  fp_add = 10.4, fp_mul = 10.4, fp_fma = 11.3, fp_min = 19.1, fp_div = 45,
  rcp = 14.3, dp_add = 14.3, dp_fma = 14.3,
  shared_load = 32,
}
for name, cycles in pairs(dependent) do gpgpusim.characteristics["operations." .. name .. ".dependent"] = cycles end

for _, name in ipairs { "int_add", "int_mul", "int_mad", "and", "mov", "cvt", "fp_add", "fp_mul", "fp_fma" } do
  gpgpusim.characteristics["operations." .. name .. ".independent"] = { 2.1, 2.6 }
end

return gpgpusim
