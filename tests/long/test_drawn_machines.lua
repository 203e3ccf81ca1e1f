-- A hundred machines that nobody has built, drawn by scripts/torture, hold the law in every build that there is.
local harness = require "tests.lib.harness"

harness.test("drawn machines give the same stats in any order, on threads, resumed, and in other builds", function()
  local pipe = assert(io.popen(("WARPWRIGHT='%s' scripts/torture --machines 100 --seed 60 --out '%s/out' 2>&1"):format(arg[-1], harness.folder())))
  local output = pipe:read "a"
  assert(pipe:close(), output)
  harness.contains(output, "100 machines, ", ", 0 differences", ", 0 crashes", ", 0 hangs")
end)

harness.finish()
