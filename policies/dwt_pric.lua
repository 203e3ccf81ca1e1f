-- DWT-PRIC (Khairy et al., section 5): bypassing of streaming applications, dynamic warp throttling via core sampling and
-- pseudo-random interleaved L1 caches together. The defaults of their parameters are those of Table 4. Each of the three can
-- be left out: the paper's DWT and PRIC alone.
--
-- The paper does not say what becomes of a sampling while a cache is off. Here it is on then (caches_on): the miss rate that
-- switched it off was that of all warps together, which throttling is to change. stream_bypass decides again afterwards. That
-- is a choice with two sides: gesummv gains by it and spmv loses (docs/results.md).
local policy = require "warpwright.policy"

return policy "dwt_pric" {
  doc = "stream_bypass, dwt_cs and pric together",
  uses = {
    { "stream_bypass", when = "bypassing" },
    { "dwt_cs", when = "throttling" },
    { "pric", when = "interleaving" },
  },
  params = {
    bypassing = { true, doc = "Bypassing of streaming applications: stream_bypass" },
    throttling = { true, doc = "Dynamic warp throttling: dwt_cs" },
    caches_on = { true, doc = "The L1 data caches are on while dwt_cs samples, whatever stream_bypass finds" },
    interleaving = { true, doc = "Pseudo-random interleaving: pric" },
  },
}
