-- Every policy resumes at random cycles as if it had not stopped, on two workloads and a third of the machine.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local oracle = require "scripts.lib.resume_oracle"

local times <const> = 3

local in_folder = { trace_l1 = "trace_l1:folder=" .. harness.folder() .. "/trace" }

for _, entry in ipairs(core.list_folder "policies") do
  local policy = entry:match "^(.*)%.lua$"
  for _, workload in ipairs(policy and { "bfs", "kmeans" } or {}) do
    harness.test(("%s on %s resumes at %d random cycles"):format(policy, workload, times), function()
      local lines = {}
      local case = oracle.case {
        folder = harness.folder(), jobs = 2, threaded = 10, seed = 1, config = "gtx480", workload = workload, size = "small",
        policy = in_folder[policy] or policy, set = { "sms=5", "partitions=2" }, report = function(line) lines[#lines + 1] = line end,
      }
      if not case.problem then case:resume_everywhere(times) end
      case:close()
      assert(case.unequal == 0, table.concat(lines, "\n"))
      harness.equal(case.resumes, times, "resumes")
    end)
  end
end

harness.finish()
