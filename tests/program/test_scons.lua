-- What scons is asked for: wrong variables, and folders with names that a shell would take apart.
local harness = require "tests.lib.harness"

--- Exit status and output of a run that builds nothing.
local function plan(words)
  local pipe = assert(io.popen(("scons -Q --dry-run %s 2>&1"):format(words)))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status or 0, output
end

local function require_scons()
  if not os.execute "scons --version >/dev/null 2>&1" then harness.skip "there is no scons" end
end

local function refuses(words, text)
  local status, output = plan(words)
  harness.equal(status, 1, output)
  harness.equal(output, text .. "\n")
end

harness.test("scons refuses values of variables that mean nothing, before it builds", function()
  require_scons()
  refuses("verbose=no", 'scons: verbose: expected 0 or 1, got "no"')
  refuses("march=", 'scons: march: expected an instruction set (native, x86-64-v3), got ""')
  refuses("march=../../x", 'scons: march: expected an instruction set (native, x86-64-v3), got "../../x"')
  refuses("march=x86-64-v9", 'scons: march: expected an instruction set that gcc knows, got "x86-64-v9"')
end)

harness.test("scons cuda install takes a prefix with blanks and signs of the shell as one folder", function()
  require_scons()
  local status, output = plan "cuda install '--prefix=/nowhere/a (b)'"
  harness.equal(status, 0, output)
  harness.contains(output, "install /nowhere/a (b)/bin/warpwright",
    "mkdir -p '/nowhere/a (b)/share/warpwright' && cp -a build/opt/share/warpwright/cuda '/nowhere/a (b)/share/warpwright'/")
  refuses("install '--prefix=/nowhere/$b'", 'scons: prefix: expected a folder without $ in its path, got "/nowhere/$b"')
end)

harness.test("scons install leaves out scripts that write files of the sources", function()
  require_scons()
  local _, output = plan "install --prefix=/nowhere"
  harness.contains(output, "/nowhere/share/warpwright/scripts/torture.lua", "/nowhere/share/warpwright/library/")
  for _, name in ipairs { "annotations", "compile_library", "man_page", "policy_reference" } do
    assert(not output:find(("/scripts/%s.lua"):format(name), 1, true), name)
  end
end)

harness.finish()
