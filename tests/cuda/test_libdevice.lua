-- The device library: that all its functions are there, and what kernels get from them.
local cuda_home = require "warpwright.cuda_home"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local clang <const> = "clang-14"

--- The output of a command; an error when it fails.
local function output_of(command, ...)
  local pipe = assert(io.popen(command:format(...)))
  local text = pipe:read "a"
  assert(pipe:close(), command:format(...))
  return text
end

--- The path of the library; skips the test where it is not built or no compiler can read it.
local function library()
  if not os.execute(clang .. " --version >/dev/null 2>&1") then harness.skip("no " .. clang .. ": scripts/setup cuda") end
  local ok, path = pcall(cuda_home.path, "nvvm/libdevice/libdevice.10.bc")
  if not ok then harness.skip "the device library is not built: scons cuda" end
  return path
end

--- The PTX of tests/cuda/programs/NAME.cu.
local function compile(name, options)
  return output_of("%s -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx63 "
    .. "-Wno-unknown-cuda-version -O2 %s -Xclang -mlink-builtin-bitcode -Xclang '%s' -S -o - '%s'",
    clang, options or "", library(), core.home_path("tests/cuda/programs/" .. name .. ".cu"))
end

harness.test("all functions that clang's headers declare are there, and need nothing", function()
  local text = output_of("%s --target=nvptx64-nvidia-cuda -x ir -S -emit-llvm -Xclang -disable-llvm-passes -o - '%s'", clang, library())
  local folder = output_of("%s -print-resource-dir", clang):match "%C+"
  local count = 0
  for name in harness.read(folder .. "/include/__clang_cuda_libdevice_declares.h"):gmatch "(__nv_[%w_]+)%(" do
    assert(text:find("define[^\n]* @" .. name .. "%("), "no " .. name)
    count = count + 1
  end
  assert(count > 400, count .. " functions are declared")
  for name in text:gmatch "declare[^\n]* @([%w_.]+)%(" do
    assert(name:find "^llvm%." or name == "__nvvm_reflect", "the library calls " .. name)
  end
end)

harness.test("a kernel gets what the host's functions give", function()
  local gpu = ww.build("gtx480"):gpu()
  local kernels = gpu:load { text = compile "libdevice_first", name = "first.ptx" }
  local y, w = gpu:alloc(12), gpu:alloc(16)
  gpu:launch(kernels.first, { grid = 1, block = 1, timed = false,
    args = { gpu:upload(ww.f32 { 2, 1.5, 3, 0.7 }), y, gpu:upload(ww.f64 { 1, 1e22 }), w } })
  local single, double = gpu:download("f32", y, 3), gpu:download("f64", w, 2)
  for i, want in ipairs { math.sqrt(2), math.exp(1.5), 3 ^ 0.7 } do
    assert(math.abs(single[i - 1] / want - 1) < 2e-7, ("got %.9g, expected %.9g"):format(single[i - 1], want))
  end
  harness.equal(double[0], math.sin(1))
  assert(math.abs(double[1] - -0.8522008497671888018) < 2e-16, double[1])
end)

harness.finish()
