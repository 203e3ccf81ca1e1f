-- scripts/sampling: its exit status.
local harness = require "tests.lib.harness"

local folder = harness.folder() .. "/runs"

local function sampling(...) return harness.run("scripts/sampling.lua", "--folder", folder, "--size", "small", ...) end

harness.test("what is named wrongly is refused before anything runs", function()
  local function wrong(wanted, ...)
    local output = harness.refused(wanted, "scripts/sampling.lua", "--folder", folder, "--size", "small", ...)
    assert(not output:find "speed%-up" and not output:find "FAILED", output)
  end
  wrong("workload: no workload matches 'nosuch'", "gtx480", "vecadd,nosuch")
  wrong("no size of workload vecadd matches 'smal'; did you mean small?", "--size", "smal", "gtx480", "vecadd")
  wrong("config: no config matches 'gtx48'; did you mean gtx480?", "gtx48", "vecadd")
  wrong("policy: no policy matches 'gtoo'; did you mean gto?", "--policies", "lrr,gtoo", "gtx480", "vecadd")
  wrong("sample: expected error=3%", "--sample", "nosuch", "gtx480", "vecadd")
end)

harness.test("a run that fails is shown beside those that do not, and the exit status is 1", function()
  local failing = harness.write("failing.lua", [[
    local failing = require "warpwright.policy" "failing" {}
    function failing:on_kernel_start() error "it fails" end
    return failing
  ]])
  local status, output = sampling("--policies", "gto," .. failing, "gtx480", "vecadd")
  harness.equal(status, 1, output)
  harness.contains(output, "it fails", "\nvecadd         gto ", "\n1 pairs, ")
  status, output = sampling("gtx480", "vecadd")
  harness.equal(status, 0, output)
end)

harness.finish()
