-- DWT-PRIC (Khairy et al., section 5): bypassing of streaming applications, dynamic warp throttling via core sampling and
-- pseudo-random interleaved L1 caches together. The defaults of their parameters are those of Table 4. Each of the three can
-- be left out: the paper's DWT and PRIC alone.
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
    interleaving = { true, doc = "Pseudo-random interleaving: pric" },
  },
}
