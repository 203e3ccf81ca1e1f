-- DWT-PRIC (Khairy et al., section 5): bypassing of streaming applications, dynamic warp throttling via core sampling and
-- pseudo-random interleaved L1 caches together, configured as in Table 4.
local policy = require "warpwright.policy"

return policy "dwt_pric" {
  doc = "stream_bypass, dwt_cs and pric together",
  uses = { "stream_bypass", "dwt_cs", "pric" },
  params = {
    period = { 10000, min = 1, doc = "Cycles of a sampling period" },
    threshold = { 0.9, min = 0, max = 1, doc = "Miss rate above which a cache is switched off" },
    mpki = { 10.0, min = 0, doc = "L1 misses per 1000 instructions above which warps are throttled" },
    polynomial = { 0, min = 0, doc = "Of the set index; 0: the least irreducible one, which is 37 for 32 sets" },
    consecutive = { 3, min = 1, doc = "N: periods in a row with too many misses that start the sampling" },
    samples = { 3, min = 1, doc = "M: periods that a sampling takes" },
  },
}
