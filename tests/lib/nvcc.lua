-- What tests of `warpwright nvcc` share: scripts of the shell in the test's folder, in which $nvcc and $cuda are commands.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"

local nvcc = {}

local program <const> = core.real_path(arg[-1])

--- The folder that CMake and Makefiles take for CUDA's toolkit.
nvcc.toolkit = program:match "^(.*)/" .. "/share/warpwright/cuda"

--- Is there such a command?
function nvcc.has(command)
  local pipe = assert(io.popen("command -v " .. command))
  local found = pipe:read "l"
  pipe:close()
  return found ~= nil
end

local function where_compiled(body)
  return function()
    if not nvcc.has "clang++-14" then harness.skip "clang 14 is not installed (scripts/setup cuda)" end
    if not core.is_file(nvcc.toolkit .. "/bin/nvcc") then harness.skip "the toolkit is not built (scons cuda)" end
    body()
  end
end

--- A named test, skipped where clang or the toolkit is missing; and one of `scripts/test --long`.
function nvcc.test(name, body) harness.test(name, where_compiled(body)) end
function nvcc.long_test(name, body) harness.long_test(name, where_compiled(body)) end

--- Runs a script there. Returns its status and what it printed.
function nvcc.shell(script)
  local path = harness.write("script.sh", ([[
cd '%s' || exit 99
program='%s' toolkit='%s'
nvcc() { "$program" nvcc "$@"; }
cuda() { "$program" cuda gtx480 --set sms=2 --out "$1.out" -- "./$@"; }
%s]]):format(core.real_path(harness.folder()), program, nvcc.toolkit, script))
  local pipe = assert(io.popen(("sh '%s' 2>&1"):format(path)))
  local output = pipe:read "a"
  local _, _, status = pipe:close()
  return status or 0, output
end

--- The same of one that must succeed; returns what it printed.
function nvcc.passes(script)
  local status, output = nvcc.shell(script)
  harness.equal(status, 0, output)
  return output
end

--- A program of two files, first.cu and second.cu, with a function and a variable of the device in the second: it prints "10 310 32".
function nvcc.write_parts()
  harness.write("parts.h", "__device__ int helper(int);\nextern __device__ int counter;\nvoid read_counter(int *);\n")
  harness.write("first.cu", [[
#include "parts.h"
#include <cstdio>
__global__ void kernel(int *out) { out[threadIdx.x] = helper(threadIdx.x); atomicAdd(&counter, 1); }
int main() {
    int *d, h[32], n = 0;
    cudaMalloc(&d, sizeof h);
    kernel<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    read_counter(&n);
    printf("%d %d %d\n", h[1], h[31], n);
}
]])
  harness.write("second.cu", [[
#include "parts.h"
__device__ int counter;
static __device__ int factor() { return 10; }
__device__ int helper(int x) { return x * factor(); }
void read_counter(int *n) { cudaMemcpyFromSymbol(n, counter, sizeof *n); }
]])
end

return nvcc
