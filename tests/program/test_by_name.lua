-- tests/one: a suite, a script or a single test by its name.
local harness = require "tests.lib.harness"

local build = arg[-1]:match "^(.*)/" or "."

local function one(...)
  local words = {}
  for i, word in ipairs { ... } do words[i] = "'" .. word .. "'" end
  local pipe = assert(io.popen(("TEST_BUILD='%s' tests/one %s 2>&1"):format(build, table.concat(words, " "))))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

local function passes(count, ...)
  local status, output = one(...)
  harness.equal(status, 0, output)
  harness.contains(output, ("\n%d passed, 0 failed"):format(count))
end

harness.test("a suite or script runs by its name, and of it the tests with a text in their names", function()
  passes(3, "annotations")
  passes(1, "annotations:of today")
  passes(3, "tests/policies/test_annotations.lua")
  if not io.open(build .. "/unit_tests") then harness.skip "the unit tests are not built" end
  passes(1, "policy_methods:may_refuse")
end)

harness.test("a test runs by a part of its name", function()
  passes(1, "the annotations are those of today")
  if not io.open(build .. "/unit_tests") then harness.skip "the unit tests are not built" end
  passes(1, "a_method_may_refuse")
end)

harness.test("a name that no test has is refused", function()
  local status, output = one("nothing_" .. "of_this_name")
  harness.equal(status, 1)
  harness.contains(output, "expected a suite, a script or (a part of) the name of a test, got 'nothing_of_this_name'")
end)

harness.finish()
