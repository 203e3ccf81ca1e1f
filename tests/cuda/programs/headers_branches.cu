/* What lanes do together on both sides of a branch is done by the lanes of each side. */
#include "checks.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ int place_in(int *counter) {
    cg::coalesced_group group = cg::coalesced_threads();
    int base;
    if (group.thread_rank() == 0) base = atomicAdd(counter, group.size());
    return group.shfl(base, 0) + group.thread_rank();
}

__global__ void partition(const int *in, int *low, int *high, int *counters) {
    int value = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (value < 50)
        low[place_in(counters)] = value;
    else
        high[place_in(counters + 1)] = value;
}

static void check_partition() {
    int count = 4 * 128, *in, *low, *high, *counters, expected = 0, sums[2] = {}, wrong = 0;
    cudaMallocManaged(&in, count * sizeof *in);
    cudaMallocManaged(&low, count * sizeof *low);
    cudaMallocManaged(&high, count * sizeof *high);
    cudaMallocManaged(&counters, 2 * sizeof *counters);
    counters[0] = counters[1] = 0;
    for (int i = 0; i < count; i++) {
        in[i] = i * 61 % 100;
        expected += in[i] < 50;
        sums[in[i] >= 50] += in[i];
    }
    partition<<<4, 128>>>(in, low, high, counters);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    CHECK(counters[0] == expected && counters[1] == count - expected);
    for (int i = 0; i < expected; i++)
        wrong += low[i] >= 50, sums[0] -= low[i];
    for (int i = 0; i < count - expected; i++)
        wrong += high[i] < 50, sums[1] -= high[i];
    CHECK(wrong == 0 && sums[0] == 0 && sums[1] == 0);
}

/* ---- one operation on the two sides: `mine` is what lanes of the side see, below `split` or from there on */

__device__ unsigned mask_by_assembly() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

#define SIDES(name, operation, expected)                                                                     \
    __global__ void name(unsigned *out, int split) {                                                         \
        unsigned lane = threadIdx.x, result;                                                                 \
        if (lane < split)                                                                                    \
            result = operation;                                                                              \
        else                                                                                                 \
            result = 2 * (operation);                                                                        \
        out[lane] = result;                                                                                  \
    }                                                                                                        \
    static unsigned name##_expected(unsigned mine, unsigned lane) {                                          \
        return expected;                                                                                     \
    }

SIDES(active, __activemask(), mine)
SIDES(active_by_assembly, mask_by_assembly(), mine)
SIDES(size, cg::coalesced_threads().size(), (unsigned)__builtin_popcount(mine))
SIDES(ballot, __ballot_sync(__activemask(), lane & 1), mine & 0xaaaaaaaau)
SIDES(any, (unsigned)__any_sync(__activemask(), lane == 20), mine >> 20 & 1)
SIDES(match, __match_any_sync(__activemask(), lane & 3), mine & 0x11111111u << (lane & 3))
SIDES(sum, __reduce_add_sync(__activemask(), 1u), (unsigned)__builtin_popcount(mine))

static void check_sides(void (*kernel)(unsigned *, int), unsigned (*expected)(unsigned, unsigned)) {
    unsigned *out, split = 10, wrong = 0;
    cudaMallocManaged(&out, 32 * sizeof *out);
    kernel<<<1, 32>>>(out, split);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (unsigned lane = 0; lane < 32; lane++) {
        unsigned below = (1u << split) - 1;
        wrong += out[lane] != (lane < split ? expected(below, lane) : 2 * expected(~below, lane));
    }
    CHECK(wrong == 0);
}

int main() {
    check_partition();
    check_sides(active, active_expected);
    check_sides(active_by_assembly, active_by_assembly_expected);
    check_sides(size, size_expected);
    check_sides(ballot, ballot_expected);
    check_sides(any, any_expected);
    check_sides(match, match_expected);
    check_sides(sum, sum_expected);
    return finish("branches");
}
