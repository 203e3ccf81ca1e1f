-- A quick selection of scripts/conformance: the program with the references comes along with the unit tests.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local program = arg[-1]:gsub("[^/]*$", "") .. "conformance"
local RUN <const> = "tests/conformance/run.lua"

local function conformance(...)
  if not core.is_file(program) then harness.skip("there is no " .. program .. "; scons unit_tests builds it") end
  local pipe = assert(io.popen(("'%s' %s %s 2>&1"):format(program, RUN, table.concat({ ... }, " "))))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status, output
end

harness.test("every form of instructions computes what its reference does, and has one", function()
  local status, output = conformance("--cases 0 --programs 0")
  harness.equal(status, 0, output)
  harness.contains(output, "| **all** |")
end)

harness.test("random programs do in every thread what an interpreter of single threads does", function()
  local status, output = conformance(("--cases 0 --programs 50 --seed 3 --out '%s'"):format(harness.folder()))
  harness.equal(status, 0, output)
  harness.contains(output, "| random programs |")
end)

harness.test("what a group compares can be chosen", function()
  local status, output = conformance("--cases 0 --only add.rn.ftz.sat.f32")
  harness.equal(status, 0, output)
  harness.contains(output, "| float add, mul, fma | 1 |")
end)

harness.finish()
