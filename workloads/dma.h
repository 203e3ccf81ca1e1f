// The D2MA engine's intrinsics (Jamshidi, Samadi, Mahlke, "D2MA: Accelerating Coarse-Grained Data Transfer
// for GPUs", PACT 2014, section 4.4) for kernels that run on machines whose SMs have a DmaEngine
// (configs/gtx480_d2ma.lua). Compiles with clang as scripts/ptx calls it and with nvcc; the PTX front end
// knows the calls by their names.
//
//   __shared__ float tile[256];
//   dma_set_datatype_float();
//   dma_configure_flat_unit_stride(tile, x, 256, 0);     buffer 0: starts to copy x[0..255] into tile
//   ... what needs no tile goes on ...
//   sum += tile[i];                                      waits until the transfer is complete
//   __syncthreads();                                     all warps have read the tile
//   dma_execute(tile, x + 256, 0);                       the next 256 elements
//
// - Every warp of the CTA executes every intrinsic, the parameters the same in all its lanes and in all
// warps. Each
//   is one warp instruction. Of a CTA's warps the first that comes to a start (a configure or an execute)
//   starts the transfer; for the others it has no effect.
// - A start waits until the transfer before it into the same buffer is complete.
// - A load or an atomic of shared memory in the range of a transfer in flight waits until that is complete.
// No
//   barrier is needed between start and load.
// - Stores are not checked, nor loads before a start: the first warp that comes to a start overwrites what
// others
//   may still have to read. A kernel that fills a buffer again needs a __syncthreads() between the last load
//   and the start. Data must not be written to global memory while a transfer reads it.
// - Four buffers per CTA. Wrong use is an error that names kernel, line, CTA and buffer.
#pragma once

#include "cuda.h"

enum { DMA_TOP = 1, DMA_BOTTOM = 2, DMA_LEFT = 4, DMA_RIGHT = 8 };

extern "C" {

// Size of an element in bytes: 1, 2, 4 or 8; holds for all later configurations. 4 until set.
__device__ void dma_set_datatype(unsigned bytes);

// For the next configuration: in shared memory, after every `elements` elements `blank` bytes stay free. With
// a 2D tile elements are counted row by row. `blank` must be a multiple of the element size.
__device__ void dma_set_padding(unsigned elements, unsigned blank);

// For the next configuration, which must be 2D: a halo of `rows` rows above and below and `columns` columns
// on the left and on the right of the tile. `borders`: the sides at which the data end, DMA_TOP | DMA_BOTTOM
// | DMA_LEFT | DMA_RIGHT; there the halo is filled with `constant`, whose low bytes are the element,
// elsewhere with the data that surround the tile.
__device__ void dma_set_halo(unsigned rows, unsigned columns, unsigned borders, unsigned long long constant);

// Each of these describes the transfers of a buffer (0 to 3) and starts the first. At most 65535 elements,
// halo included; addresses are aligned to the element.
__device__ void dma_configure_flat_unit_stride(void *shared, const void *global, unsigned elements,
                                               unsigned buffer);
// Elements that lie `stride` elements apart in global memory, dense in shared memory.
__device__ void dma_configure_flat_strided(void *shared, const void *global, unsigned elements,
                                           unsigned stride, unsigned buffer);
// `pitch`: elements from row to row in global memory; shared memory is dense. With a halo, `global` is the
// first inner element of the tile, and `shared` the first of (rows + 2 halo rows) x (columns + 2 halo
// columns) elements.
__device__ void dma_configure_2d(void *shared, const void *global, unsigned rows, unsigned columns,
                                 unsigned pitch, unsigned buffer);

// The next transfer of the buffer, in the same layout. With a halo, the borders stay those of the
// configuration.
__device__ void dma_execute(void *shared, const void *global, unsigned buffer);

__device__ void dma_mark_tile_begin_0();
__device__ void dma_mark_tile_begin_1();
__device__ void dma_mark_tile_begin_2();
__device__ void dma_mark_tile_begin_3();
__device__ void dma_mark_tile_end_0();
__device__ void dma_mark_tile_end_1();
__device__ void dma_mark_tile_end_2();
__device__ void dma_mark_tile_end_3();
}

// For kernels without the engine: here the copying of a tile to shared memory begins and ends, for the
// statistics of transfers. Marks are no instructions and take no time. `buffer` is a constant, 0 to 3. A tile
// begins with the first warp of a CTA and ends with the last.
static inline __device__ void dma_mark_tile_begin(unsigned buffer) {
    if (buffer == 0) dma_mark_tile_begin_0();
    if (buffer == 1) dma_mark_tile_begin_1();
    if (buffer == 2) dma_mark_tile_begin_2();
    if (buffer == 3) dma_mark_tile_begin_3();
}
static inline __device__ void dma_mark_tile_end(unsigned buffer) {
    if (buffer == 0) dma_mark_tile_end_0();
    if (buffer == 1) dma_mark_tile_end_1();
    if (buffer == 2) dma_mark_tile_end_2();
    if (buffer == 3) dma_mark_tile_end_3();
}

static inline __device__ void dma_set_datatype_char() {
    dma_set_datatype(1);
}
static inline __device__ void dma_set_datatype_short() {
    dma_set_datatype(2);
}
static inline __device__ void dma_set_datatype_float() {
    dma_set_datatype(4);
}
static inline __device__ void dma_set_datatype_double() {
    dma_set_datatype(8);
}
static inline __device__ void dma_set_datatype_float2() {
    dma_set_datatype(8);
}

// n elements of `bytes` bytes in each 4-byte bank of shared memory; n * bytes is at most 4.
static inline __device__ void dma_set_elements_per_bank(unsigned n, unsigned bytes) {
    dma_set_padding(n, 4 - n * bytes);
}
