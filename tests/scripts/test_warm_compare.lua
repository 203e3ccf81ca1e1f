-- scripts/warm_compare.lua: the policies that it takes without being told, and policies with several parameters.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local function compared(...)
  local status, output = harness.run("scripts/warm_compare.lua", "--config", "gallery/l3", "--workload", "vecadd",
    "--size", "small,n=2048", "--cycles", "200", "--out", harness.folder() .. "/compared", ...)
  harness.equal(status, 0, output)
  return output
end

local function has_row(output, policy)
  for line in output:gmatch "[^\n]+" do
    if line:sub(1, #policy + 1) == policy .. " " then
      assert(line:match "yes$", line)
      return true
    end
  end
  return false
end

local left_out <const> = { equalizer = true, first_touch = true, trace_l1 = true }

harness.long_test("all policies that a warm machine can take over are compared", function()
  local output = compared()
  for _, entry in ipairs(core.list_folder(core.home_path "policies")) do
    local name = entry:match "^(.*)%.lua$"
    local shown = name == "perfect" and "perfect:memory=1" or name
    if name then harness.equal(has_row(output, shown), not left_out[name], name) end
  end
end)

harness.test("a parameter behind a comma belongs to the policy before it", function()
  local output = compared("--policies", "lrr,ccws:base_score=50,vta_entries=8,swl:limit=4")
  for _, policy in ipairs { "lrr", "ccws:base_score=50,vta_entries=8", "swl:limit=4" } do
    assert(has_row(output, policy), policy .. " in\n" .. output)
  end
end)

harness.test("what is wrong on the command line is told with the way to the help", function()
  for _, case in ipairs {
    { "--cycles: expected a whole number from 1 on, got 'x'", "--cycles", "x" },
    { "--jobs: expected a whole number from 1 on, got '0'", "--jobs", "0" },
    { "unknown option '--policy'", "--policy", "lrr" },
    { "expected options alone, got 1 argument", "kmeans" },
  } do
    harness.refused(("error: warm_compare.lua: %s; see scripts/warm_compare.lua --help"):format(case[1]),
      "scripts/warm_compare.lua", table.unpack(case, 2))
  end
end)

harness.finish()
