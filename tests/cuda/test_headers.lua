-- The headers of CUDA: programs of tests/cuda/programs that clang compiles with them, and that check themselves.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

--- Runs a program; it must have made at least `least` checks, all of which held.
local function passes(name, architecture, least)
  local path = cuda_programs.compile("headers_" .. name, architecture)
  local status, output = cuda_programs.run("gtx480", "--capability", "9.0", "--set", "sm[*].registers=65536",
    "--out", harness.folder() .. "/out", "--", path)
  harness.equal(status, 0, output)
  local checked, failed = output:match(name .. ": (%d+) checks, (%d+) failed")
  harness.equal(failed, "0", output)
  assert(tonumber(checked) >= least, ("expected at least %d checks, got %s"):format(least, checked))
  return output
end

harness.test("device functions: words, shuffles, atomics, caches, rounding, memory", function() passes("device", "sm_80", 13700) end)
harness.test("half and bfloat16, in float where the device has no instructions", function() passes("half", "sm_35", 120000) end)
harness.test("half and bfloat16 by the device's instructions", function() passes("half", "sm_80", 120000) end)
harness.test("cooperative groups, asynchronous copies, wmma", function() passes("groups", "sm_80", 2580) end)
harness.test("textures by references and objects; surfaces compile", function() passes("textures", "sm_70", 1000) end)
harness.test("thrust and CUB", function()
  if not os.execute "test -e /usr/include/thrust/version.h" then harness.skip "no thrust: scripts/setup cuda" end
  passes("thrust", "sm_70", 140)
end)

harness.finish()
