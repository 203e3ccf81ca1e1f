-- C programs of tests/cuda/programs, built against the CUDA library of this build, and run on a simulated machine.
local core = require "warpwright.core"
local cuda_home = require "warpwright.cuda_home"
local harness = require "tests.lib.harness"

local cuda_programs = {}

local built = {}

--- The folder of the libraries; skips the test where they are not built.
function cuda_programs.libraries()
  local ok, path = pcall(cuda_home.path, "lib64")
  if not ok then harness.skip "the CUDA library is not built: scons cuda" end
  return path
end

--- The path of tests/cuda/programs/NAME.c, built.
function cuda_programs.build(name)
  if built[name] then return built[name] end
  local libraries, path = cuda_programs.libraries(), harness.folder() .. "/" .. name
  local command = ("cc -O1 -D_GNU_SOURCE -I%s -I%s -o '%s' '%s' -L'%s' -Wl,-rpath-link,'%s' -lcudart -lcuda -lpthread 2>&1"):format(
    core.home_path "core/cuda/toolkit/include", core.home_path "core/cuda/runtime", path,
    core.home_path("tests/cuda/programs/" .. name .. ".c"), libraries, libraries)
  local pipe = assert(io.popen(command))
  local output = pipe:read "a"
  if not pipe:close() then error("cannot build " .. name .. ":\n" .. output, 0) end
  built[name] = path
  return path
end

--- The folder that clang takes for CUDA's toolkit; skips the test where clang or the toolkit is missing.
function cuda_programs.toolkit()
  cuda_programs.libraries()
  if not os.execute "clang++-14 --version >/dev/null 2>&1" then harness.skip "no clang++-14: scripts/setup cuda" end
  local ok, include = pcall(cuda_home.path, "include")
  if not ok then harness.skip "the CUDA toolkit is not built: scons cuda" end
  return (include:gsub("/include$", ""))
end

--- The path of tests/cuda/programs/NAME.cu, compiled for `architecture` with these further options.
function cuda_programs.compile(name, architecture, ...)
  cuda_programs.toolkit()
  local path = harness.folder() .. "/" .. name
  local status, output = harness.run("nvcc", "-arch=" .. architecture, "-o", path, core.home_path("tests/cuda/programs/" .. name .. ".cu"), ...)
  harness.equal(status, 0, output)
  return path
end

--- `warpwright cuda` with these arguments; returns the exit status and all output.
function cuda_programs.run(...) return harness.run("cuda", ...) end

--- Runs a program that checks itself; it must have made at least `least` checks, all of which held. Returns its output.
function cuda_programs.checks(name, path, least)
  local status, output = cuda_programs.run("gtx480", "--capability", "9.0", "--set", "sm[*].registers=65536",
    "--out", harness.folder() .. "/out", "--", path)
  harness.equal(status, 0, output)
  local checked, failed = output:match(name .. ": (%d+) checks, (%d+) failed")
  harness.equal(failed, "0", output)
  assert(tonumber(checked) >= least, ("expected at least %d checks, got %s"):format(least, checked))
  return output
end

return cuda_programs
