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

--- The output of a command; an error with it when the command fails.
local function output_of(what, command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local output = pipe:read "a"
  if not pipe:close() then error(("%s:\n%s\n%s"):format(what, command, output), 0) end
  return output
end

--- A folder that clang takes for a CUDA toolkit; skips the test where clang or what it needs is missing.
function cuda_programs.toolkit()
  local libraries = cuda_programs.libraries()
  if not os.execute "clang++-14 --version >/dev/null 2>&1" then harness.skip "no clang++-14: scripts/setup cuda" end
  local ok, nvvm = pcall(cuda_home.path, "nvvm")
  if not ok then harness.skip "the device library is not built: scons cuda" end
  local folder = harness.folder() .. "/toolkit"
  local link = ("mkdir -p '%s/bin'"):format(folder)
  for name, target in pairs { include = core.home_path "core/cuda/toolkit/include", nvvm = nvvm, lib64 = libraries } do
    link = ("%s && ln -sfn \"$(realpath '%s')\" '%s/%s'"):format(link, target, folder, name)
  end
  output_of("cannot make " .. folder, link)
  return folder
end

--- The path of tests/cuda/programs/NAME.cu, compiled by clang for `architecture` (sm_70), with the PTX beside it.
function cuda_programs.compile(name, architecture, options)
  local folder, path = cuda_programs.toolkit(), harness.folder() .. "/" .. name
  local common = ("clang++-14 -x cuda --cuda-path='%s' --cuda-gpu-arch=%s -O2 %s '%s'"):format(
    folder, architecture or "sm_70", options or "", core.home_path("tests/cuda/programs/" .. name .. ".cu"))
  output_of("cannot compile " .. name, ("%s --cuda-device-only -S -o '%s.ptx' && printf '\\0' >>'%s.ptx'"):format(common, path, path))
  output_of("cannot compile " .. name, ("%s --cuda-host-only -Xclang -fcuda-include-gpubinary -Xclang '%s.ptx' -c -o '%s.o'"):format(common, path, path))
  output_of("cannot link " .. name, ("c++ -o '%s' '%s.o' -L'%s/lib64' -Wl,-rpath-link,'%s/lib64' -lcudart -lcuda -lpthread"):format(path, path, folder, folder))
  return path
end

--- `warpwright cuda` with these arguments; returns the exit status and all output.
function cuda_programs.run(...) return harness.run("cuda", ...) end

return cuda_programs
