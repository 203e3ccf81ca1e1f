-- The device library: that all its functions are there, and what kernels get from them.
local cuda_home = require "warpwright.cuda_home"
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local ww = require "warpwright"

local clang <const> = "clang-14"
local fast <const> = "-ffast-math -fcuda-flush-denormals-to-zero" -- as for -use_fast_math

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

--- The PTX of a CUDA program.
local function compile(path, options)
  return output_of("%s -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx63 "
    .. "-Wno-unknown-cuda-version -O2 %s -Xclang -mlink-builtin-bitcode -Xclang '%s' -S -o - '%s'", clang, options, library(), path)
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

-- The same sources as functions of this computer, and a program that checks them ------------------------------------

local check

--- The path of libdevice_check, built; skips the test without the compilers or libquadmath.
local function checker()
  if check then return check end
  library()
  local folder = harness.folder()
  local pipe = assert(io.popen(("'%s' --build '%s' 2>&1"):format(core.home_path "scripts/libdevice", folder)))
  local problem = pipe:read "a"
  if not pipe:close() then
    if problem:find "quadmath" then harness.skip "no libquadmath, which is part of Debian's gcc" end
    error(problem, 0)
  end
  check = folder .. "/libdevice_check"
  return check
end

harness.test("errors are no larger than those that CUDA documents", function()
  local pipe = assert(io.popen(("'%s' ulps 1 5000"):format(checker())))
  local text = pipe:read "a"
  local ok = pipe:close()
  local _, rows = text:gsub("\n", "")
  assert(ok, "worse than documented:\n" .. text:gsub("[^\n]* good [^\n]*\n", ""))
  assert(rows > 120, rows .. " rows")
end)

harness.test("powers, roots and logarithms that are whole numbers are exact", function()
  local pipe = assert(io.popen(("'%s' exact"):format(checker())))
  local text = pipe:read "a"
  assert(pipe:close(), text)
end)

local words_in <const>, words_out <const> = 4, 3

--- Runs all functions' kernels; calls body(name, arguments, got, want), arrays of 64-bit words, for each.
local function each_function(options, count, body)
  local path = harness.folder() .. "/calls"
  output_of("'%s' calls 7 %d '%s'", checker(), count, path)
  local gpu = ww.build("gtx480"):gpu()
  local kernels = gpu:load { text = compile(core.home_path "tests/cuda/programs/libdevice_kernels.cu", options), name = "libdevice_kernels.ptx" }
  local words = core.file_array(path, "i64")
  local out = gpu:alloc(count * words_out * 8)
  local position = 0
  for name in output_of("'%s' names", check):gmatch "%S+" do
    local arguments = words:slice(position, count * words_in)
    local want = words:slice(position + count * words_in, count * words_out)
    position = position + count * (words_in + words_out)
    gpu:fill(out, 0, count * words_out * 8)
    local input = gpu:upload(arguments)
    gpu:launch(kernels[name], { grid = count // 32, block = 32, args = { input, out }, timed = false })
    gpu:free(input)
    body(name, arguments, gpu:download("i64", out, count * words_out), want)
  end
end

harness.test("kernels get the same bits as the functions of this computer, whatever the compiler may fuse", function()
  for _, options in ipairs { "", "-ffp-contract=off" } do
    local different, first = {}, {}
    each_function(options, 512, function(name, arguments, got, want)
      for i = 0, #got - 1 do
        if got[i] ~= want[i] and different[#different] ~= name then
          local of = i // words_out * words_in
          different[#different + 1] = name
          first[#first + 1] = ("\n%s of %016x %016x %016x: got %016x, expected %016x"):format(name, arguments[of],
            arguments[of + 1], arguments[of + 2], got[i], want[i])
        end
      end
    end)
    assert(#different == 0, ("%d functions differ with '%s':%s"):format(#different, options, table.concat(first)))
  end
end)

--- The number in a 64-bit word, when it is finite and neither zero nor subnormal.
local function normal(word, single)
  local value = single and string.unpack("<f", string.pack("<I4", word & 0xffffffff)) or string.unpack("<d", string.pack("<i8", word))
  local size = math.abs(value)
  return size >= (single and 0x1p-126 or 0x1p-1022) and size < math.huge and value or nil
end

-- Of these, with arguments, results and what is in between far from subnormals, the errors are small in any mode.
local smooth <const> = "sin cos tan exp exp2 exp10 expm1 log log2 log10 log1p sinh cosh tanh asinh acosh atanh asin acos atan atan2 "
  .. "erf erfc erfcx erfinv normcdf cbrt rcbrt sqrt rsqrt hypot rhypot sinpi cospi cyl_bessel_i0 cyl_bessel_i1 pow tgamma"

harness.test("-use_fast_math: what it lets the compiler do leaves the functions exact", function()
  local is_smooth, values, problems = {}, 0, {}
  for name in smooth:gmatch "%S+" do
    is_smooth[name], is_smooth[name .. "f"] = "double", "float"
  end
  each_function(fast, 256, function(name, arguments, got, want)
    local single = is_smooth[name] == "float"
    for i = 0, is_smooth[name] and #got - 1 or -1, words_out do
      local of = i // words_out * words_in
      local x, y = normal(arguments[of], single), arguments[of + 1] == 0 and 1 or normal(arguments[of + 1], single)
      local expected = normal(want[i], single)
      if x and y and expected and math.abs(x) < 1e30 and math.abs(x) > 1e-30 and math.abs(y) < 1e30 and math.abs(y) > 1e-30
        and math.abs(expected) > 1e-30 then
        local result = normal(got[i], single)
        values = values + 1
        if not result or math.abs(result / expected - 1) > (single and 2e-6 or 4e-15) then
          problems[#problems + 1] = ("%s of %a, %a: got %s, expected %s"):format(name, x, y, tostring(result), tostring(expected))
        end
      end
    end
  end)
  assert(values > 5000, values .. " values")
  assert(#problems == 0, #problems .. " differ:\n" .. table.concat(problems, "\n", 1, math.min(#problems, 40)))
end)

-- Options ------------------------------------------------------------------------------------------------------------

--- The PTX of a kernel with this statement, without comments.
local function ptx_of(type, declarations, statement, options)
  harness.write("statement.cu", ([[
#define DEVICE extern "C" __attribute__((device))
%s
extern "C" __attribute__((global)) void kernel(%s a, %s b, %s c, %s *out) { %s; }
]]):format(declarations, type, type, type, type, statement))
  return (compile(harness.folder() .. "/statement.cu", options):gsub("//[^\n]*", ""))
end

harness.test("intrinsics that name a rounding are neither fused nor approximated", function()
  for _, of in ipairs { { "float", "f", "f32" }, { "double", "d", "f64" } } do
    local type, letter, suffix = table.unpack(of)
    local names, declarations = {}, {}
    for _, name in ipairs { "add", "sub", "mul", "div" } do
      names[name] = "__nv_" .. letter .. name .. "_rn"
      declarations[#declarations + 1] = ("DEVICE %s %s(%s, %s);"):format(type, names[name], type, type)
    end
    declarations[#declarations + 1] = ("DEVICE %s __nv_%ssqrt_rn(%s);"):format(type, letter, type)
    for _, options in ipairs { "", fast } do
      local text = ptx_of(type, table.concat(declarations, "\n"), ("out[0] = %s(%s(a, b), c); out[1] = %s(%s(a, b), c); "
        .. "out[2] = %s(a, b); out[3] = __nv_%ssqrt_rn(a)"):format(names.add, names.mul, names.sub, names.mul, names.div, letter), options)
      local ftz = options == fast and letter == "f" and ".ftz" or ""
      harness.contains(text, "mul.rn" .. ftz .. "." .. suffix, "add.rn" .. ftz, "div.rn" .. ftz, "sqrt.rn" .. ftz)
      for _, other in ipairs { "fma", "approx", "full", "reflect" } do
        assert(not text:find(other, 1, true), other .. " in\n" .. text)
      end
    end
  end
end)

harness.test("float instructions flush subnormals where the program does, and only there", function()
  local function text(options)
    return ptx_of("float", "DEVICE float __nv_sqrtf(float); DEVICE float __nv_powf(float, float); DEVICE float __nv_fast_sinf(float);",
      "out[0] = __nv_sqrtf(a); out[1] = __nv_powf(a, b); out[2] = __nv_fast_sinf(c)", options)
  end
  local plain, flushing = text "", text(fast)
  assert(not plain:find("ftz", 1, true), "a flushing instruction")
  harness.contains(plain, "sqrt.rn.f32", "sin.approx.f32", "mul.rn.f32")
  harness.contains(flushing, "sqrt.approx.ftz.f32", "sin.approx.ftz.f32", "mul.rn.ftz.f32")
  for kept in flushing:gmatch "\n\t%a[%w.]*%.f32[^\n]*" do
    assert(kept:find("ftz", 1, true) or kept:find "mov" or kept:find "ld%." or kept:find "st%." or kept:find "selp" or kept:find "cvt"
      or kept:find "abs" or kept:find "neg" or kept:find "copysign", "no ftz:" .. kept)
  end
end)

harness.finish()
