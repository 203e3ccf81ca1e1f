-- Fuzz targets on their seeds and on many changes of them, always the same: the sanitizer build's, which come along with its
-- unit tests. Where that build does not exist they are skipped; scripts/test makes it.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local folder = arg[-1]:match("^(.*)/[^/]*/warpwright$") or "build"
-- A changed checkpoint takes a fraction of a millisecond, a machine that loads one takes several.
local targets = {
  { name = "checkpoint", changes = 5000 }, { name = "machine", changes = 40 }, { name = "ptx", changes = 2000 },
  { name = "resume", changes = 2 }, { name = "sass", changes = 5000 },
}

local function run(command, ...)
  local pipe = assert(io.popen(command:format(...) .. " 2>&1"))
  local output = pipe:read("a")
  assert(pipe:close(), output)
  return output
end

for _, entry in ipairs(targets) do
  local target = ("%s/asan-clang/fuzz_%s"):format(folder, entry.name)
  harness.test(("inputs of fuzz_%s, damaged in many ways, crash nothing"):format(entry.name), function()
    if not core.is_file(target) then harness.skip("there is no " .. target) end
    local seeds = harness.folder() .. "/" .. entry.name
    run("mkdir '%s' && '%s' --seeds '%s'", seeds, target, seeds)
    harness.contains(run("'%s' --changes %d '%s'", target, entry.changes, seeds), ("each with %d changes"):format(entry.changes))
  end)
end

harness.finish()
