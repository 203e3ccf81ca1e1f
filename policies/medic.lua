-- Memory divergence correction (MeDiC: Ausavarungnirun et al., PACT 2015, section 3): warp type identification, and the
-- three that act on it, bypassing (wbyp), insertion (wip) and memory scheduling (wms). Each of these can be switched off;
-- with warm_up=0 no warp is of a known type, and none of them acts.
local policy = require "warpwright.policy"

return policy "medic" {
  doc = "Memory divergence correction: L2 and memory act on how often each warp hits in the L2",
  uses = {
    "warp_types",
    { "wbyp", when = "bypassing" },
    { "wip", when = "insertion" },
    { "wms", when = "scheduling" },
  },
  params = {
    bypassing = { true, doc = "Warp-type-aware bypassing: wbyp" },
    insertion = { true, doc = "Warp-type-aware insertion: wip" },
    scheduling = { true, doc = "Warp-type-aware memory scheduling: wms" },
  },
}
