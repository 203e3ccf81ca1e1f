-- The headers of CUDA: programs of tests/cuda/programs that clang compiles with them, and that check themselves.
local core = require "warpwright.core"
local cuda_programs = require "tests.lib.cuda_programs"
local harness = require "tests.lib.harness"

local checks = cuda_programs.checks

local function passes(name, architecture, least)
  return checks(name, cuda_programs.compile("headers_" .. name, architecture), least)
end

--- The output of a command, and whether it succeeded.
local function output_of(command, ...)
  local pipe = assert(io.popen(command:format(...) .. " 2>&1"))
  local text = pipe:read "a"
  return text, pipe:close()
end

--- The names in `text` that `pattern` captures, as a set.
local function names(text, pattern)
  local found = {}
  for name in text:gmatch(pattern) do found[name] = true end
  return found
end

-- What nvcc's programs call without a declaration, what has a name for each version, what cuda_runtime.h declares alone, and
-- what only NVIDIA's headers declare.
local undeclared = {
  libcuda = names([[
    cuTexRefSetAddress2D cuTexRefSetAddress2D_v2
    cuCtxCreate_v3 cuCtxCreate_v4 cuDeviceGetUuid_v2 cuEventElapsedTime_v2
    cuGetExportTable cuGetProcAddress_v2 cuGraphAddDependencies_v2 cuGraphAddKernelNode_v2
    cuGraphAddNode cuGraphAddNode_v2 cuGraphExecKernelNodeSetParams_v2 cuGraphExecNodeSetParams cuGraphExecUpdate_v2 cuGraphGetEdges_v2
    cuGraphInstantiateWithParams cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetParams_v2 cuGraphNodeGetDependencies_v2
    cuGraphNodeGetDependentNodes_v2 cuGraphNodeSetParams cuGraphRemoveDependencies_v2 cuMemGetDefaultMemPool cuMemGetMemPool cuMemSetMemPool
    cuStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph_ptsz cuStreamBeginCapture_ptsz cuStreamBeginCapture_v2_ptsz
    cuStreamGetCaptureInfo_v3 cuStreamUpdateCaptureDependencies_v2 cuStreamWaitEvent_ptsz
    cuStreamGetAttribute cuStreamGetCtx_v2 cuStreamGetDevice cuStreamSetAttribute]], "%S+"),
  libcudart = names([[
    cudaEventElapsedTime_v2 cudaFuncGetName cudaFuncGetParamInfo cudaGetDeviceProperties_v2
    cudaGetDriverEntryPointByVersion cudaGetKernel cudaGraphAddDependencies_v2 cudaGraphAddNode cudaGraphAddNode_v2 cudaGraphExecNodeSetParams
    cudaGraphGetEdges_v2 cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependentNodes_v2 cudaGraphNodeSetParams
    cudaGraphRemoveDependencies_v2
    cudaKernelSetAttributeForDevice cudaLibraryGetGlobal cudaLibraryGetKernel cudaLibraryLoadData cudaLibraryLoadFromFile cudaLibraryUnload
    cudaMemGetDefaultMemPool cudaMemGetMemPool cudaMemSetMemPool cudaStreamBeginCaptureToGraph
    cudaStreamBeginCaptureToGraph_ptsz cudaStreamBeginCapture_ptsz cudaStreamGetCaptureInfo_v3 cudaStreamUpdateCaptureDependencies_v2
    cudaStreamWaitEvent_ptsz cudaStreamGetDevice]], "%S+"),
}

for library, header in pairs { libcudart = "cuda_runtime_api.h", libcuda = "cuda.h" } do
  harness.test("what " .. library .. " has is what " .. header .. " declares", function()
    local folder, include = cuda_programs.libraries(), core.home_path "core/cuda/toolkit/include"
    local file = library == "libcuda" and "libcuda.so.1" or "libcudart.so.12"
    local exported = names(output_of("nm -D --defined-only '%s/%s'", folder, file), "%x+ T (cu[%w_]+)")
    local text = output_of("echo '#include <%s>' | cc -E -P -I '%s' -", header, include)
    local declared = names(text:gsub("typedef[^;]*;", ""), "[^%w_](cu[%w_]+) ?%(")
    local lists = harness.read(core.home_path(library == "libcuda" and "core/cuda/runtime/missing_driver.c" or "core/cuda/runtime/missing.c"))
    local missing, hints = names(lists, "MISSING%(([%w_]+)%)"), names(lists, "HINT%(([%w_]+)%)")
    local per_thread = names(harness.read(core.home_path "core/cuda/runtime/per_thread.txt"), "([%w_]+)")
    local count = 0
    for name in pairs(exported) do
      local plain = name:gsub("_v2$", "")
      assert(declared[name] or declared[plain] or declared[name .. "_v2"] or undeclared[library][name] or missing[name] or hints[name] or per_thread[name],
        name .. " is not declared")
      count = count + 1
    end
    for name in pairs(declared) do assert(exported[name], name .. " is declared, but not there") end
    assert(count > 90, count)
  end)
end

--- All headers that programs may include, in the order of their names.
local function all_includes()
  local include, lines = core.home_path "core/cuda/toolkit/include", {}
  local found = output_of("cd '%s' && ls *.h crt/*.h cooperative_groups/*.h nvtx3/*.h", include)
  for name in found:gmatch "%S+" do
    if name ~= "curand_mtgp32_kernel.h" and name ~= "crt/host_runtime.h" and name ~= "texture_indirect_functions.h" then
      lines[#lines + 1] = "#include <" .. name .. ">"
    end
  end
  assert(#lines > 55, #lines .. " headers")
  return table.concat(lines, "\n") .. "\n"
end

harness.test("all headers together, without a warning, by gcc, g++ and clang", function()
  local source, include = harness.write("all.txt", all_includes()), core.home_path "core/cuda/toolkit/include"
  for _, compiler in ipairs { "cc -x c -std=gnu11", "c++ -x c++ -std=gnu++98", "c++ -x c++ -std=c++17" } do
    harness.equal(output_of("%s -Wall -Wextra -fsyntax-only -I '%s' '%s'", compiler, include, source), "", compiler)
  end
  for _, options in ipairs { "--cuda-gpu-arch=sm_35 -std=c++11", "--cuda-gpu-arch=sm_86 -std=c++20" } do
    harness.equal(output_of("clang++-14 -x cuda --cuda-path='%s' %s -Wall -Wextra -fsyntax-only '%s'",
      cuda_programs.toolkit(), options, source), "", options)
  end
end)

harness.test("a program of both APIs in C, by the system's compiler", function()
  harness.contains(checks("host", cuda_programs.build "headers_host", 50), "a cluster of more than one CTA is not supported")
end)

harness.test("rows and volumes by the driver API", function() checks("copies", cuda_programs.build "headers_copies", 38) end)

harness.test("device functions: words, shuffles, atomics, caches, rounding, memory", function() passes("device", "sm_80", 13700) end)
harness.test("DPX: maxima, minima and predicates of words and of halves", function() passes("dpx", "sm_70", 152000) end)
harness.test("half and bfloat16, in float where the device has no instructions", function() passes("half", "sm_35", 120000) end)
harness.long_test("half and bfloat16 by the device's instructions", function() passes("half", "sm_80", 120000) end)

--- All numbers of a format by their codes, from its description; NaN for codes that are none.
local function numbers_of(exponent_bits, fraction_bits, bias, highest, infinity)
  local numbers, sign = {}, 1 << exponent_bits + fraction_bits
  for magnitude = 0, sign - 1 do
    local exponent, fraction = magnitude >> fraction_bits, (magnitude & (1 << fraction_bits) - 1) / (1 << fraction_bits)
    local number = exponent == 0 and fraction * 2.0 ^ (1 - bias) or (1 + fraction) * 2.0 ^ (exponent - bias)
    if magnitude > highest then number = magnitude == infinity and math.huge or 0 / 0 end
    numbers[magnitude], numbers[magnitude | sign] = number, -number
  end
  return { by_code = numbers, sign = sign, highest = highest, infinity = infinity, gap = 2.0 ^ -fraction_bits }
end

local formats <const> = { [0] = numbers_of(4, 3, 7, 0x7e), numbers_of(5, 2, 15, 0x7b, 0x7c), numbers_of(2, 1, 1, 7) }

--- The code of x: "nearest", with ties to even codes, or the largest towards "zero", "up" or "down". Beyond the largest number by half
--- a step and more, or as much where its code is odd, a number is too large: `overflow` is its code.
local function code_of(format, x, how, overflow)
  local sign = (x < 0 or 1 / x < 0) and format.sign or 0
  if how == "up" or how == "down" then how = (how == "up") == (sign == 0) and "away" or "zero" end
  local size, best, numbers = math.abs(x), 0, format.by_code
  for code = 1, format.highest do
    if numbers[code] <= size then best = code end
  end
  local low = numbers[best]
  local high = best < format.highest and numbers[best + 1] or 2 * low - numbers[best - 1]
  local is_up = low ~= size and (how == "away" or how == "nearest" and (size - low > high - size or size - low == high - size and best % 2 == 1))
  if is_up or size >= high then best = best + 1 end
  return sign | (best <= format.highest and best or overflow)
end

harness.test("numbers of 8 and 4 bits are those of their formats' description", function()
  local path = cuda_programs.compile("headers_small", "sm_80")
  local status, output = cuda_programs.run("gtx480", "--out", harness.folder() .. "/out", "--", path)
  harness.equal(status, 0, output)
  harness.contains(output, "small: 6413 checks, 0 failed")
  local decoded, encoded = 0, 0
  for index, code, bits, integer, half in output:gmatch "decoded (%d) (%d+) (%x+) (%-?%d+) (%x+)" do
    local format = formats[tonumber(index)]
    local expected = format.by_code[tonumber(code) % (2 * format.sign)]
    local real = string.unpack("<f", string.pack("<I4", tonumber(bits, 16)))
    local is_nan = expected ~= expected
    local place = ("format %s, code %s"):format(index, code)
    assert(is_nan and real ~= real or real == expected and 1 / real == 1 / expected, ("%s: %s, not %s"):format(place, real, expected))
    local whole = is_nan and 0 or math.max(-2 ^ 31, math.min(2 ^ 31 - 1, expected))
    harness.equal(tonumber(integer), whole < 0 and math.ceil(whole) or math.floor(whole), place)
    local half_bits = tonumber(half, 16)
    local exponent, fraction = half_bits >> 10 & 31, half_bits & 1023
    local size = exponent == 31 and (fraction == 0 and math.huge or 0 / 0) or exponent == 0 and fraction * 2.0 ^ -24 or (1024 + fraction) * 2.0 ^ (exponent - 25)
    assert(is_nan and size ~= size or size == math.abs(expected) and (half_bits >> 15 == 1) == (expected < 0 or 1 / expected < 0), place)
    decoded = decoded + 1
  end
  for bits, codes in output:gmatch "encoded (%x+)([ %d]+)" do
    local x = string.unpack("<f", string.pack("<I4", tonumber(bits, 16)))
    local expected = { code_of(formats[0], x, "nearest", 0x7f), code_of(formats[0], x, "nearest", 0x7e), code_of(formats[1], x, "nearest", 0x7c),
      code_of(formats[1], x, "nearest", 0x7b) }
    for _, how in ipairs { "nearest", "zero", "up", "down" } do expected[#expected + 1] = code_of(formats[2], x, how, 7) end
    if x ~= x then expected = { 127, 127, 127, 127, 7, 7, 7, 7 } end
    harness.equal(codes:match "%S.*%d", table.concat(expected, " "), ("%s (%s)"):format(bits, x))
    encoded = encoded + 1
  end
  harness.equal(decoded, 3 * 256)
  harness.equal(encoded, 2048)
end)

harness.test("cooperative groups, asynchronous copies, wmma", function()
  harness.contains(passes("groups", "sm_80", 2710), "a cluster of more than one CTA is not supported")
end)
harness.test("what lanes do together stays on its side of a branch", function()
  for _, level in ipairs { "-O1", "-O2", "-O3" } do checks("branches", cuda_programs.compile("headers_branches", "sm_80", level), 17) end
end)
harness.test("textures by references and objects", function() passes("textures", "sm_70", 1000) end)
harness.test("surfaces, volumes, layers and cubemaps", function() passes("surfaces", "sm_70", 320) end)
harness.test("graphs, capture, pools of memory", function() passes("graphs", "sm_70", 60) end)
harness.test("what CUDA 12 and 13 added: libraries, handles of kernels, nodes of any kind", function() passes("newer", "sm_70", 50) end)
harness.long_test("random numbers in kernels: published ones, skips, moments", function() passes("random", "sm_70", 1400) end)
harness.test("mathematics and intrinsics of the device in host code", function() passes("math", "sm_70", 3600) end)
local function needs_libcudacxx()
  if not os.execute "test -e /usr/include/cuda/std/tuple" then harness.skip "no libcu++: scripts/setup cuda" end
end

harness.test("libcu++: types, atomics, latches, semaphores, clocks", function()
  needs_libcudacxx()
  passes("std", "sm_70", 242)
end)
harness.long_test("nvstd::function; pointers with access properties", function()
  needs_libcudacxx()
  passes("functional", "sm_80", 94)
  passes("functional", "sm_70", 94)
end)
harness.long_test("what libcu++ had later: span, mdspan, optional, functional, structured bindings, cuda::ptx", function()
  needs_libcudacxx()
  passes("later", "sm_80", 71)
end)
harness.test("barriers and pipelines of cuda::, by the device's instructions and without", function()
  needs_libcudacxx()
  passes("barriers", "sm_80", 520)
  passes("barriers", "sm_70", 520)
end)

harness.finish()
