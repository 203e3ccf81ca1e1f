// Copies tiles to shared memory by the DMA engine in any mode, and shared memory to `to`, for test_dma.lua.
// Each CTA copies `rounds` tiles that lie `step` bytes apart, alternately to two buffers.
//   clang-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_20 -nocudainc -nocudalib -O3 -S dma_kernel.cu -o
//   dma_kernel.ptx
#include "../../workloads/dma.h"

#define WORDS 1024

struct Transfer {
    unsigned mode, bytes, rows, columns, pitch;
    unsigned padded, blank, halo_rows, halo_columns, borders;
    unsigned long long constant;
};

static inline __device__ void configure(void *tile, const char *from, Transfer t, unsigned buffer) {
    dma_set_datatype(t.bytes);
    if (t.padded) dma_set_padding(t.padded, t.blank);
    if (t.halo_rows | t.halo_columns) dma_set_halo(t.halo_rows, t.halo_columns, t.borders, t.constant);
    if (t.mode == 0) dma_configure_flat_unit_stride(tile, from, t.columns, buffer);
    if (t.mode == 1) dma_configure_flat_strided(tile, from, t.columns, t.pitch, buffer);
    if (t.mode == 2) dma_configure_2d(tile, from, t.rows, t.columns, t.pitch, buffer);
}

extern "C" __global__ void transfer(const char *from, unsigned *to, unsigned rounds, unsigned step,
                                    Transfer t) {
    __shared__ __attribute__((aligned(8))) unsigned tiles[2][WORDS];
    for (unsigned i = 0; i < rounds; i++) {
        unsigned index = blockIdx.x * rounds + i;
        unsigned *tile = tiles[i % 2];
        if (i < 2)
            configure(tile, from + index * step, t, i % 2);
        else
            dma_execute(tile, from + index * step, i % 2);
        for (unsigned word = threadIdx.x; word < WORDS; word += blockDim.x)
            to[index * WORDS + word] = tile[word];
        __syncthreads();
    }
}
