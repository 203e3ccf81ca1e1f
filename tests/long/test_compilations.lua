-- Compilations by `warpwright nvcc` that take long: one program with many options; divisions of 128 bits, which are long functions.
local harness = require "tests.lib.harness"
local nvcc = require "tests.lib.nvcc"

harness.write("plain.c", "int devices(void) { return 1; }\n")
harness.write("other.cpp", "#include <cuda_runtime.h>\n#include <vector>\nint size() { return (int)std::vector<float4>(3).size(); }\n")
harness.write("mixed.cu", [[
#include <cstdio>
extern "C" int devices(void);
int size();
__global__ void empty() {}
int main() { empty<<<1, 1>>>(); printf("%d %d %d\n", devices(), size(), VALUE); }
]])

nvcc.test("-Xcompiler with standards of C, old C++, -flto and what clang does not know: .cu files have their own", function()
  for _, words in ipairs { "-ansi", "-std=gnu99", "-std=c++98", "-flto", "-flto=auto,-ffat-lto-objects", "-save-temps",
    "-floop-interchange,-fno-weak", "-finstrument-functions", "-fopenmp-simd,-fcf-protection,-fno-fast-math" } do
    local output = nvcc.passes(("nvcc -DVALUE=7 -Xcompiler '%s' -c mixed.cu plain.c && nvcc -Xcompiler -flto mixed.o plain.o other.cpp -o words && cuda words"):format(
      words))
    harness.contains(output, "1 3 7")
    assert(not output:find "error" and not output:find "warning: o", words .. ": " .. output)
  end
  harness.contains(select(2, nvcc.shell "nvcc -Xcompiler -fno-such-option -DVALUE=7 mixed.cu -o none"), "unrecognized command-line option")
end)

nvcc.test("integers of 128 bits are divided on the device, in several files, too", function()
  harness.write("wide.cu", [[
#include <cstdio>
#include <cstring>
typedef unsigned __int128 Wide;
struct Results {
    Wide quotient, rest, sixteenth;
    __int128 signed_quotient, signed_rest, tenth;
};
static __host__ __device__ Results divide(Wide a, Wide b) {
    __int128 c = (__int128)a, d = (__int128)b;
    return {a / b, a % b, a / 16, c / d, c % d, c / 10};
}
__global__ void NAME(const Wide *a, const Wide *b, Results *r) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    r[i] = divide(a[i], b[i]);
}
#ifdef MAIN
__global__ void other(const Wide *a, const Wide *b, Results *r);
int main() {
    enum { COUNT = 1024 };
    Wide *a, *b;
    Results *r;
    cudaMallocManaged(&a, COUNT * sizeof *a);
    cudaMallocManaged(&b, COUNT * sizeof *b);
    cudaMallocManaged(&r, COUNT * sizeof *r);
    unsigned long long state = 1;
    auto next = [&] { state = state * 6364136223846793005 + 1442695040888963407; return state ^ state >> 29; };
    auto wide = [&] { Wide high = next(); return high << 64 | next(); };
    for (int i = 0; i < COUNT; i++) {
        a[i] = i % 16 ? wide() >> next() % 128 : ~(Wide)0 << next() % 128;
        b[i] = i % 7 ? wide() >> next() % 128 : ~(Wide)0 >> next() % 128;
        if (!b[i]) b[i] = i % 5 ? 1 : ~(Wide)0;
        if (i % 11 == 0) a[i] = b[i] * (next() >> 56) - i % 2; /* about a multiple */
    }
    NAME<<<COUNT / 256, 128>>>(a, b, r);
    other<<<COUNT / 256, 128>>>(a + COUNT / 2, b + COUNT / 2, r + COUNT / 2);
    int differ = cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < COUNT; i++) {
        Results expected = divide(a[i], b[i]);
        differ += memcmp(&expected, &r[i], sizeof expected) != 0;
    }
    printf("%d differ\n", differ);
}
#endif
]])
  harness.write("wide_too.cu", '#define NAME other\n#include "wide.cu"\n')
  for _, options in ipairs { "-O2", "-G" } do
    harness.contains(nvcc.passes(("nvcc %s -rdc=true -c -DMAIN -DNAME=one wide.cu -o wide.o && nvcc %s -dc wide_too.cu && nvcc wide.o wide_too.o -o wide &&"
      .. " cuda wide"):format(options, options)), "0 differ\n")
  end
end)

harness.finish()
