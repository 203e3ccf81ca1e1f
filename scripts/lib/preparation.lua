-- What would end the runs of a script sooner or later, found before the first of them.
local core = require "warpwright.core"
local load = require "warpwright.load"
local simulation = require "warpwright.simulation"
local workload = require "warpwright.workload"

local preparation = {}

--- An error for what a user has named wrongly. options: config, set, size, workloads, policies.
function preparation.check(options)
  if not options.workloads[1] then core.user_error "expected the names of workloads, got none" end
  for _, name in ipairs(options.workloads) do workload.resolve_size(load.get("workload", name), options.size) end
  for _, policy in ipairs(options.policies) do
    local sim = simulation.build(options.config, { set = options.set, policy = policy })
    sim:gpu()
    sim:close()
  end
end

return preparation
