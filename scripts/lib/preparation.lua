-- What would end the runs of a script sooner or later, found before the first of them.
local core = require "warpwright.core"
local load = require "warpwright.load"
local names = require "warpwright.names"
local policy = require "warpwright.policy"
local simulation = require "warpwright.simulation"
local workload = require "warpwright.workload"

local preparation = {}

--- What load.get() finds; the error for a wrong name is the user's, and names no line of a script
-- that is not.
function preparation.find(kind, name) return load.get(kind, name, "") end

--- An error for a workload, or a size of it, that is none.
function preparation.check_workload(name, size)
  local w = preparation.find("workload", name)
  names.at_place("", workload.resolve_size, w, size)
end

--- An error for a policy's name, or text with parameters, that is none.
function preparation.check_policy_names(policies)
  for _, specification in ipairs(policies) do
    names.at_place("", policy.chain, specification, function(name) return preparation.find("policy", name) end)
  end
end

--- An error for policies that the machine cannot have.
function preparation.check_policies(config, set, policies)
  preparation.find("config", config)
  for _, specification in ipairs(policies) do
    local sim = names.at_place("", simulation.build, config, { set = set, policy = specification })
    names.at_place("", sim.gpu, sim)
    sim:close()
  end
end

--- An error for what a user has named wrongly. options: config, set, size, workloads, policies.
function preparation.check(options)
  if not options.workloads[1] then names.at_place("", core.user_error, "expected the names of workloads, got none") end
  for _, name in ipairs(options.workloads) do preparation.check_workload(name, options.size) end
  preparation.check_policies(options.config, options.set, options.policies)
end

return preparation
