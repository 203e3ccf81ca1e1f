-- scripts/soak: which runs it makes, and what it refuses.
local harness = require "tests.lib.harness"

harness.test("policies keep the parameters that stand behind commas", function()
  local status, output = harness.run("scripts/soak.lua", "--configs", "gallery/bus", "--workloads", "vecadd", "--policies",
    "ccws:k_throttle=4,base_score=50,lrr", "--size", "small,n=1024", "--cycles", "1", "--chain", "0", "--jobs", "1")
  harness.equal(status, 0, output)
  harness.contains(output, "ccws:k_throttle=4,base_score=50, seed 1: 1 resumes, 0 unequal",
    "lrr, seed 1: 1 resumes, 0 unequal", "\n2 resumes, 0 unequal")
end)

harness.test("bad arguments are named", function()
  for _, case in ipairs {
    { { "--cycles", "0" }, "--cycles: expected a whole number from 1 on, got '0'" },
    { { "--configs", "," }, "--configs: expected names apart by commas, got ','" },
    { { "--limit", "2" }, "unknown option '--limit'" },
    { { "--seed" }, "--seed: expected a value, got nothing" },
    { { "gtx480" }, "expected options, got 1 argument" },
  } do
    harness.refused("soak: " .. case[2] .. "; see scripts/soak --help", "scripts/soak.lua", table.unpack(case[1]))
  end
  harness.refused("ccws: no parameter matches 'throttle'", "scripts/soak.lua", "--policies", "ccws:throttle=4")
  harness.refused("no size of workload vecadd matches 'tiny'", "scripts/soak.lua", "--workloads", "vecadd", "--size", "tiny")
  harness.refused("no config matches 'gtx999'", "scripts/soak.lua", "--configs", "gtx999")
end)

harness.finish()
