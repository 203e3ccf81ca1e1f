-- warpwright nvcc: what Makefiles ask of nvcc, and that what comes out runs.
local core = require "warpwright.core"
local harness = require "tests.lib.harness"
local nvcc = require "tests.lib.nvcc"

local nvcc_test, nvcc_long_test, shell, passes = nvcc.test, nvcc.long_test, nvcc.shell, nvcc.passes

-- Sources ---------------------------------------------------------------------------------------------------------------------------

harness.write("one.cu", [[
#include <cstdio>
__constant__ float scale = 2.0f;
__global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = sqrtf(x[i]) * scale; }
int main() {
    float *d, h[100];
    for (int i = 0; i < 100; i++) h[i] = (float)(i * i);
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    twice<<<4, 32>>>(d, 100);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    bool good = true;
    for (int i = 0; i < 100; i++) good = good && h[i] == 2.0f * i;
    printf("%s, %s\n", good ? "passed" : "failed", cudaGetErrorString(cudaGetLastError()));
    return !good;
}
]])
nvcc.write_parts()
harness.write("plain.c", "#include <cuda_runtime_api.h>\nint devices(void) { int n = 0; cudaGetDeviceCount(&n); return n; }\n")
harness.write("other.cpp", "#include <cuda_runtime.h>\n#include <vector>\nint size() { return (int)std::vector<float4>(3).size(); }\n")
harness.write("mixed.cu", [[
#include <cstdio>
extern "C" int devices(void);
int size();
__global__ void empty() {}
int main() { empty<<<1, 1>>>(); printf("%d %d %d\n", devices(), size(), VALUE); }
]])
harness.write("fault.cu", [[
__global__ void store(int *p) {
    int i = threadIdx.x;
    p[i * 100000000] = i;
}
int main() {
    int *d;
    cudaMalloc(&d, 64);
    store<<<1, 32>>>(d);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
}
]])

-- Tests -----------------------------------------------------------------------------------------------------------------------------

nvcc_test("a program compiles and runs; without a simulator it says how to be started", function()
  harness.contains(passes "nvcc -O3 -arch=sm_70 one.cu -o one && cuda one", "passed, no error")
  local _, output = shell "./one"
  harness.contains(output, "start the program with 'warpwright cuda MACHINE -- PROGRAM'")
end)

nvcc_long_test("C++20: pairs of any class are assigned, compared and in maps", function()
  harness.write("pairs.cu", [[
#include <compare>
#include <map>
#include <string>
struct Total { int of; Total() { of = 0; } };
struct Sorted { std::pair<int, std::string> key; auto operator<=>(const Sorted &) const = default; };
__global__ void nothing() {}
int main() {
    std::map<int, Total> totals;
    totals[3].of = 2;
    std::pair<int, std::string> a{1, "a"}, b{1, "b"};
    bool good = a < b && (b <=> a) > 0 && Sorted{a} < Sorted{b} && totals.size() == 1;
    b = a;
    return !(good && a == b);
}
]])
  passes "nvcc -std=c++20 pairs.cu -o pairs && ./pairs"
end)

nvcc_test("C++20: std::source_location names the caller, in files of clang and of g++", function()
  local source = [[
#include <cstdio>
#include <source_location>
static bool check(bool good, std::source_location at = std::source_location::current()) {
    std::printf("%s %s %u\n", at.file_name(), at.function_name(), at.line());
    return good;
}
static bool here() {
    return check(true);
}
int NAME() { return !(here() && std::source_location().line() == 0); }
]]
  harness.write("where.cu", source)
  harness.write("where_host.cpp", source)
  harness.write("where_main.cpp", "int of_clang(); int of_gcc(); int main() { return of_clang() + of_gcc(); }\n")
  local output = passes("nvcc -std=c++20 -c -DNAME=of_clang where.cu -o where.o && nvcc -std=c++20 -c -DNAME=of_gcc where_host.cpp -o where_host.o && " ..
    "nvcc where.o where_host.o where_main.cpp -o where && ./where")
  harness.contains(output, "where.cu here 8", "where_host.cpp bool here() 8")
end)

nvcc_test("launch bounds: one, two or three, of which the last is left out, also of templates with commas", function()
  harness.write("bounds.cu", [[
template <int A, int B> struct Size { static constexpr int threads = A * B; };
__global__ void __launch_bounds__(96) one() {}
__global__ void __launch_bounds__(128, 2u) two() {}
__global__ void __launch_bounds__(160, 3, 1) three() {}
__global__ void __launch_bounds__(Size<32, 6>::threads, 4) commas() {}
template <class S, int N> __global__ void __launch_bounds__(S::threads, N, 1) of() {}
template __global__ void of<Size<32, 7>, 5>();
]])
  passes "nvcc -ptx bounds.cu -o bounds.ptx"
  local text = harness.read(harness.folder() .. "/bounds.ptx")
  for threads, ctas in pairs { [96] = false, [128] = 2, [160] = 3, [192] = 4, [224] = 5 } do
    local after = text:match("%.maxntid " .. threads .. ", 1, 1%s*([^{]*){")
    assert(after, "no .maxntid " .. threads .. " in " .. text)
    harness.equal(after:match "%.minnctapersm (%d+)", ctas and tostring(ctas) or nil, "of " .. threads)
  end
end)

nvcc_test("constructors of global objects launch kernels, and destructors", function()
  harness.write("early.cu", [[
#include <cstdio>
__device__ int step = 3;
__global__ void count(int *p) { atomicAdd(p, step); }
__attribute__((constructor)) static void of_gcc() { std::puts("first"); }
struct Early {
    int *p, got = 0;
    Early() {
        int four = 4;
        cudaMallocManaged(&p, 4);
        cudaMemcpyToSymbol(step, &four, 4);
        run();
    }
    ~Early() {
        run();
        std::printf("%d at the end\n", got);
    }
    void run() {
        count<<<1, 32>>>(p);
        cudaDeviceSynchronize();
        got = *p;
    }
} early;
int main() { std::printf("%d at the start\n", early.got); }
]])
  for _, options in ipairs { "-O2", "-O0 -G" } do
    harness.contains(passes(("nvcc %s early.cu -o early && cuda early"):format(options)), "first", "128 at the start", "256 at the end")
  end
end)

nvcc_test("debug builds run: -O0, -g, -G", function()
  harness.contains(passes "nvcc -O0 -g -G one.cu -o one_debug && cuda one_debug", "passed, no error")
end)

nvcc_test("-lineinfo: faults in a header's function name the program's line, too", function()
  harness.write("count.cu", [[
__global__ void count(int *p) {
    int i = threadIdx.x;
    atomicAdd(p + i * 100000000, 1);
}
int main() {
    int *d;
    cudaMalloc(&d, 64);
    count<<<1, 32>>>(d);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress ? 0 : 1;
}
]])
  local output = passes "nvcc -lineinfo count.cu -o count && cuda count"
  assert(output:find "device_functions%.h:%d+, after [^ ]*count%.cu:3: access out of bounds", output)
end)

nvcc_test("-lineinfo and -G: faults name the line of CUDA", function()
  for _, option in ipairs { "-lineinfo", "-G" } do
    harness.contains(passes(("nvcc %s fault.cu -o fault && cuda fault"):format(option)), "fault.cu:3")
  end
end)

nvcc_test("relocatable device code: objects, a static library, a link step of its own, and both steps at once", function()
  passes "nvcc -dc first.cu second.cu && nvcc first.o second.o -o linked && ar rcs libsecond.a second.o"
  harness.contains(passes "cuda linked", "10 310 32")
  harness.contains(passes "nvcc first.o -L. -lsecond -o from_library && cuda from_library", "10 310 32")
  harness.contains(passes [[nvcc -dlink first.o second.o -o device.o && g++ first.o device.o second.o -o by_hand -L$toolkit/lib64 -lcudart &&
    cuda by_hand]], "10 310 32")
  harness.contains(passes "nvcc -rdc=true first.cu second.cu -o at_once && cuda at_once", "10 310 32")
end)

nvcc_test("relocatable device code: a static library of device functions alone", function()
  harness.write("calls.cu", [[
#include <cstdio>
__device__ int helper(int);
__global__ void kernel(int *out) { *out = helper(4); }
int main() { int *d, h; cudaMalloc(&d, 4); kernel<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); printf("%d\n", h); }
]])
  harness.write("helps.cu", "__device__ int helper(int x) { return 10 * x; }\n")
  passes "nvcc -dc calls.cu helps.cu && ar rcs libhelps.a helps.o"
  harness.contains(passes "nvcc calls.o -L. -lhelps -o by_name && cuda by_name", "40\n")
  harness.contains(passes "nvcc calls.o libhelps.a -o by_path && cuda by_path", "40\n")
  harness.contains(passes [[nvcc -dlink calls.o libhelps.a -o device.o && g++ calls.o device.o libhelps.a -o by_hand -L$toolkit/lib64 -lcudart &&
    cuda by_hand]], "40\n")
end)

nvcc_long_test("relocatable device code: static variables and kernels of the same names in two files", function()
  for i, name in ipairs { "here", "there" } do
    harness.write(name .. ".cu", ([[
#include <cstdio>
static __device__ int v[3] = {0, NUMBER}, single = NUMBER;
static __global__ void kernel(int *o) { *o = v[1] + single; v[1] += 5; single = 9; }
namespace { __global__ void other(int *o) { *o = v[1] * 10; } }
int NAME() {
    int *d, h[2], w[3], s;
    cudaMalloc(&d, 4);
    kernel<<<1, 1>>>(d);
    cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost);
    other<<<1, 1>>>(d);
    cudaMemcpy(h + 1, d, 4, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(w, v, sizeof w);
    cudaMemcpyFromSymbol(&s, single, sizeof s);
    printf("%d %d %d %d\n", h[0], h[1], w[1], s);
    return 0;
}
]]):gsub("NAME", name):gsub("NUMBER", tostring(i)))
  end
  harness.write("both.cpp", "int here();\nint there();\nint main() { return here() + there(); }\n")
  for _, options in ipairs { "", "-rdc=true", "-rdc=true -G" } do
    harness.contains(passes("nvcc " .. options .. " here.cu there.cu both.cpp -o both && cuda both"), "2 60 6 9\n4 70 7 9\n")
  end
  passes "nvcc -rdc=true -ptx here.cu && ! grep -q 'extern .global' here.ptx"
end)

harness.write("managed.h", [[
extern __managed__ int total;
extern __device__ __managed__ float table[8];
__device__ void add(int);
]])
harness.write("managed_uses.cu", [[
#include "managed.h"
#include <cstdio>
static __managed__ int own = 3;
__global__ void change(int *count) { add(own); *count += 1; table[1] = 0.5f; }
int main() {
    printf("%d %d %g\n", total, own, table[2]);
    total = 50;
    change<<<1, 1>>>(&own);
    cudaDeviceSynchronize();
    printf("%d %d %g %g\n", total, own, table[1], table[2]);
    int seven = 7;
    cudaMemcpyToSymbol(own, &seven, sizeof own);
    float nines[2] = {9, 9};
    cudaMemcpy(table + 4, nines, sizeof nines, cudaMemcpyHostToDevice);
    cudaMemset(&table[2], 0, sizeof table[2]);
    change<<<1, 1>>>(&own);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, table);
    printf("%d %d %g %g %d\n", total, own, table[2], table[5], attributes.type == cudaMemoryTypeManaged);
    cudaDeviceReset();
    printf("%d ", total);
    change<<<1, 1>>>(&own);
    printf("%d, %s\n", total, cudaGetErrorString(cudaGetLastError()));
}
]])
harness.write("managed_defines.cu", [[
#include "managed.h"
__managed__ int total = 42;
__managed__ float table[8] = {1, 2, 3};
__device__ void add(int count) { total += count; }
]])

nvcc_test("managed variables are the same for host and device, in one file and across files", function()
  local expected = "42 3 3\n53 4 0.5 3\n60 8 0 9 1\n42 45, no error\n"
  harness.write("managed_all.cu", '#include "managed_defines.cu"\n#include "managed_uses.cu"\n')
  harness.contains(passes "nvcc -rdc=true managed_uses.cu managed_defines.cu -o managed_parts && cuda managed_parts", expected)
  harness.contains(passes "nvcc managed_all.cu -o managed_all && cuda managed_all", expected)
end)

nvcc_test(".c goes to gcc, .cpp to g++, .cu to clang, and macros to all", function()
  harness.contains(passes "nvcc -DVALUE=7 plain.c other.cpp mixed.cu -o mixed && cuda mixed", "1 3 7")
end)

nvcc_test("the toolkit's bin/nvcc is the same, with its options in nvcc's spellings", function()
  harness.write("options.txt", "--generate-code=arch=compute_70,code=[compute_70,sm_70] -Xcompiler -Wall,-fno-inline\n--std c++14")
  harness.contains(passes [[
"$toolkit/bin/nvcc" @options.txt -O2 --compile --output-file one.o --use_fast_math -Wno-deprecated-gpu-targets one.cu
"$toolkit/bin/nvcc" -ccbin=g++ --cudart=static -lcudart_static -lrt one.o --output-file two && cuda two]], "passed, no error")
end)

nvcc_test("macros of the command line change no header, and dependencies name only files that stay", function()
  harness.write("macros.cu", [[
#include <cstdio>
__global__ void kernel(T *x) { x[threadIdx.x % N] = (T)a * TWICE(x[0]); }
int main() { printf("%d %s\n", N, NAME); }
]])
  local macros <const> = "-DN=16 -DT=float -Da=3 '-DTWICE(x)=(2*(x))' -D 'NAME=\"two words\"' -DSize -DP -UP -Dx0=1"
  harness.contains(passes("nvcc -MD -MP " .. macros .. " macros.cu -c -o macros.o && nvcc macros.o -o macros && cuda macros"), "16 two words")
  passes 'for file in $(sed "s/.*: //; s/[\\\\:]//g" macros.d); do test -f $file || exit 1; done; grep -q macros.cu macros.d'
  harness.contains(passes("nvcc -MM " .. macros .. " macros.cu"), "macros.o: macros.cu\n")
end)

nvcc_test("-default-stream per-thread: stream 0 can be captured", function()
  harness.write("own.cu", [[
#include <cstdio>
__global__ void add(int *x) { *x += 5; }
int main() {
    int *d, h = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaMalloc(&d, 4);
    cudaError_t begun = cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal);
    add<<<1, 1>>>(d);
    if (begun == cudaSuccess && cudaStreamEndCapture(0, &graph) == cudaSuccess && cudaGraphInstantiate(&exec, graph) == cudaSuccess)
        for (int i = 0; i < 3; i++) cudaGraphLaunch(exec, 0);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    printf("%s %d\n", cudaGetErrorName(begun), h);
}
]])
  harness.contains(passes "nvcc -default-stream per-thread own.cu -o own && cuda own", "cudaSuccess 15")
  harness.contains(passes "nvcc own.cu -o legacy && cuda legacy", "cudaErrorStreamCaptureUnsupported 5")
end)

nvcc_test("what gcc only warns of is no error: narrowing, register, literals behind macros, missing returns", function()
  harness.write("old.cu", [[
#include <cinttypes>
#include <cstdio>
__device__ int missing_return(int x) { if (x >= 0) return x; }
__global__ void kernel(int *x) { register int i = threadIdx.x; float f[1] = {i}; x[i] = missing_return((int)f[0]); }
int main() { int n = 1; dim3 grid = {n}; int *d; cudaMalloc(&d, 4); kernel<<<grid, 1>>>(d); std::printf("%"PRId64"\n", (int64_t)7); }
]])
  harness.contains(passes "nvcc old.cu -o old && cuda old", "7\n")
end)

nvcc_test("constant expressions of a million steps, folds of hundreds of terms, and gcc's options for such, are no error", function()
  harness.write("steps.cu", [[
#include <cstdio>
#include <utility>
constexpr int steps(int n) { for (int i = 0; i < n; i++) { ;;;;;;;;;;;;;;;;;;;; } return n; }
template <int... I> int sum(std::integer_sequence<int, I...>) { return (I + ...); }
int main() { static_assert(steps(55000) == 55000, ""); std::printf("%d\n", sum(std::make_integer_sequence<int, 400>())); }
]])
  harness.equal(passes "nvcc -Xcompiler -fconstexpr-ops-limit=9999999 steps.cu -o steps && ./steps", "79800\n")
end)

nvcc_test("constants of the device without __constant__ are in global memory, in several files, too", function()
  harness.write("tables.h", [[
extern __device__ const int device_table[]; extern __constant__ const int table[]; extern __constant__ int variable;
struct Class { static __device__ const int member[4]; };
template <int N> __device__ const int of_template[2] = {N, 2 * N};
]])
  harness.write("tables.cu", [[
#include "tables.h"
__device__ const int device_table[] = {1, 2, 3, 4};
__constant__ const int table[] = {10, 20, 30, 40};
__constant__ int variable = 100;
__device__ const int Class::member[4] = {1000, 2000, 3000, 4000};
]])
  harness.write("uses.cu", [[
#include "tables.h"
#include <cstdio>
__device__ const int large[20000] = {5, 5, 5, 5};
static __constant__ const int small[20] = {7};
__device__ const int *const pointers[] = {large + 1, device_table + 2};
struct Array { int v[4]; __host__ __device__ constexpr const int &operator[](int i) const { return v[i]; } };
constexpr Array both = {{10000, 20000, 30000, 40000}};
__global__ void kernel(int *out) {
    static const int local[4] = {100000, 200000, 300000, 400000};
    int i = threadIdx.x;
    const int *chosen = i > 1 ? local : both.v;
    out[i] = device_table[i] + table[i] + variable + Class::member[i] + of_template<3>[i & 1] + large[i] + small[i] + *pointers[i & 1] + both[i] + *chosen + local[i] + chosen[i] + device_table[2];
}
int main() {
    int *d, out[4], copied[4];
    cudaMalloc(&d, sizeof out);
    kernel<<<1, 4>>>(d);
    cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(copied, large, sizeof copied);
    std::printf("%d %d %d %d, %d\n", out[0], out[1], out[2], out[3], copied[3]);
}
]])
  harness.contains(passes "nvcc -rdc=true tables.cu uses.cu -o tables && cuda tables", "131134 252139 733149 944161, 5\n")
  local ptx = passes "nvcc -rdc=true -ptx uses.cu tables.cu && cat uses.ptx tables.ptx"
  local constants = {}
  for name in ptx:gmatch "%.const %.align %d+ %.%w+ ([%w_]+)" do constants[#constants + 1] = name end
  table.sort(constants)
  harness.equal(table.concat(constants, " "), "_ZL5small table table variable variable")
end)

nvcc_test("constants of the device of one name in two files: the program copies its own file's", function()
  for i, name in ipairs { "here", "there" } do
    harness.write(name .. "_constants.cu", ([[
#include <cstdio>
static __device__ const int table[3] = {NUMBER, 1};
__device__ const int other[3] = {10, NUMBER};
namespace { __device__ const float real[2] = {0, NUMBER}; }
static __global__ void kernel(int *o) { int i = threadIdx.x; *o = table[i] + other[i] + (int)real[i]; }
int NAME() {
    int *d, t[3] = {}, o[3] = {}, sum;
    float r[2] = {};
    cudaMalloc(&d, 4);
    cudaError_t first = cudaMemcpyFromSymbol(t, table, sizeof t), second = cudaMemcpyFromSymbol(o, other, sizeof o),
        third = cudaMemcpyFromSymbol(r, real, sizeof r);
    kernel<<<1, 1>>>(d);
    cudaMemcpy(&sum, d, 4, cudaMemcpyDeviceToHost);
    size_t bytes = 0;
    cudaGetSymbolSize(&bytes, table);
    std::printf("%d %d %g %d %zu %d%d%d\n", t[0], o[1], r[1], sum, bytes, first, second, third);
    return 0;
}
]]):gsub("NAME", name):gsub("NUMBER", tostring(i)))
  end
  harness.write("both.cpp", "int here();\nint there();\nint main() { return here() + there(); }\n")
  for _, options in ipairs { "", "-rdc=true" } do
    harness.contains(passes("nvcc " .. options .. " here_constants.cu there_constants.cu both.cpp -o constants && cuda constants"),
      "1 1 1 11 12 000\n2 2 2 12 12 000\n")
  end
end)

nvcc_test("atomics of 16 bits touch these alone, and sums of halves are one instruction where the device has it", function()
  harness.write("small_atomics.cu", [[
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void add(__half *half, __half2 *pair, __nv_bfloat16 *brain, unsigned short *word) {
    atomicAdd(half, __float2half(1));
    atomicAdd(pair, __floats2half2_rn(1, 2));
    atomicAdd(brain, __float2bfloat16(1));
    for (unsigned short seen = *word, old; (old = atomicCAS(word, seen, (unsigned short)(seen + 1))) != seen;) seen = old;
}
template <class T> T *one() { T *d; cudaMalloc(&d, sizeof(T)); cudaMemset(d, 0, sizeof(T)); return d; }
template <class T> T copy(const T *d) { T h; cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost); return h; }
int main() {
    auto half = one<__half>(); auto pair = one<__half2>(); auto brain = one<__nv_bfloat16>(); auto word = one<unsigned short>();
    add<<<2, 48>>>(half, pair, brain, word);
    __half2 both = copy(pair);
    std::printf("%g %g %g %g %d\n", __half2float(copy(half)), __low2float(both), __high2float(both), __bfloat162float(copy(brain)), copy(word));
}
]])
  for _, target in ipairs { "sm_70", "sm_80" } do
    local output = passes("nvcc -arch=" .. target .. [[ small_atomics.cu -o small_atomics &&
      "$program" cuda v100 --set sms=2 --memcheck --out small_atomics.out -- ./small_atomics &&
      nvcc -ptx -arch=sm_70 small_atomics.cu && grep -c 'atom.add.noftz.f16' small_atomics.ptx]])
    harness.contains(output, "96 96 192 96 96", "memcheck: 0 errors", "\n2\n")
  end
end)

nvcc_test("a variable that clang has left out, as no kernel uses it, is named", function()
  harness.write("unused.cu", [[
#include <cstdio>
__device__ const int table[3] = {1, 2, 3};
namespace { __constant__ int own; }
static __constant__ int kept;
__global__ void nothing() {}
int main() {
    int n = 1, h[3];
    nothing<<<1, 1>>>();
    for (int i = 0; i < 2; i++)
        std::printf("%d %d %d\n", cudaMemcpyFromSymbol(h, table, sizeof h), cudaMemcpyToSymbol(own, &n, 4), cudaMemcpyToSymbol(kept, &n, 4));
}
]])
  for _, options in ipairs { "", "-rdc=true" } do
    local output = passes(("nvcc %s unused.cu -o unused && cuda unused"):format(options))
    harness.contains(output, "13 13 0\n13 13 0\n")
    for _, name in ipairs { "_ZL5table", "_ZN12_GLOBAL__N_13ownE" } do
      harness.equal(select(2, output:gsub("warpwright: variable " .. name .. ": no kernel uses it", "")), 1, output)
    end
  end
end)

nvcc_test("what one lane sets and a shuffle hands to all may be uninitialised in the others", function()
  harness.write("leader.cu", [[
#include <cooperative_groups.h>
#include <cstdio>
__device__ int pass_on(int x) { return __shfl_sync(~0u, x, 0); }
__global__ void kernel(int *counters) {
    cooperative_groups::coalesced_group group = cooperative_groups::coalesced_threads();
    int base, other;
    if (group.thread_rank() == 0) base = atomicAdd(counters, group.size());
    counters[3 + threadIdx.x] = group.shfl(base, 0) + group.thread_rank();
    if (threadIdx.x % 32 == 0) other = atomicAdd(counters + 1, 1);
    atomicMax(counters + 2, pass_on(other));
}
int main() {
    int *d, h[67];
    cudaMalloc(&d, sizeof h);
    kernel<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d\n", h[0], h[1], h[2]);
    for (int i = 0; i < 64; i++)
        if (h[3 + i] % 32 != i % 32) printf("lane %d: %d\n", i, h[3 + i]);
}
]])
  harness.contains(passes "nvcc leader.cu -o leader && cuda leader", "64 2 1\nwarpwright: leader:")
end)

nvcc_test("every function that clang declares for the device has a body", function()
  local pipe = assert(io.popen "clang++-14 -print-resource-dir")
  local declarations = harness.read(pipe:read "l" .. "/include/__clang_cuda_math_forward_declares.h")
  pipe:close()
  local values <const> = { float = "f", double = "d", int = "i", long = "l", ["long long"] = "ll", ["float *"] = "&f", ["double *"] = "&d",
    ["int *"] = "&i", ["const char *"] = '""' }
  local calls = {}
  for result, name, parameters in declarations:gmatch "__DEVICE__ ([%w ]-) ([%w_]+)%(([^)]*)%);" do
    local words = {}
    for parameter in (parameters .. ","):gmatch " ?([^,]+)," do words[#words + 1] = values[parameter] or "0" end
    if not parameters:find "long double" then
      calls[#calls + 1] = ("%s%s(%s);"):format(result == "void" and "" or "*o++ = ", name, table.concat(words, ", "))
    end
  end
  assert(#calls > 140, #calls)
  harness.write("all.cu", ("__global__ void k(double *o, float f, double d, int i, long l, long long ll) {\n%s\n}\n"):format(table.concat(calls, "\n")))
  local _, report = shell 'nvcc -ptx all.cu && "$program" ptx all.ptx'
  harness.contains(report, "all.ptx")
  assert(not report:find "no body", report)
end)

nvcc_long_test("-Xcompiler: lists, words in quotes, and words that are for the host's code alone", function()
  local words <const> = [[-Xcompiler "-O3 -march=native" -Xcompiler ',"-Wall","-ffast-math"' -Xcompiler -DSEEN=1,-funroll-all-loops]]
  harness.write("words.cu", "__global__ void k(float *x) { x[0] = 1 / x[1]; }\nint main() { return SEEN - 1; }\n")
  local output = passes("nvcc --dryrun " .. words .. " words.cu && nvcc " .. words .. " words.cu -o words && cuda words && nvcc -ptx " .. words ..
    " words.cu && cat words.ptx")
  harness.contains(output, "-Xarch_host -O3 -Xarch_host -march=native -Wall -Xarch_host -ffast-math -funroll-all-loops", "rcp.rn.f32")
end)

nvcc_test("-Xcompiler with a level of optimisation, which clang takes for both sides alone", function()
  for _, level in ipairs { "-O1", "-O2", "-Os", "-Og" } do
    harness.contains(passes(("nvcc -Xcompiler %s,-DVALUE=7 plain.c other.cpp mixed.cu -o mixed && cuda mixed"):format(level)), "1 3 7")
  end
  harness.contains(passes "nvcc --dryrun -c -Xcompiler -Os other.cpp", "-Os")
end)

nvcc_test("-Xcompiler with words of gcc's alone, -Werror among them, compiles .cu files", function()
  harness.write("pedantic.cu", [[
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diag_suppress 177
#endif
class Kept { int unused = 0; };
int main() { return 0; }
]])
  local output = passes [[nvcc -Xcompiler -Wall,-Wextra,-Werror,-Werror=return-type,-fno-gnu-unique,-mfpmath=sse,-fno-tree-pre,-ftree-vectorizer-verbose=2,-fopt-info-vec pedantic.cu -c &&
    echo 'int main() { int unused; }' >strict.cpp && { nvcc -Xcompiler -Wall,-Werror -c strict.cpp || echo "status $?"; }]]
  assert(not output:find "unknown pragma", output)
  harness.contains(output, "-Werror=unused-variable", "status 1")
end)

nvcc_long_test("-Xcompiler with standards of C, old C++, -flto and what clang does not know: .cu files have their own", function()
  for _, words in ipairs { "-ansi", "-std=gnu99", "-std=c++98", "-flto", "-flto=auto,-ffat-lto-objects", "-save-temps",
    "-floop-interchange,-fno-weak", "-finstrument-functions", "-fopenmp-simd,-fcf-protection,-fno-fast-math" } do
    local output = passes(("nvcc -DVALUE=7 -Xcompiler '%s' -c mixed.cu plain.c && nvcc -Xcompiler -flto mixed.o plain.o other.cpp -o words && cuda words"):format(
      words))
    harness.contains(output, "1 3 7")
    assert(not output:find "error" and not output:find "warning: o", words .. ": " .. output)
  end
  harness.contains(select(2, shell "nvcc -Xcompiler -fno-such-option one.cu -o none"), "unrecognized command-line option")
end)

nvcc_test("-Xcompiler --coverage counts lines of files of gcc and g++, and says so", function()
  local output = passes [[nvcc -DVALUE=7 -Xcompiler --coverage -c mixed.cu plain.c other.cpp &&
    nvcc -Xcompiler --coverage mixed.o plain.o other.o -o covered && cuda covered && ls *.gcda]]
  harness.contains(output, "--coverage counts no lines of .cu files, which clang compiles", "1 3 7", "plain.gcda", "other.gcda")
  assert(not output:find("mixed.gcda", 1, true), output)
end)

nvcc_test("-keep and -keep-dir leave the PTX", function()
  passes "nvcc -c --keep --keep-dir kept/here one.cu && nvcc -ptx one.cu -o wanted.ptx && cmp kept/here/one.ptx wanted.ptx"
  passes "nvcc -save-temps -o one plain.c one.cu && cmp one.ptx wanted.ptx"
end)

nvcc_test("options with values of nvcc's own leave the files what they are", function()
  harness.contains(passes [[nvcc -Werror all-warnings --Werror=cross-execution-space-call -time times.csv -ftemplate-depth 800 -Ofc=mid --compress-mode=size \
    -no-compress -keep-device-functions -opt-info inline one.cu -o options && cuda options]], "passed, no error")
end)

nvcc_test("command lines as Makefiles and build tools have them are understood", function()
  for _, line in ipairs {
    "-arch=sm_80 -O3 -std=c++17 -Xcompiler -fopenmp -Xptxas -v,-O3 -maxrregcount=32 one.cu -o one",
    "--ptxas-options=-v,--allow-expensive-optimizations=true -lineinfo --expt-relaxed-constexpr --extended-lambda -c one.cu -o one.o",
    "-gencode=arch=compute_70,code=sm_70 -gencode arch=compute_80,code=lto_80 -dlto -Xfatbin -compress-all --fatbin-options=-compress-all -c one.cu",
    "-ccbin g++ -m64 -x cu -MD -MF one.d -MT one.o -dc one.cu -o one.o",
    "--relocatable-device-code=true --default-stream=per-thread --fmad=false -prec-div true --ftz=true -c one.cu",
    "-forward-unknown-to-host-compiler -fPIC -pthread -Wl,-rpath,. -Wl,--as-needed one.cu -o one",
    "--no-exceptions -nodlink --link -jump-table-density=101 -frandom-seed 1 --split-compile=0 --brief-diagnostics=true one.cu -o one",
    "-noprof --host-linker-script=use-lcs -ldir folder --target-directory x86_64-linux -idp x -dp=x --qpp-config c -ewp -minimal -c one.cu",
    "--device-stack-protector=true -fdevice-time-trace=t.json --entries kernel -Xcicc -O3 --Wext-lambda-captures-this -c one.cu",
    "-xcu -oone -I. -DN=3 one.cu",
    "--keep --keep-dir kept --resource-usage --threads 4 -arch=all-major -fatbin one.cu -o one.fatbin",
  } do
    harness.contains(passes("nvcc --dryrun " .. line), "#$ clang++-14 -x cuda")
  end
  harness.contains(passes "nvcc --dryrun -Wl,-rpath,. one.cu -o one", "cuda/bin/host_link -o one -Wl,-rpath,.")
  harness.contains(passes "nvcc -c plain.c && nvcc --archiver-binary /usr/bin/ar -lib plain.o -o libplain2.a && ls libplain2.a", "libplain2.a")
end)

nvcc_test("NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS stand around the arguments", function()
  local output = passes [[echo -O1 >flags.txt; NVCC_PREPEND_FLAGS='-DA=1 -DB="x y" -O3' NVCC_APPEND_FLAGS='-arch=sm_70 @flags.txt' nvcc --dryrun -DA=2 -c one.cu -D_C]]
  harness.contains(output, "--cuda-gpu-arch=sm_70", " -O1 ", "-D_C ")
  harness.write("around.cu", "static_assert(A == 2 && sizeof B == 4);\n")
  passes [[NVCC_PREPEND_FLAGS='-DA=1 -DB="x y"' NVCC_APPEND_FLAGS='-UB -DB=\"xyz\"' nvcc -w -DA=2 -c around.cu]]
end)

nvcc_test("a comma behind a backslash, or of -Wl, does not part the words for other compilers", function()
  local output = passes [[nvcc --dryrun -Xcompiler '-fsanitize=address\,undefined,-Wall' '-Xlinker=-z\,now' -Xcompiler -Wl,-rpath,/here one.cu -o one]]
  harness.contains(output, "link -o one -fsanitize=address,undefined -Wall -Wl,-rpath,/here ", " -Wl,-z,now ")
  harness.contains(passes "nvcc -Xcompiler -Wl,-rpath,/here one.cu -o one && readelf -d one", "/here:")
end)

nvcc_test("-extended-lambda, -expt-relaxed-constexpr and -G define what nvcc defines", function()
  harness.write("defined.cu", [[
#if defined(__CUDACC_EXTENDED_LAMBDA__) != WANTED || defined(__CUDACC_RELAXED_CONSTEXPR__) != WANTED || defined(__CUDACC_DEBUG__) != WANTED
#error "the macros of the options"
#endif
]])
  passes "nvcc -c -DWANTED=0 defined.cu && nvcc -c -DWANTED=1 --expt-extended-lambda --expt-relaxed-constexpr -G defined.cu"
end)

nvcc_test("functions of both sides may call intrinsics of the device", function()
  harness.write("sides.cu", [[
#include <cstdio>
#include <math_constants.h>
__host__ __device__ int sum_of(const unsigned *x) { return __popc(__ldg(x)) + (CUDART_INF_F > 1 ? 100 : 0); }
__global__ void kernel(const unsigned *x, int *sum) { *sum = sum_of(x); }
int main() {
    unsigned *x, h = 15;
    int *sum;
    cudaMallocManaged(&x, 4);
    cudaMallocManaged(&sum, 4);
    *x = 7;
    kernel<<<1, 1>>>(x, sum);
    cudaDeviceSynchronize();
    printf("%d %d\n", *sum, sum_of(&h));
}
]])
  harness.contains(passes "nvcc sides.cu -o sides && cuda sides", "103 104\n")
end)

nvcc_test("--list-gpu-arch and --list-gpu-code: what can be compiled for", function()
  harness.contains(passes "nvcc --list-gpu-arch", "compute_35\n", "compute_86\n")
  local codes = passes "nvcc --list-gpu-code"
  for _, code in ipairs { codes:match "%S+", codes:match "(%S+)%s*$" } do
    passes(("nvcc -arch=%s -ptx one.cu && grep -q 'target %s' one.ptx"):format(code, code))
  end
end)

nvcc_test("-Xcompiler -fopenmp: threads in files of clang and of g++", function()
  local sum <const> = [[
    int n = 0;
#pragma omp parallel num_threads(3) reduction(+ : n)
    n += omp_get_num_threads();
    return n;
]]
  harness.write("threads.cu", ('#include <cstdio>\n#include <omp.h>\nint other();\nint here() {%s}\n'):format(sum) ..
    '__global__ void k() {}\nint main() { k<<<1, 1>>>(); printf("%d %d\\n", here(), other()); }\n')
  harness.write("more.cpp", ("#include <omp.h>\nint other() {%s}\n"):format(sum))
  harness.contains(passes "nvcc -Xcompiler -fopenmp threads.cu more.cpp -o threads && cuda threads", "9 9")
  harness.contains(passes "nvcc -c -Xcompiler -fopenmp threads.cu more.cpp && nvcc threads.o more.o -o threads -lgomp && cuda threads", "9 9")
end)

nvcc_test("-ccbin: the compiler of .c and .cpp files, which links", function()
  harness.write("g++", '#!/bin/sh\necho "called with $*"\nexec /usr/bin/g++ "$@"\n')
  for _, value in ipairs { "compiler", "compiler/g++" } do
    local output = passes("mkdir -p compiler && cp g++ compiler && chmod +x compiler/g++ && nvcc -DVALUE=7 -ccbin " .. value .. " plain.c other.cpp mixed.cu -o mixed && cuda mixed")
    harness.contains(output, "called with -x c ", "called with -x c++ ", "called with -o mixed", "1 3 7")
  end
  for _, arguments in ipairs { "other.cpp -c", "-DVALUE=7 mixed.cu -o mixed" } do
    local status, output = shell("nvcc -ccbin g++-1.2 " .. arguments)
    harness.equal(status, 2, output)
    harness.contains(output, "nvcc: -ccbin: expected a compiler, or a folder with g++, got 'g++-1.2'")
  end
end)

nvcc_test("a shared library with kernels", function()
  harness.write("library.cu", 'extern "C" int work() { return 5; }\n__global__ void unused() {}\n')
  harness.write("user.cpp", '#include <cstdio>\nextern "C" int work();\nint main() { std::printf("%d\\n", work()); }\n')
  harness.contains(passes [[nvcc -shared -Xcompiler -fPIC library.cu -o liblibrary.so &&
    nvcc user.cpp -L. -llibrary -Xlinker -rpath,. -o user && cuda user]], "5")
end)

nvcc_test("libraries with kernels that a program loads, unloads and loads again", function()
  harness.write("plug.cu", [[
__global__ void bump(int *o) { *o = atomicAdd(&state, 1); }
extern "C" int plug() {
    int *d, h = -1;
    cudaMalloc(&d, 4);
    bump<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    return h;
}
]])
  harness.write("plain.cu", "__device__ int state = 10;\n#include \"plug.cu\"\n")
  harness.write("managed_plug.cu", "__managed__ int state = 20;\n#include \"plug.cu\"\n")
  harness.write("loads.cpp", [[
#include <cstdio>
#include <dlfcn.h>
int main() {
    for (int i = 0; i < 4; i++) {
        void *library = dlopen(i % 2 ? "./managed_plug.so" : "./plain.so", RTLD_NOW);
        int (*plug)() = (int (*)())dlsym(library, "plug");
        std::printf("%d ", plug());
        std::printf("%d ", plug());
        dlclose(library);
    }
}
]])
  harness.contains(passes [[for name in plain managed_plug; do nvcc -shared -Xcompiler -fPIC $name.cu -o $name.so || exit 1; done
    nvcc loads.cpp -o loads && cuda loads]], "10 11 20 21 10 11 22 23")
end)

nvcc_test("relocatable device code: static texture references of one name in two files are refused by name", function()
  for _, name in ipairs { "one", "two" } do
    harness.write("texture_" .. name .. ".cu", ([[
static texture<int, 1> table;
static __global__ void fetch(int *o) { *o = tex1Dfetch(table, 0); }
cudaError_t NAME(int *d) {
    cudaError_t error = cudaBindTexture(0, table, d, 4);
    if (!error) fetch<<<1, 1>>>(d);
    return error;
}
]]):gsub("NAME", name))
  end
  harness.write("textures.cu", [[
cudaError_t one(int *), two(int *);
int main() {
    int *d;
    cudaMalloc(&d, 4);
    cudaError_t first = one(d), second = two(d), expected = REFUSED ? cudaErrorInvalidTexture : cudaSuccess;
    return first != expected || second != expected || cudaDeviceSynchronize();
}
]])
  passes "nvcc -DREFUSED=0 texture_one.cu texture_two.cu textures.cu -o textures && cuda textures"
  harness.contains(passes "nvcc -DREFUSED=1 -rdc=true texture_one.cu texture_two.cu textures.cu -o textures && cuda textures",
    "texture reference _ZL5table: several files of a program with -rdc=true have a static one of this name; each needs a name of its own\n")
end)

nvcc_test("-ptx, -E, -M, -MD and -lib make what nvcc makes", function()
  passes "nvcc -ptx -arch=sm_70 one.cu && grep -q 'target sm_70' one.ptx && grep -q 'visible .entry' one.ptx"
  passes "nvcc -M one.cu | grep -q 'one.o: one.cu' && nvcc -E one.cu | grep -q twice"
  passes "nvcc -MD -MF one.d -c one.cu && grep -q one.cu one.d"
  harness.contains(passes "nvcc -lib plain.c -o libplain.a && nm libplain.a", "T devices")
end)

nvcc_test("files that are compiled and linked by one command have their rules for make written, too", function()
  harness.write("answer.h", "int devices(void);\n#ifdef LATER\n#error later\n#endif\n")
  harness.write("asks.cu", '#include "answer.h"\n__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); }\n')
  harness.write("answers.c", '#include "answer.h"\nint devices(void) { return 1; }\n')
  passes "nvcc -MD -MF both.mk asks.cu answers.c -DN=2 -o asks && cuda asks"
  local rules = passes "cat both.mk"
  for _, words in ipairs { "asks: \\\n", " asks.cu", "asks: answers.c", " answer.h", "cuda_runtime.h" } do harness.contains(rules, words) end
  assert(not rules:find("macros.h", 1, true) and not rules:find("empty.cu", 1, true), rules)
  passes "nvcc -MMD -MP -MT 'one two' asks.cu answers.c -o asks"
  local short = passes "cat asks.d"
  for _, words in ipairs { "one two: asks.cu", "one two: answers.c", "\nanswer.h:" } do harness.contains(short, words) end
  assert(not short:find("cuda_runtime.h", 1, true), short)
  local elsewhere <const> = "export XDG_CACHE_HOME=$PWD/" .. ("long/"):rep(20) .. " && "
  harness.equal(passes(elsewhere .. "nvcc -MMD -MP -MT 'one two' -c asks.cu -o asks.o && cat asks.d"), "one two: asks.cu answer.h\nasks.cu:\nanswer.h:\n")
  passes "nvcc -MMD asks.cu answers.c && grep 'asks.o: asks.cu' asks.d && grep 'answers.o: answers.c' answers.d"
  passes "nvcc -MMD -lib asks.cu answers.c -o libboth.a && grep 'libboth.a: answers.c' libboth.d"
end)

nvcc_test("architectures that clang 14 does not know are those that it does", function()
  passes "nvcc -arch=sm_20 -ptx one.cu && grep -q 'target sm_35' one.ptx"
  harness.contains(passes "nvcc -gencode arch=compute_90,code=sm_90 -ptx one.cu && grep 'target sm_86' one.ptx",
    "nvcc: sm_90 is compiled as sm_86, the highest that clang 14 knows")
end)

nvcc_test("PTX for newer devices than the capability runs, and is told once; other PTX is not", function()
  passes "nvcc -arch=sm_75 one.cu -o one && nvcc -gencode arch=compute_60,code=compute_60 -o sixty one.cu"
  local told <const> = "one, module 0: its PTX is for sm_75 and newer; the device says that it has 3.5, as a GPU that could not run it; --capability 7.5 says otherwise\n"
  local run <const> = "\"$program\" cuda gtx480 --set sms=2 --out one.out --capability "
  harness.contains(passes(run .. "3.5 -- ./one"), told, "passed, no error")
  for _, rest in ipairs { "7.5 -- ./one", "6.1 -- ./sixty" } do
    local output = passes(run .. rest)
    assert(not output:find("newer", 1, true), output)
  end
end)

nvcc_test("64 bits are rotated by amounts of any size, modulo 64, at each level", function()
  harness.write("rotations.cu", [[
#include <cstdint>
#include <cstdio>
__host__ __device__ uint64_t left(uint64_t x, uint32_t n) { return x << (n & 63) | x >> (-n & 63); }
__host__ __device__ uint64_t right(uint64_t x, uint64_t n) { return x >> (n & 63) | x << (-n & 63); }
__host__ __device__ uint64_t without(uint64_t n) { return ~(1ull << (n & 63)); }
__host__ __device__ uint64_t all(uint32_t t) {
    uint64_t x = (t + 1) * 0x9e3779b97f4a7c15ull;
    return left(x, t) ^ 3 * right(x, t * 5ull) ^ 5 * left(x, -t) ^ 7 * right(x, x) ^ 9 * without(x) ^ left(x, 13);
}
__global__ void rotate(uint64_t *out) { out[threadIdx.x] = all(threadIdx.x); }
int main() {
    uint64_t *d;
    int bad = 0;
    cudaMallocManaged(&d, 256 * sizeof *d);
    rotate<<<1, 256>>>(d);
    cudaDeviceSynchronize();
    for (int t = 0; t < 256; t++) bad += d[t] != all(t);
    printf("bad: %d\n", bad);
}
]])
  for _, options in ipairs { "-O0", "-O2", "-O2 -arch=sm_60 -rdc=true", "-G" } do
    harness.contains(passes(("nvcc %s rotations.cu -o rotations && cuda rotations"):format(options)), "bad: 0\n")
  end
  passes "nvcc -ptx -o - rotations.cu > stdout.ptx && nvcc -ptx -o file.ptx rotations.cu && cmp stdout.ptx file.ptx && grep -q 'amt2, %r[0-9]*, 63' file.ptx"
end)

nvcc_test("signed numbers are shifted by 31 and 15 into wider ones, and multiplied by such powers of two of either sign", function()
  harness.write("shifts.cu", [[
#include <cstdint>
#include <cstdio>
__host__ __device__ int64_t all(int32_t v, int16_t s) {
    return ((int64_t)v << 31) + 3 * ((int64_t)v * -0x80000000ll) + 5 * ((int64_t)v * 0x80000000ll) + 7 * ((int64_t)v << 30) +
           11 * (int64_t)((int32_t)s << 15) + 13 * (int64_t)((int32_t)s * -0x8000) + 17 * (int64_t)((uint64_t)(uint32_t)v << 31);
}
__global__ void shift(const int *in, const short *in16, int64_t *out) { out[threadIdx.x] = all(in[threadIdx.x], in16[threadIdx.x]); }
__global__ void only(const int *in, const short *in16, int64_t *out) {
    int v = in[threadIdx.x];
    short s = (short)(in16[threadIdx.x] + v % 3);
    out[threadIdx.x] = ((int64_t)v << 31) ^ ((int32_t)s << 15) ^ v % 7;
}
int main() {
    int *in, bad = 0;
    short *in16;
    int64_t *out;
    cudaMallocManaged(&in, 256), cudaMallocManaged(&in16, 128), cudaMallocManaged(&out, 1024);
    for (int i = 0; i < 64; i++) in[i] = (i - 30) * 1234567 * (i % 3), in16[i] = (i - 30) * 321;
    shift<<<1, 64>>>(in, in16, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) bad += out[i] != all(in[i], in16[i]);
    only<<<1, 64>>>(in, in16, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) bad += out[i] != (((int64_t)in[i] << 31) ^ ((int32_t)(short)(in16[i] + in[i] % 3) << 15) ^ in[i] % 7);
    printf("bad: %d\n", bad);
}
]])
  for _, options in ipairs { "-O0", "-O1", "-O2", "-O3 -arch=sm_60" } do
    harness.contains(passes(("nvcc %s shifts.cu -o shifts && cuda shifts"):format(options)), "bad: 0\n")
  end
end)

nvcc_test("the lower bits of a number of 64 bits that is shifted beyond them have its sign", function()
  harness.write("signs.cu", [[
#include <cstdint>
#include <cstdio>
__host__ __device__ void take(int64_t i, uint64_t *out) {
    out[0] = (i >> 63) & 0xff;
    out[1] = (i >> 60) & 0xffff;
    out[2] = (i >> 40) & 0xffffffff;
    out[3] = (uint64_t)i >> 60 & 0xff;
    out[4] = (i >> 33) & 0xff;
}
__global__ void sign(const int64_t *in, uint64_t *out) { take(in[threadIdx.x], out + 5 * threadIdx.x); }
__global__ void sign_alone(const int64_t *in, uint64_t *out) { out[threadIdx.x] = (in[threadIdx.x] >> 63) & 0xff; }
int main() {
    int64_t *in;
    uint64_t *out, wanted[5];
    int bad = 0;
    cudaMallocManaged(&in, 64 * 8), cudaMallocManaged(&out, 5 * 64 * 8);
    for (int i = 0; i < 64; i++) in[i] = (i - 20) * 0x9e3779b97f4a7cll;
    sign<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) {
        take(in[i], wanted);
        for (int k = 0; k < 5; k++) bad += out[5 * i + k] != wanted[k];
    }
    sign_alone<<<1, 64>>>(in, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 64; i++) bad += out[i] != (in[i] < 0 ? 0xff : 0);
    printf("bad: %d\n", bad);
}
]])
  for _, options in ipairs { "-O0", "-O1", "-O2", "-O3 -arch=sm_60" } do
    harness.contains(passes(("nvcc %s signs.cu -o signs && cuda signs"):format(options)), "bad: 0\n")
  end
end)

nvcc_test("alloca in kernels and in functions that they call is memory of the stack, which goes when the function returns", function()
  harness.write("alloca.cu", [[
#include <cstdio>
__device__ int total(int n, int step) {
    int *list = (int *)alloca(n * sizeof *list);
    for (int i = 0; i < n; i++) list[i] = i * step;
    if (step == 3) return list[n - 1];
    int sum = 0;
    for (int i = 0; i < n; i++) sum += list[n - 1 - i];
    return sum;
}
__global__ void totals(int *out, int n, int rounds) {
    char *kept = (char *)__builtin_alloca(16);
    kept[n & 15] = 7;
    int sum = 0;
    for (int i = 0; i < rounds; i++) sum += total(n + (threadIdx.x & 3), i);
    out[threadIdx.x] = sum + kept[n & 15];
}
int main() {
    int *d, bad = 0;
    cudaMallocManaged(&d, 256);
    totals<<<1, 64>>>(d, 32, 100);
    if (cudaDeviceSynchronize()) return 1;
    for (int t = 0; t < 64; t++) {
        int n = 32 + (t & 3), wanted = 7;
        for (int i = 0; i < 100; i++) wanted += i == 3 ? (n - 1) * 3 : n * (n - 1) / 2 * i;
        bad += wanted != d[t];
    }
    totals<<<1, 64>>>(d, 300, 2);
    printf("bad: %d, %s\n", bad, cudaGetErrorString(cudaDeviceSynchronize()));
}
]])
  for _, options in ipairs { "-lineinfo", "-g -lineinfo -O0" } do
    local output = passes(("nvcc %s alloca.cu -o alloca && cuda alloca"):format(options))
    harness.contains(output, "bad: 0, an illegal memory access")
    harness.contains(output, "alloca.cu:4: the stack of 1024 bytes per thread overflows")
  end
end)

nvcc_test("threadIdx, its like and their members have addresses", function()
  harness.write("addresses.cu", [[
#include <cstdio>
__device__ unsigned sum(const uint3 *p) { return p->x + 10 * p->y + 100 * p->z; }
__device__ unsigned product(const dim3 *a, const unsigned *b) { return a->y * *b; }
__global__ void add(unsigned *out) {
    const uint3 *place = &threadIdx;
    const unsigned *x = & threadIdx.x, *y;
    const dim3 *extent = &blockDim;
    unsigned other[3] = {threadIdx.y, 1000, 2};
    y = blockIdx.x ? &blockIdx.x : other + 1;
    out[blockIdx.x * 8 + threadIdx.y * 4 + *x] = sum(place) + sum(&blockIdx) + product(&gridDim, &blockDim.y) + *y + extent->x;
}
int main() {
    unsigned *d;
    cudaMallocManaged(&d, 64);
    add<<<dim3(2, 1), dim3(4, 2)>>>(d);
    cudaDeviceSynchronize();
    printf("%u %u\n", d[7], d[8]);
}
]])
  harness.contains(passes "nvcc -Werror=dangling addresses.cu -o addresses 2>&1 && cuda addresses", "1019 8\n")
  harness.contains(passes "nvcc -O0 addresses.cu -o addresses && cuda addresses", "1019 8\n")
end)

nvcc_test("C++20: lambdas of kernels are templates, with their sides before or behind the parameters", function()
  harness.write("lambdas.cu", [[
#include <concepts>
#include <cstdio>
#include <vector>
template <class F> __global__ void each(F f) { f(threadIdx.x, 2.5); }
int main() {
    int *d;
    cudaMallocManaged(&d, 128);
    each<<<1, 8>>>([d]<class T, class U> __device__(T i, U more) requires std::integral<T> { d[i] = i * more; });
    each<<<1, 8>>>([=] __device__ <class T>(T i, double) { d[i + 8] = i; });
    auto both = [d]<typename T = std::vector<int>, int N = 3> __host__ __device__ (int i, double x) mutable { d[i + 16] = N; };
    each<<<1, 8>>>(both);
    cudaDeviceSynchronize();
    both(8, 0);
    printf("%d %d %d %d\n", d[3], d[11], d[19], d[24]);
}
]])
  harness.contains(passes "nvcc -std=c++20 -extended-lambda lambdas.cu -o lambdas && cuda lambdas", "7 3 3 3\n")
end)

nvcc_test("a barrier of the grid in a launch that is not cooperative says so; another trap does not", function()
  harness.write("barrier.cu", [[
#include <cooperative_groups.h>
__global__ void meet(int traps) {
    if (traps) __trap();
    cooperative_groups::this_grid().sync();
}
int main(int count, char **) {
    int traps = count > 1;
    void *arguments[] = {&traps};
    if (traps) cudaLaunchCooperativeKernel((void *)meet, 2, 32, arguments);
    else meet<<<2, 32>>>(traps);
    return cudaDeviceSynchronize() != cudaErrorLaunchFailure;
}
]])
  local said <const> = "trap; the kernel is one for cooperative launches (in CUDA: cudaLaunchCooperativeKernel), and this is none, CTA"
  harness.contains(passes "nvcc -lineinfo barrier.cu -o barrier && cuda barrier", said)
  harness.contains(passes '"$program" cuda gtx480 --set sms=2 --out barrier.out -- ./barrier again', ": trap, CTA")
end)

nvcc_test("__CUDA_ARCH_LIST__ is the architecture that is compiled, on both sides", function()
  harness.write("list.cu", [[
constexpr int list[] = {__CUDA_ARCH_LIST__};
#ifdef __CUDA_ARCH__
static_assert(list[0] == __CUDA_ARCH__);
#endif
static_assert(list[0] == 700 && sizeof list == sizeof(int));
]])
  passes "nvcc -gencode arch=compute_60,code=sm_60 -gencode arch=compute_70,code=sm_70 -c list.cu"
end)

nvcc_test("a device function without a body is an error of the compilation, which says what may help", function()
  harness.write("lacking.cu", "__device__ int other(int);\n__global__ void k(int *x) { *x = other(1); }\nint main() {}\n")
  local status, output = shell "nvcc lacking.cu -o lacking"
  harness.equal(status, 1, output)
  harness.contains(output, "error: device function 'other(int)' has no body; with -rdc=true it may have one in another file")
  passes "nvcc -rdc=true -c lacking.cu && nvcc -ptx lacking.cu"
  harness.write("pure.cu", [[
struct Base { __device__ virtual int f() = 0; };
struct Derived : Base { __device__ int f() override { return 7; } };
__global__ void k(int *x) { Derived d; Base *b = &d; *x = b->f(); }
int main() { int *d, h; cudaMalloc(&d, 4); k<<<1, 1>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); return h - 7; }
]])
  passes "nvcc -O0 pure.cu -o pure && cuda pure"
end)

nvcc_test("virtual functions of an object that the host made: the call is a fault that says so", function()
  harness.write("virtual.cu", [[
#include <cstdio>
struct Base { int value; __host__ __device__ virtual int get() { return value; } };
struct Derived : Base { __host__ __device__ int get() override { return value * 2; } };
__global__ void call(Base *object, int *out) { if (object) *out = object->get(); }
int main() {
    Derived made, *object;
    cudaMalloc(&object, sizeof made);
    cudaMemcpy(object, &made, sizeof made, cudaMemcpyHostToDevice);
    call<<<1, 1>>>(nullptr, &object->value);
    printf("uncalled: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    call<<<1, 1>>>(object, &object->value);
    printf("called: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
]])
  harness.contains(passes "nvcc virtual.cu -o virtual && cuda virtual", "uncalled: cudaSuccess\ncalled: cudaErrorIllegalAddress\n",
    ": maybe a pointer of the host, or to the virtual functions of an object that the host made; in ld.u64")
end)

nvcc_test("a call of a function of the host by its address is a fault that says so", function()
  harness.write("pointer.cu", [[
__global__ void call(int (*function)(int), int *out) { *out = function(3); }
int of_host(int x) { return x; }
int main() {
    int *out;
    cudaMalloc(&out, sizeof *out);
    call<<<1, 1>>>(of_host, out);
    return cudaDeviceSynchronize() != cudaErrorInvalidPc;
}
]])
  harness.contains(passes "nvcc pointer.cu -o pointer && cuda pointer", "which is not a callable function: maybe a pointer of the host, CTA (0, 0, 0)")
end)

nvcc_test("old C++ is compiled as C++ 11", function()
  harness.contains(passes "nvcc -std=c++03 one.cu -o one_old && cuda one_old", "-std=c++03 is compiled as c++11", "passed, no error")
end)

nvcc_test("C++ 23 by its name, which clang 14 does not know yet, for all compilers", function()
  harness.write("newer.cu", [[
#include <vector_functions.hpp>
__host__ __device__ constexpr int side() { if consteval { return 1; } else { return 2; } }
__global__ void kernel(int *x) { *x = side(); }
static_assert(side() == 1 && sizeof(0uz) == sizeof(size_t));
]])
  harness.write("newer_host.cpp", "#include <vector_functions.hpp>\n#include <expected>\nstd::expected<int4, int> x = make_int4(0, 1, 2, 3);\n")
  local output = passes "nvcc -std=c++23 -c newer.cu newer_host.cpp && nvcc --std gnu++23 -c newer.cu && nvcc -Xcompiler -std=c++23 -c newer.cu newer_host.cpp"
  assert(not output:find "warning", output)
end)

nvcc_test("errors are the compiler's, with its status, and leave no file", function()
  harness.write("wrong.cu", "__global__ void k() { undeclared(); }\n")
  local status, output = shell "nvcc -c wrong.cu -o wrong.o"
  harness.equal(status, 1, output)
  harness.contains(output, "wrong.cu:1:", "undeclared")
  assert(not core.is_file(harness.folder() .. "/wrong.o"), "an object is left")
  status, output = shell "nvcc -c nowhere.cu"
  harness.equal(status, 1, output)
  harness.contains(output, "no such file or directory: 'nowhere.cu'")
end)

nvcc_test("more constants and static shared memory than GPUs have are errors of the compilation", function()
  harness.write("large.cu", [[
__constant__ float table[SIZE];
__global__ void k(float *x, int n) {
    __shared__ double tile[SIZE / 4 - 1];
    __shared__ char more[SIZE];
    tile[n] = more[n] = x[n];
    __syncthreads();
    *x = tile[0] + more[1] + table[n];
}
int main() {}
]])
  passes "nvcc -DSIZE=16384 large.cu -o large"
  local status, output = shell "nvcc -DSIZE=16388 large.cu -o large"
  harness.equal(status, 1, output)
  harness.contains(output, "error: kernel k(float*, int): static shared memory: expected up to 49152 bytes, got 49156; dynamic",
    "error: constants: expected up to 65536 bytes, got 65552\n")
end)

nvcc_test("alignas behind __shared__, __device__ and __constant__, which clang refuses as it stands", function()
  harness.write("aligned.h", [[
struct alignas(32) Pair { float a, b; };
static __device__ __forceinline__ unsigned offset() {
    __shared__ char odd;
    __shared__ alignas(Pair) unsigned char room[sizeof(Pair)];
    odd = room[0] = 1;
    return (unsigned)__cvta_generic_to_shared(room) % 32 + odd + room[0] - 2;
}
]])
  harness.write("aligned.cu", [[
#include <cstdio>
#include "aligned.h"
__device__ alignas(16) char table[3];
__constant__ alignas(256) char constants[3];
extern __shared__ alignas(128) unsigned char pool[];
__global__ void offsets(unsigned *to) {
    __shared__ char odd;
    __shared__ alignas(alignof(float4)) float tile[4][4];
    odd = 1;
    tile[odd][0] = 2;
    to[0] = (unsigned)((unsigned long long)table % 16) + (unsigned)((unsigned long long)constants % 256) + offset();
    to[1] = (unsigned)__cvta_generic_to_shared(tile) % 16 + (unsigned)__cvta_generic_to_shared(pool) % 128;
    to[2] = (unsigned)tile[odd][0] + LINE - __LINE__;
}
int main() {
    unsigned *to;
    cudaMallocManaged(&to, 12);
    offsets<<<1, 1, 256>>>(to);
    int problem = cudaDeviceSynchronize();
    printf("%d: %u %u %u\n", problem, to[0], to[1], to[2]);
}
]])
  harness.contains(passes "nvcc -DLINE=13 -MD aligned.cu -c && nvcc aligned.o -o aligned && cuda aligned", "0: 0 0 2\n")
  harness.contains(harness.read(harness.folder() .. "/aligned.d"), "aligned.h")
  local status, output = shell "sed 's/odd = 1;/odd = nothing;/' aligned.cu > wrong.cu; nvcc -DLINE=13 -c wrong.cu"
  harness.equal(status, 1, output)
  harness.contains(output, "wrong.cu:9:11: error: use of undeclared identifier 'nothing'")
  assert(not output:find "attribute list", output)
end)

nvcc_test("a header of a library that is not here is named as such", function()
  harness.write("foreign.cu", '#include <curand_kernel.h>\n#include <curand.h>\n#  include "cublas_v2.h"\n#include <cmath>\n')
  local status, output = shell "nvcc -c foreign.cu -o foreign.o"
  harness.equal(status, 1, output)
  for _, header in ipairs { "curand.h", "cublas_v2.h" } do
    harness.contains(output, ("foreign.cu: %s: this library of NVIDIA's is not part of Warpwright"):format(header))
  end
  assert(not output:find "cmath: this" and not output:find "curand_kernel.h: this", output)
end)

nvcc_test("names of headers that CUDA has beside those of its documentation, for clang and g++", function()
  local lines = {}
  for name in ([[device_functions device_double_functions math_functions sm_30_intrinsics sm_32_intrinsics texture_fetch_functions
    texture_indirect_functions surface_functions surface_indirect_functions vector_functions]]):gmatch "%S+" do
    lines[#lines + 1] = ("#include <%s.hpp>\n"):format(name)
  end
  local text <const> = table.concat(lines) .. "int4 made() { return make_int4(1, 2, 3, 4); }\n"
  harness.write("names.cu", text .. "__global__ void k(double *x) { *x = sinpi(__hiloint2double(__popc(1), 2)); }\n")
  harness.write("names_host.cpp", text)
  passes "nvcc -c names.cu names_host.cpp"
end)

nvcc_test("a header of NVIDIA's samples, or of graphics, is named as such where it is not found", function()
  harness.write("sample.cu", '#include <helper_cuda.h>\n#include <cuda_gl_interop.h>\n#include <cudaTypedefs.h>\n')
  local _, output = shell "nvcc -c sample.cu"
  harness.contains(output, "sample.cu: helper_cuda.h: it is of NVIDIA's samples, not of its toolkit; -I names the folder where it is\n",
    "sample.cu: cuda_gl_interop.h: there is no graphics to share memory with\n",
    "sample.cu: cudaTypedefs.h: no simulated machine has tensor maps; of other functions decltype(&cuInit) is such a type\n")
  core.make_folder(harness.folder() .. "/Common")
  harness.write("Common/helper_cuda.h", "")
  _, output = shell "nvcc -I Common -c sample.cu"
  assert(not output:find("samples", 1, true), output)
end)

nvcc_long_test("shared objects whose constructors do something are left as they are, without them", function()
  harness.write("objects.h", [[
struct Complex { float x, y; __host__ __device__ Complex(float a = 0, float b = 0) : x(a), y(b) {} };
struct Point { float v[3]; __host__ __device__ Point() : v{0, 0, 0} {} __host__ __device__ ~Point() { v[0] = 0; } };
template <class T, int N> __device__ T opposite(T value, int i) {
    __shared__ T rows[2][N + 1]; __shared__ alignas(32) T first;
    rows[i % 2][i] = value;
    if (i == 0) first = value;
    __syncthreads();
    int other = N - 1 - i;
    return other ? rows[other % 2][other] : first;
}
]])
  harness.write("objects.cu", [[
#include <cstdio>
#include "objects.h"
__global__ void reverse(Complex *to, unsigned *sizes) {
    static __shared__ Point points[32];
    __shared__ __align__(16) Complex single;
    points[threadIdx.x].v[0] = threadIdx.x;
    single.x = 1;
    to[threadIdx.x] = opposite<Complex, 32>(Complex(threadIdx.x, 2.0f * points[threadIdx.x].v[0]), threadIdx.x);
    sizes[0] = (unsigned)(sizeof(points) / sizeof(points[0]) + (unsigned)__cvta_generic_to_shared(&single) % 16);
}
int main() {
    Complex *to;
    unsigned *sizes;
    cudaMallocManaged(&to, 32 * sizeof *to);
    cudaMallocManaged(&sizes, 4);
    reverse<<<1, 32>>>(to, sizes);
    int problem = cudaDeviceSynchronize(), good = 0;
    for (int i = 0; i < 32; i++) good += to[i].x == 31 - i && to[i].y == 2 * (31 - i);
    printf("%d: %d %u\n", problem, good, sizes[0]);
}
]])
  harness.contains(passes "nvcc -g objects.cu -o objects && cuda objects", "0: 32 32\n")
  local status, output = shell "sed 's/\\[2\\]\\[N + 1\\];/[2][N + 1] = {};/' objects.h > wrong.h; sed 's/objects.h/wrong.h/' objects.cu > wrong.cu; nvcc -c wrong.cu"
  harness.equal(status, 1, output)
  harness.contains(output, "wrong.h:4:", "error: initialization is not supported for __shared__ variables",
    "nvcc: ./wrong.h:4: 'rows' is shared: expected no initializer")
end)

nvcc_long_test("device code deduces template arguments by guides, the standard library's and the program's", function()
  harness.write("guides.cu", [[
#include <array>
#include <cstdio>
#include <utility>
template <class... Ts> struct overloaded : Ts... { using Ts::operator()...; };
template <class... Ts> overloaded(Ts...) -> overloaded<Ts...>;
__global__ void deduce(int *to) {
    auto twice = overloaded{[](int x) { return 2 * x; }, [](float x) { return (int)(2 * x); }};
    std::array numbers{1, 2, 3};
    std::pair pair{4, 2.5f};
    to[0] = twice(numbers[1]) * 100 + twice(pair.second) * 10 + pair.first;
}
int main() {
    int *to;
    cudaMallocManaged(&to, 4);
    deduce<<<1, 1>>>(to);
    cudaDeviceSynchronize();
    printf("deduced %d\n", to[0]);
}
]])
  harness.contains(passes "nvcc guides.cu -o guides && cuda guides", "deduced 454\n")
  local status, output = shell "sed 's/std::pair pair/std::pair pair{1}, other/' guides.cu > wrong.cu; nvcc -c wrong.cu"
  harness.equal(status, 1, output)
  harness.contains(output, "wrong.cu:9:15: error: no viable constructor or deduction guide")
end)

nvcc_test("registers of PTX have one % or two in inline assembly with operands", function()
  harness.write("registers.cu", [[
#include <cstdio>
#define READ(name, to) asm volatile("mov.u32 %0, %" #name ";" : "=r"(to))
__device__ __forceinline__ unsigned lane() {
    unsigned result;
    asm("mov.u32 %0, %laneid;" : "=r"(result));
    return result;
}
template <class T> __device__ T two(T value) {
    T a, b;
    asm("{ .reg .u32 %t; mov.u32 %t, %ntid.x; add.u32 %0, %2, %t;\n\t" "mov.u32 %1, %%tid.x; }" : "=r"(a), "=r"(b) : "r"(value));
    return a * 100 + b;
}
__global__ void kernel(unsigned *to) {
    unsigned below, clock;
    READ(lanemask_lt, below);
    asm volatile("mov.u32 %[x], %clock;" : [x] "=r"(clock));
    if (threadIdx.x == 37) to[0] = lane(), to[1] = two(3u), to[2] = below, to[3] = clock > 0, to[4] = __LINE__;
}
int main() {
    unsigned *to;
    cudaMallocManaged(&to, 20);
    kernel<<<1, 64>>>(to);
    int problem = cudaDeviceSynchronize();
    printf("%d: %u %u %u %u %u\n", problem, to[0], to[1], to[2], to[3], to[4]);
}
]])
  harness.contains(passes "nvcc registers.cu -o registers && cuda registers", "0: 5 6737 31 1 17\n")
  local status, output = shell "sed 's/%2, %t/%7, %t/' registers.cu > wrong.cu; nvcc -c wrong.cu"
  harness.equal(status, 1, output)
  harness.contains(output, "wrong.cu:10:", "error: invalid operand number in inline asm string")
end)

nvcc_test("#pragma unroll of what is not positive is ignored", function()
  harness.write("unroll.cu", [[
#include <cstdio>
#define TRIPS 6
template <int N> __global__ void kernel(int *to) {
    int sum = 0;
#pragma unroll N / 4
    for (int i = 0; i < TRIPS; i++) sum += i;
#pragma unroll(N - 1)
    for (int i = 0; i < TRIPS; i++) sum += i;
#pragma unroll -1
    for (int i = 0; i < TRIPS; i++) sum += i;
    to[0] += sum;
}
int main() {
    int *to;
    cudaMallocManaged(&to, 4);
    kernel<0><<<1, 1>>>(to);
    kernel<1><<<1, 1>>>(to);
    kernel<8><<<1, 1>>>(to);
    int problem = cudaDeviceSynchronize();
    printf("%d: %d\n", problem, to[0]);
}
]])
  harness.contains(passes "nvcc unroll.cu -o unroll && cuda unroll", "0: 135\n")
end)

nvcc_test("#pragma unroll in front of what is no loop is ignored", function()
  harness.write("stray.cu", [[
#include <cstdio>
#define COUNT 4
template <int N> __global__ void add(int *x, int n) {
#pragma unroll
    int sum = 0;
#pragma unroll COUNT
    for (int i = 0; i < n; i++) sum += i;
#pragma unroll N
    if (n > 3) sum += 100;
    _Pragma("unroll") { for (int i = 0; i < N; i++) sum++; }
    #pragma unroll (N)

    // a remark
    *x = sum;
}
int main() {
    int *x, sum;
    cudaMalloc(&x, sizeof *x);
    add<3><<<1, 1>>>(x, 5);
    cudaMemcpy(&sum, x, sizeof sum, cudaMemcpyDeviceToHost);
    std::printf("%d\n", sum);
}
]])
  harness.contains(passes "nvcc stray.cu -o stray && cuda stray", "113\n")
end)

nvcc_test("#pragma unroll names macros, as they are where it stands, in files that clang refuses as they are, too", function()
  harness.write("unrolled.cu", [[
#define TRIPS 8
#define HALF(n) \
    ((n) / 2)
extern __shared__ alignas(16) float row[];
template <int N> __global__ void kernel(int n) {
#pragma unroll TRIPS
    for (int i = 0; i < n; i++) row[i * 2] *= 1.5f;
#undef TRIPS
#define TRIPS (N)
#  pragma unroll(HALF(TRIPS))
    for (int i = 0; i < n; i++) row[i * 2] += 2.5f;
    _Pragma("unroll TRIPS / 4") for (int i = 0; i < n; i++) row[i * 2] *= 3.5f;
}
template __global__ void kernel<8>(int);
]])
  passes "nvcc -ptx unrolled.cu"
  local ptx = harness.read(harness.folder() .. "/unrolled.ptx")
  local bodies = {}
  for i, constant in ipairs { "0f3FC00000", "0f40200000", "0f40600000" } do bodies[i] = select(2, ptx:gsub(constant, "")) end
  harness.equal(table.concat(bodies, " "), "9 5 3") -- one of each for what is left
end)

nvcc_test("threadIdx and its like are copied, to auto and to parameters of templates", function()
  harness.write("copied.cu", [[
#include <cstdio>
template <class T> __device__ unsigned first(T index) { return index.x; }
template <class T, class U> __device__ unsigned linear(T index, U size) { T same = index; return same.y * size.x + same.x; }
__device__ void grow(uint3 &index) { index.x += 100; }
__global__ void kernel(unsigned *to) {
    auto thread = threadIdx;
    const auto size(blockDim);
    auto const x = threadIdx.x;
    auto block = blockIdx, blocks = blockIdx;
    grow(thread);
    dim3 all = size;
    if (block.x == 1 && linear(threadIdx, size) == 7)
        to[0] = thread.x, to[1] = first(blockDim), to[2] = x + all.y * 10, to[3] = first(blocks) + first(gridDim) * 10;
}
int main() {
    unsigned *to;
    cudaMallocManaged(&to, 16);
    kernel<<<2, dim3(5, 2)>>>(to);
    int problem = cudaDeviceSynchronize();
    printf("%d: %u %u %u %u\n", problem, to[0], to[1], to[2], to[3]);
}
]])
  harness.contains(passes "nvcc copied.cu -o copied && cuda copied", "0: 102 5 22 21\n")
end)

nvcc_test("functions of the standard library that throw stop the kernel; on the host they throw", function()
  harness.write("throwing.cu", [[
#include <array>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <variant>
__global__ void throwing(int *to, int index) {
    constexpr std::string_view text = "abc";
    std::variant<int, float> either = 3;
    std::array<int, 4> numbers{1, 2, 3, 4};
    std::optional<int> maybe;
    if (index < 3) maybe = index;
    *to = std::get<int>(either) * 1000 + numbers.at(index) * 100 + maybe.value() * 10 + (int)text.substr(index).size();
}
int main() {
    int *to, thrown = 0;
    std::array<int, 4> numbers{};
    std::optional<int> nothing;
    cudaMallocManaged(&to, 4);
    throwing<<<1, 1>>>(to, 2);
    cudaDeviceSynchronize();
    printf("%d\n", *to);
    try { numbers.at(*to); } catch (const std::out_of_range &) { thrown++; }
    try { *to = nothing.value(); } catch (const std::bad_optional_access &) { thrown++; }
    throwing<<<1, 1>>>(to, 4);
    printf("%d %s\n", thrown, cudaGetErrorName(cudaDeviceSynchronize()));
}
]])
  harness.contains(passes "nvcc --expt-relaxed-constexpr throwing.cu -o throwing && cuda throwing", "3321\n", "2 cudaErrorLaunchFailure")
end)

nvcc_long_test("new (std::nothrow), in place and of more than usual alignment; strings in device code", function()
  harness.write("placed.cu", [[
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>
struct Seven { int x; __device__ Seven() : x(7) {} __device__ ~Seven() {} };
struct alignas(64) Wide { int v[16]; };
__device__ char text[] = "hello world";
__global__ void objects(int *out) {
    Seven *one = new (std::nothrow) Seven;
    int *ten = new (std::nothrow) int[10];
    __shared__ __align__(8) char room[64];
    Seven *four = new (room) Seven[4];
    int *placed = new (room + 32) int[4]{1, 2, 3, 4};
    void *raw = ::operator new(64, std::nothrow);
    Wide *wide = new Wide, *pair = new (std::nothrow) Wide[2];
    ten[3] = 5, pair[1].v[15] = 6;
    out[0] = one->x, out[1] = ten[3], out[2] = four[3].x, out[3] = placed[2], out[4] = raw != nullptr;
    out[5] = (int)(((size_t)wide | (size_t)pair) % 64), out[6] = pair[1].v[15];
    delete one, delete[] ten, delete wide, delete[] pair;
    ::operator delete(raw, std::nothrow);
}
__global__ void strings(int *out, const char *given) {
    char copy[20];
    std::string_view view(given);
    out[0] = (int)strlen(text), out[1] = (int)std::strlen(given), out[2] = memcmp(text, given, 12);
    out[3] = strcmp(text, "hello"), out[4] = strncmp(text, "hello!", 5), out[5] = std::strcmp("a", "\xe9");
    memcpy(copy, text, 12), memset(copy + 3, 'x', 2), memmove(copy + 1, copy, 8);
    out[6] = copy[4];
    strcpy(copy, "abc"), strcat(copy, "def"), strncpy(copy + 6, "ghijk", 3), copy[9] = 0;
    out[7] = strcmp(copy, "abcdefghi"), out[8] = (int)(strchr(text, 'w') - text), out[9] = (int)(strstr(text, "lo w") - text);
    out[10] = (int)((const char *)memchr(given, 'o', 11) - given), out[11] = strchr(given, 'z') != nullptr;
    out[12] = (int)view.size(), out[13] = view == "hello world", out[14] = (int)view.find("wor"), out[15] = view < "help";
}
int main() {
    void *host = new (std::nothrow) int[4];
    int *out;
    char *given;
    cudaMallocManaged(&out, 16 * sizeof *out);
    cudaMallocManaged(&given, 16);
    strcpy(given, "hello world");
    for (int k = 0; k < 2; k++) {
        if (k == 0) objects<<<1, 1>>>(out); else strings<<<1, 1>>>(out, given);
        printf("%d:", cudaDeviceSynchronize());
        for (int i = 0; i < (k ? 16 : 7); i++) printf(" %d", out[i]);
    }
    printf(" %d\n", host != nullptr);
}
]])
  for _, standard in ipairs { "c++17", "c++20" } do
    harness.contains(passes("nvcc -std=" .. standard .. " placed.cu -o placed && cuda placed"),
      "0: 7 5 7 3 1 0 60: 11 11 0 1 0 -1 120 0 6 3 4 0 11 1 6 1 1\n")
  end
end)

nvcc_test("a program's own functions of the C library's names go first in device code", function()
  harness.write("own_strings.cu", [[
#include <cstdio>
#include <cstring>
__device__ int strcmp(const char *a, const char *b) { return 77 + (*a == *b); }
__device__ size_t strlen(const char *text) { return text[0] == 'h' ? 55 : 0; }
__host__ __device__ int length(const char *text) { return (int)strlen(text); }
__global__ void call(int *out, const char *text) {
    out[0] = strcmp(text, "hat"), out[1] = (int)strlen(text), out[2] = length(text), out[3] = memcmp(text, "hellp", 5);
}
int main() {
    int *out;
    char *text;
    cudaMallocManaged(&out, 16);
    cudaMallocManaged(&text, 16);
    strcpy(text, "hello");
    call<<<1, 1>>>(out, text);
    int problem = cudaDeviceSynchronize();
    printf("%d: %d %d %d %d, %d\n", problem, out[0], out[1], out[2], out[3], length(text));
}
]])
  harness.contains(passes "nvcc own_strings.cu -o own_strings && cuda own_strings", "0: 78 55 55 -1, 5\n")
end)

nvcc_test("shared objects, several in a declaration, also of several lines, and pointers among them", function()
  harness.write("several.cu", [[
#include <cstdio>
struct Complex { float x, y; __device__ Complex(float a = 0, float b = 0) : x(a), y(b) {} };
template <class T, int N> struct Pair { T first, second; __device__ Pair() : first(N), second(N) {} };
__global__ void kernel(float *out) {
    __shared__ Complex one, row[8 > 4 ? 8 : 4];
    __shared__ Pair<int, 3> pair,
        *pointer, pairs[2][2];
    __shared__ alignas(32)
        Complex aligned;
    int i = threadIdx.x;
    row[i].y = i;
    if (i == 0) one.x = 1, pointer = &pair, pairs[1][1].second = 5, aligned.y = 6;
    pair.first = 4;
    __syncthreads();
    if (i > 0) return;
    out[0] = one.x, out[1] = row[7].y, out[2] = pointer->first, out[3] = pairs[1][1].second, out[4] = aligned.y;
    out[5] = __LINE__;
}
int main() {
    float *out;
    cudaMallocManaged(&out, 6 * sizeof *out);
    kernel<<<1, 8>>>(out);
    int problem = cudaDeviceSynchronize();
    printf("%d: %g %g %g %g %g %g\n", problem, out[0], out[1], out[2], out[3], out[4], out[5]);
}
]])
  harness.contains(passes "nvcc several.cu -o several && cuda several", "0: 1 7 4 5 6 17\n")
end)

nvcc_test("shared variables that would need a constructor are named, with file and line", function()
  harness.write("shared.cu", [[
struct Counter { int count; __device__ Counter() : count(1) {} };
struct Plain { int count; __device__ Plain() {} };
template <class T> __global__ void kernel(int *out) {
    __shared__ Plain plain;
    __shared__ T
        counter = T();
    *out = plain.count + counter.count;
}
template __global__ void kernel<Counter>(int *);
template __global__ void kernel<Plain>(int *);
]])
  local status, output = shell "nvcc -c shared.cu"
  harness.equal(status, 1, output)
  harness.contains(output, "nvcc: shared.cu:6: 'counter' is shared: expected no initializer")
  harness.equal(select(2, output:gsub("is shared", "")), 1)
end)

nvcc_test("what nvcc has and this has not is refused by name", function()
  local refusals = {
    ["-cuda one.cu"] = "nvcc: -cuda: clang makes no C++ of CUDA programs; -c makes an object, -ptx PTX",
    ["-ltoir one.cu"] = "nvcc: -ltoir: there is no link-time optimisation of device code; -ptx makes PTX",
    ["-cubin one.cu"] = "nvcc: -cubin: no machine code for hardware can be made",
    ["one.cu -lcublas"] = "nvcc: -lcublas: this library of NVIDIA's is not part of Warpwright",
    ["--frobnicate one.cu"] = "nvcc: unknown option '--frobnicate'; -Xcompiler passes options to the host compiler",
    ["-arch=fermi one.cu"] = "nvcc: -arch: expected an architecture, such as sm_80, got 'fermi'",
    ["-m32 one.cu"] = "nvcc: -m: expected 64, got '32': device code is of 64 bits",
    ["one.txt"] = "nvcc: one.txt: expected a file .cu",
    ["-o"] = "nvcc: -o: expected a value, got nothing",
    ["-c one.cu plain.c -o x.o"] = "nvcc: -o: expected one file with -c, got 2",
    [""] = "usage: warpwright nvcc",
    ["-O2"] = "nvcc: expected a file to compile or to link, got none",
    ["@nothing"] = "nvcc: nothing: no such file of options",
  }
  for arguments, message in pairs(refusals) do
    local status, output = shell("nvcc " .. arguments)
    harness.equal(status, 2, output)
    harness.contains(output, message)
  end
  harness.contains(passes "nvcc --version", "release 11.8")
  harness.contains(passes "nvcc --dryrun one.cu -o one", "#$ clang++-14 -x cuda", "cuda/bin/host_link -o one")
  harness.contains(passes "unset PATH; nvcc --dryrun -c one.cu -o one.o", "#$ PATH=\n")
end)

--- The lines of `warpwright ptx` about the kernel of this source.
local function needs_of(source)
  harness.write("needs.cu", source)
  return passes 'nvcc -arch=sm_75 -ptx -o needs.ptx needs.cu && "$program" ptx needs.ptx'
end

nvcc_test("sums in an array that loops of constant bounds go over are in registers, without #pragma unroll", function()
  harness.contains(needs_of [[
__global__ void outer(const float *a, float *out, int n) {
    float sums[8][8] = {};
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 8; i++)
            for (int j = 0; j < 8; j++) sums[i][j] += a[k * 16 + i] * a[k * 16 + 8 + j + threadIdx.x];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) out[(i * 8 + j) * 32 + threadIdx.x] = sums[i][j];
}]], " 0 local,", "fma 64,")
end)

nvcc_test("#pragma unroll N of loops whose bound is known at run time: with inline assembly, but not with that of other lanes", function()
  harness.write("unroll.cu", [[
#include <cuda_fp16.h>
__global__ void own(const float *a, float *out, int n) {
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) {
        float product;
        asm volatile("{\n\tmul.rz.f32 %0, %1, 0f40000000;\n\t}" : "=f"(product) : "f"(a[i]));
        sum += product;
    }
    *out = sum;
}
__global__ void halves(const __half *a, __half *out, int n) {
    __half sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) sum = __hadd(sum, a[i]);
    *out = sum;
}
__global__ void lanes(int *out, int n) {
    int sum = threadIdx.x;
#pragma unroll 4
    for (int i = 0; i < n; i++) asm("{\n\tshfl.sync.bfly.b32 %0, %0, 1, 31, -1;\n\t}" : "+r"(sum));
    *out = sum;
}
]])
  local function counts(options)
    passes("nvcc -ptx " .. options .. " unroll.cu")
    local ptx, found = harness.read(harness.folder() .. "/unroll.ptx"), {}
    for i, instruction in ipairs { "mul.rz.f32", "add.f16", "shfl.sync.bfly.b32" } do
      found[i] = select(2, ptx:gsub("\t" .. instruction:gsub("%p", "%%%0") .. " ", ""))
    end
    return table.concat(found, " ")
  end
  for _, options in ipairs { "", "-lineinfo", "-rdc=true" } do harness.equal(counts(options), "5 5 1", options) end
  harness.equal(counts "-O0", "1 1 1")
end)

nvcc_long_test("integers of 128 bits are divided on the device, in several files, too", function()
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
    harness.contains(passes(("nvcc %s -rdc=true -c -DMAIN -DNAME=one wide.cu -o wide.o && nvcc %s -dc wide_too.cu && nvcc wide.o wide_too.o -o wide &&"
      .. " cuda wide"):format(options, options)), "0 differ\n")
  end
end)

nvcc_long_test("integers of 128 bits are converted to and from floating point as on the host", function()
  harness.write("converted.cu", [[
#include <cstdio>
#include <cstring>
typedef unsigned __int128 Wide;
struct Results { double d, signed_d; float f, signed_f; Wide wide, wide_f; __int128 whole, whole_f; };
static __host__ __device__ void convert(Wide a, double x, Results *r) {
    *r = {(double)a, (double)(__int128)a, (float)a, (float)(__int128)a, (Wide)(x < 0 ? -x : x), (Wide)(float)(x < 0 ? -x : x) / 2,
          (__int128)x / 4, (__int128)(float)x / 4};
}
__global__ void converted(const Wide *a, const double *x, Results *r) { convert(a[threadIdx.x], x[threadIdx.x], &r[threadIdx.x]); }
__global__ void outside(const double *x, __int128 *to, Wide *unsigned_to) {
    to[threadIdx.x] = (__int128)x[threadIdx.x];
    unsigned_to[threadIdx.x] = (Wide)x[threadIdx.x];
}
int main() {
    enum { COUNT = 1024 };
    Wide *a, *unsigned_to;
    double *x;
    Results *r, expected;
    __int128 *to;
    cudaMallocManaged(&a, COUNT * sizeof *a);
    cudaMallocManaged(&x, COUNT * sizeof *x);
    cudaMallocManaged(&r, COUNT * sizeof *r);
    cudaMallocManaged(&to, 5 * sizeof *to);
    cudaMallocManaged(&unsigned_to, 5 * sizeof *unsigned_to);
    unsigned long long state = 1;
    auto next = [&] { state = state * 6364136223846793005 + 1442695040888963407; return state ^ state >> 29; };
    for (int i = 0; i < COUNT; i++) {
        a[i] = ((Wide)next() << 64 | next()) >> next() % 128;
        if (i % 3 == 0) a[i] = (((Wide)next() >> 10 << 1 | 1) << next() % 73) + (int)(next() % 3) - 1; /* about half-way between two doubles */
        if (i % 7 == 0) a[i] = (((Wide)(next() >> 39) << 1 | 1) << next() % 102) + (int)(next() % 3) - 1; /* ... two floats */
        if (i % 50 == 0) a[i] = ~(Wide)0 >> i / 50 * 5;
        x[i] = (next() & 1 ? -1.0 : 1.0) * (double)(a[i] >> 2);
        if (i % 5 == 0) x[i] = (double)(long long)next() / (double)(next() >> next() % 64 | 1);
    }
    memset(r, 0, COUNT * sizeof *r);
    converted<<<1, COUNT>>>(a, x, r);
    int differ = cudaDeviceSynchronize() != cudaSuccess;
    for (int i = 0; i < COUNT; i++) {
        memset(&expected, 0, sizeof expected);
        convert(a[i], x[i], &expected);
        differ += memcmp(&expected, &r[i], sizeof expected) != 0;
    }
    const double far[] = {1e300, -1e300, 0.0 / 0.0, 0x1p127, -0x1p127};
    const Wide top = (Wide)1 << 127, nearest[] = {top - 1, top, 0, top - 1, top}, unsigned_nearest[] = {~(Wide)0, 0, 0, top, 0};
    memcpy(x, far, sizeof far);
    outside<<<1, 5>>>(x, to, unsigned_to);
    differ += cudaDeviceSynchronize() != cudaSuccess;
    differ += memcmp(to, nearest, sizeof nearest) != 0;
    differ += memcmp(unsigned_to, unsigned_nearest, sizeof unsigned_nearest) != 0;
    printf("%d differ\n", differ);
}
]])
  for _, options in ipairs { "-O2", "-G" } do
    harness.contains(passes(("nvcc %s converted.cu -o converted && cuda converted"):format(options)), "0 differ\n")
  end
end)

nvcc_test("addresses in shared memory by unsigned indices are one register and offsets", function()
  local output = needs_of [[
__global__ void outer(const float *a, float *out, int n) {
    __shared__ float tile[8 * 128];
    int row = threadIdx.x / 16, column = threadIdx.x % 16;
    float sums[8] = {};
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (unsigned d = 0; d < 8; d++)
#pragma unroll
            for (unsigned i = 0; i < 8; i++) sums[i] += tile[d * 128 + row * 8 + i] * tile[d * 128 + column * 8 + i];
        __syncthreads();
    }
    for (unsigned i = 0; i < 8; i++) out[threadIdx.x * 8 + i] = sums[i];
}]]
  local registers = tonumber(output:match "(%d+) registers")
  assert(registers < 32, output)
end)

harness.test("an installation and a build without what CUDA programs need say where it is looked for and what makes it", function()
  local status, output = shell(([[
export WARPWRIGHT_HOME='%s'
mkdir -p installed/bin installed/share/warpwright build
cp "$program" installed/bin && cp "$program" build
for place in installed/bin build; do $place/warpwright cuda gtx480 -- ./a; done]]):format(core.real_path "."))
  local folder = core.real_path(harness.folder())
  harness.equal(status, 2, output)
  harness.contains(output, ("cuda: expected %s/installed/share/warpwright/cuda/lib64, got no such file; scons cuda install --prefix='%s/installed' in the sources makes it"):format(folder, folder),
    ("cuda: expected %s/build/share/warpwright/cuda/lib64, got no such file; scons cuda builds it"):format(folder))
end)

harness.finish()
