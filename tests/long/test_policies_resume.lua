-- Every policy resumes at random cycles as if it had not stopped, on two workloads.
local checks = require "tests.lib.policy_checks"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local times <const> = 3

local in_folder = { trace_l1 = "trace_l1:folder=" .. harness.folder() .. "/trace" }

for _, entry in ipairs(core.list_folder "policies") do
  local policy = entry:match "^(.*)%.lua$"
  for _, workload in ipairs(policy and { "bfs", "kmeans" } or {}) do checks.resumes(in_folder[policy] or policy, workload, times) end
end

harness.finish()
