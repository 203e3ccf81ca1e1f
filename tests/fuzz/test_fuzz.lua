-- Fuzz targets on their seeds and on many changes of them, always the same: the sanitizer build's, which come along with its
-- unit tests. Where that build does not exist it is left out; scripts/test makes it.
package.path = "tests/end_to_end/?.lua;" .. package.path
local harness = require "harness"

local folder = arg[-1]:match("^(.*)/[^/]*/warpwright$") or "build"
local CHANGES = 5000

local function run(command, ...)
  local pipe = assert(io.popen(command:format(...) .. " 2>&1"))
  local output = pipe:read("a")
  assert(pipe:close(), output)
  return output
end

for _, name in ipairs { "checkpoint" } do
  local target = ("%s/asan/fuzz_%s"):format(folder, name)
  local file = io.open(target, "rb")
  if file then
    file:close()
    harness.test(name .. " files, damaged in many ways, crash nothing", function()
      local seeds = harness.folder() .. "/" .. name
      run("mkdir '%s' && '%s' --seeds '%s'", seeds, target, seeds)
      harness.contains(run("'%s' --changes %d '%s'", target, CHANGES, seeds), ("each with %d changes"):format(CHANGES))
    end)
  end
end

harness.finish()
