-- thrust and CUB, which take long to compile: their algorithms in a program that checks itself.
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

harness.test("thrust and CUB", function()
  if not os.execute "test -e /usr/include/thrust/version.h" then harness.skip "no thrust: scripts/setup cuda" end
  cuda_programs.checks("thrust", cuda_programs.compile("headers_thrust", "sm_70"), 140)
end)

harness.finish()
