-- The GTX 480 of the DWT-PRIC paper (Khairy, Zahran, Wassal, GPGPU-8, 2015), which ran "the configuration file provided with
-- GPGPU-Sim without any modifications", version 3.2.1 (section 2.3). Its table is that of gtx480. What the table leaves out,
-- latencies, is nearer to that file here. The file itself was not at hand; two of a GTX 480 in forks of that time have no latency
-- for hits of the L1, and 100 core cycles (dram_latency) between an L2 slice and DRAM, during which each of the slice's 32
-- MSHRs is taken. In place of gtx480's 40, 231 and 278 cycles a dependent load takes 9 from the L1, 200 from the L2, 310
-- from DRAM.
local ww = require "warpwright"

return ww.variant("gtx480_dwt_pric", "gtx480", {}, function(m)
  m:change("sm[*].l1d", { latency = 1 })
  m:change("l2[*].mem -> mc[*].cpu[*]", { latency = 94 })
end)
