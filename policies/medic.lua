-- Memory divergence correction (MeDiC: Ausavarungnirun et al., PACT 2015, section 3): warp type identification, and the
-- three that act on it, bypassing (wbyp), insertion (wip) and memory scheduling (wms). Each of these can be switched off.
local load = require "warpwright.load"
local names = require "warpwright.names"
local policy = require "warpwright.policy"

local types = load.get("policy", "warp_types")
local components = {
  { param = "bypassing", policy = load.get("policy", "wbyp") },
  { param = "insertion", policy = load.get("policy", "wip") },
  { param = "scheduling", policy = load.get("policy", "wms") },
}

local medic = policy "medic" {
  doc = "Memory divergence correction: L2 and memory act on how often each warp hits in the L2",
  uses = { "warp_types" },
  params = {
    bypassing = { true, doc = "Warp-type-aware bypassing: wbyp" },
    insertion = { true, doc = "Warp-type-aware insertion: wip" },
    scheduling = { true, doc = "Warp-type-aware memory scheduling: wms" },
    balanced_depth = load.get("policy", "wip").params.balanced_depth,
    interval = types.params.interval, warm_up = types.params.warm_up, mostly_hit = types.params.mostly_hit,
    mostly_miss = types.params.mostly_miss,
  },
}

function medic:configure(class, path, params)
  local settings = {}
  for _, component in ipairs(components) do
    local own = self.params[component.param] and component.policy.configure(self, class, path, params) or {}
    for _, key in ipairs(names.sorted_keys(own)) do settings[key] = own[key] end
  end
  return settings
end

return medic
