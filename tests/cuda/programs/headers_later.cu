/* What libcu++ had later than 1.8: span, mdspan, optional, functional, structured bindings, and cuda::ptx with copies of many
 * bytes at once. */
#include "checks.h"

#include <cuda/barrier>
#include <cuda/functional>
#include <cuda/ptx>
#include <cuda/std/optional>
#include <cuda/std/mdspan>
#include <cuda/std/array>
#include <cuda/std/span>
#include <cuda/std/tuple>

#include <array>
#include <vector>

using cuda::std::span;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
namespace ptx = cuda::ptx;

enum { WORDS = 256, PART = 64, PARTS = 4 };

/* --- Copies -------------------------------------------------------------------------------------- */

__global__ void add_one(int *data) {
    __shared__ alignas(16) int tile[WORDS];
    __shared__ Barrier bar;
    data += blockIdx.x * WORDS;
    if (threadIdx.x == 0) init(&bar, blockDim.x), ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    Barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::memcpy_async_tx(tile, data, cuda::aligned_size_t<16>(sizeof tile), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = (int)threadIdx.x; i < WORDS; i += (int)blockDim.x)
        tile[i] += 1;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x > 0) return;
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, data, tile, sizeof tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
}

/* Two tiles by turns; each part comes back in reverse, and the first one with its indices added. */
__global__ void turn_parts(const int *in, int *out) {
    __shared__ alignas(16) int tile[2][PART];
    __shared__ uint64_t bar[2];
    const uint32_t thread = ptx::get_sreg_tid_x(), bytes = sizeof tile[0];
    for (int i = 0; i < 2 && thread == 0; i++)
        ptx::mbarrier_init(&bar[i], 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    __syncthreads();
    for (uint32_t k = 0; k < PARTS; k++) {
        uint32_t s = k & 1;
        if (thread == 0) {
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &bar[s],
                                           bytes);
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile[s], in + k * PART, bytes, &bar[s]);
        }
        while (!ptx::mbarrier_try_wait_parity(&bar[s], k >> 1 & 1))
            ;
        out[k * PART + thread] = tile[s][PART - 1 - thread];
        __syncthreads();
    }
    if (thread > 0) return;
    for (int i = 0; i < PART; i++)
        tile[0][i] = i;
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out, tile[0], bytes);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

static void check_copies() {
    int *data, *out, wrong = 0;
    cudaMallocManaged(&data, 2 * WORDS * sizeof(int));
    cudaMallocManaged(&out, WORDS * sizeof(int));
    for (int i = 0; i < 2 * WORDS; i++)
        data[i] = i;
    add_one<<<2, 64>>>(data);
    turn_parts<<<1, PART>>>(data, out);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 2 * WORDS; i++)
        wrong += data[i] != i + 1;
    for (int i = 0; i < WORDS; i++)
        wrong += out[i] != i / PART * PART + PART - i % PART + (i < PART ? i : 0);
    CHECK(wrong == 0);
}

/* --- Types --------------------------------------------------------------------------------------- */

__host__ __device__ static int sum(span<const int> s) {
    int total = 0;
    for (int x : s)
        total += x;
    return total;
}

__host__ __device__ static cuda::std::optional<int> find(span<const int> s, int value) {
    for (size_t i = 0; i < s.size(); i++)
        if (s[i] == value) return (int)i;
    return cuda::std::nullopt;
}

enum { RESULTS = 16 };

__host__ __device__ static void fill(span<int> given, int *to) {
    int own[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    span<int, 8> all(own);
    cuda::std::array<int, 3> three{1, 2, 4};
    static_assert(decltype(all.subspan<3>())::extent == 5 && decltype(all.first<2>())::extent == 2, "");
    static_assert(sizeof(span<int, 8>) <= 2 * sizeof(void *) && span<int>().empty(), "");
    to[0] = sum(all), to[1] = sum(all.subspan(2, 3)), to[2] = sum(all.subspan(6)), to[3] = sum(all.last(2));
    to[4] = sum(three), to[5] = given.front() + given.back(), to[6] = (int)given.size_bytes();
    to[7] = find(all, 5).value_or(-1), to[8] = find(all, 9).has_value();
    to[9] = *all.rbegin(), to[10] = (int)cuda::std::as_bytes(all).size();
    to[11] = cuda::maximum<>{}(3, 5L) + cuda::minimum<int>{}(3, 5);
    to[12] = cuda::proclaim_return_type<int>([](int x) { return 2 * x; })(21);
    cuda::std::as_writable_bytes(given.first(1))[0] = 9;
    to[13] = given[0], to[14] = sum(all.subspan<1, 2>()), to[15] = (int)all.first<3>().size();
}

__global__ void fill_on_device(span<int> given, int *to) {
    fill(given, to);
}

/* --- Views of several dimensions ------------------------------------------------------------------- */

namespace cs = cuda::std;
using Matrix = cs::mdspan<int, cs::dextents<int, 2>>;
using Columns = cs::mdspan<const int, cs::dextents<int, 2>, cs::layout_left>;

/* Of 6 numbers: rows of 3, columns of 2, every other one, one of fixed extents. */
__host__ __device__ static void view(int *data, int *to) {
    Matrix rows(data, 2, 3);
    Columns columns(data, 2, 3);
    cs::layout_stride::mapping<cs::extents<int, 3>> every_other(cs::extents<int, 3>(), cs::array<int, 1>{2});
    cs::mdspan<int, cs::extents<int, 3>, cs::layout_stride> strided(data, every_other);
    cs::mdspan<const int, cs::extents<size_t, 2, cs::dynamic_extent>> part_fixed(data, 3);
    cs::mdspan cube(data, 1, 2, 3);
    static_assert(decltype(part_fixed)::rank_dynamic() == 1 && decltype(cube)::rank() == 3, "");
    static_assert(sizeof(cs::mdspan<int, cs::extents<int, 4, 4>>) <= 3 * sizeof(void *), "");
    to[0] = rows(1, 0), to[1] = columns(1, 0), to[2] = strided(2), to[3] = part_fixed(1, 2), to[4] = cube(0, 1, 1);
    to[5] = rows[cs::array<int, 2>{0, 2}], to[6] = (int)rows.size(), to[7] = rows.stride(0) * 10 + rows.stride(1);
    to[8] = columns.stride(0) * 10 + columns.stride(1), to[9] = strided.mapping().required_span_size();
    to[10] = strided.is_exhaustive() * 10 + columns.is_exhaustive(), to[11] = (int)part_fixed.extent(1) + (int)part_fixed.static_extent(0);
    cs::mdspan<const int, cs::dextents<int, 2>> same = rows;
    to[12] = same(1, 2) + (same.extents() == rows.extents()) + (same.extents() != cs::dextents<int, 2>(3, 2));
    rows(0, 0) = 40, to[13] = cube(0, 0, 0);
    to[14] = cs::mdspan<int, cs::extents<int, 2, 3>>(data)(1, 1), to[15] = Matrix().empty();
}

__global__ void view_on_device(int *data, int *to) {
    view(data, to);
}

/* Each thread adds up a row. */
__global__ void rows_of(Columns m, cs::mdspan<int, cs::dextents<int, 1>> sums) {
    for (int i = threadIdx.x; i < m.extent(0); i += blockDim.x) {
        sums(i) = 0;
        for (int j = 0; j < m.extent(1); j++)
            sums(i) += m(i, j);
    }
}

/* --- Structured bindings --------------------------------------------------------------------------- */

__host__ __device__ static int bind() {
    auto [a, b, c] = cs::make_tuple(1, 2.5f, 'x');
    auto [d, e] = cs::make_pair(3, 4L);
    cs::array<int, 3> numbers{5, 6, 7};
    auto &[x, y, z] = numbers;
    y = 60;
    const auto both = cs::make_tuple(8, numbers);
    const auto &[m, n] = both;
    static_assert(cs::is_same<decltype(c), char>::value && cs::is_same<decltype(e), long>::value, "");
    return a + (int)(2 * b) + (c == 'x') + d + (int)e + x + numbers[1] + z + m + n[1];
}

__global__ void bind_on_device(int *to) {
    *to = bind();
}

static void check_bindings() {
    int *to;
    cudaMallocManaged(&to, sizeof *to);
    bind_on_device<<<1, 1>>>(to);
    CHECK(cudaDeviceSynchronize() == cudaSuccess && *to == 154);
    CHECK(bind() == 154);
}

static void check_views() {
    static const int expected[16] = {4, 2, 5, 6, 5, 3, 6, 31, 12, 5, 1, 5, 8, 40, 5, 1};
    int own[16], data[6], *device, *to;
    cudaMallocManaged(&device, sizeof data);
    cudaMallocManaged(&to, sizeof own);
    for (int i = 0; i < 6; i++)
        data[i] = device[i] = i + 1;
    view(data, own);
    view_on_device<<<1, 1>>>(device, to);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 16; i++) {
        CHECK(own[i] == expected[i]);
        CHECK(to[i] == expected[i]);
    }
    rows_of<<<1, 32>>>(Columns(device, 2, 3), cs::mdspan<int, cs::dextents<int, 1>>(to, 2));
    CHECK(cudaDeviceSynchronize() == cudaSuccess && to[0] == 40 + 3 + 5 && to[1] == 2 + 4 + 6);
}

static void check_types() {
    static const int expected[RESULTS] = {28, 9, 13, 13, 7, 4, 12, 5, 0, 7, 32, 8, 42, 9, 3, 3};
    std::vector<int> host{1, 2, 3};
    int *device, *to, own[RESULTS];
    cudaMallocManaged(&device, 12);
    cudaMallocManaged(&to, sizeof own);
    memcpy(device, host.data(), 12);
    fill(host, own);
    fill_on_device<<<1, 1>>>({device, 3}, to);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < RESULTS; i++) {
        CHECK(own[i] == expected[i]);
        CHECK(to[i] == expected[i]);
    }
}

int main() {
    check_copies();
    check_types();
    check_views();
    check_bindings();
    return finish("later");
}
