/* Arrays: device memory in rows, for both APIs. Between warp_enter() and warp_leave(); 0 or an error code. */
#ifndef WW_CUDA_ARRAYS_H
#define WW_CUDA_ARRAYS_H

#include "core/cuda/runtime/client.h"
#include "core/cuda/toolkit/include/driver_types.h"

enum { CUBE_FACES = 6 };

struct cudaArray {
    uint64_t address, pitch, slice; /* bytes from row to row, and from slice or layer to the next */
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* in elements; height and depth 0 where it has none */
    unsigned flags;
    uint32_t element_bytes;
    bool is_owned;
};

/* Bytes of an element; 0 for what is no format. */
uint32_t warp_element_bytes(const struct cudaChannelFormatDesc *format);
/* The array of a handle; NULL for what is none. */
struct cudaArray *warp_array(const void *handle);
int warp_array_new(struct cudaArray **result, const struct cudaChannelFormatDesc *format,
                   struct cudaExtent extent, unsigned flags);
/* NULL is no error. */
int warp_array_free(struct cudaArray *array);
/* Does a box of elements lie in the array? One row and one slice where it has no height and no depth. */
bool warp_array_has(const struct cudaArray *array, struct cudaPos at, struct cudaExtent extent);
/* Rows of bytes, which begin at a byte and in a row. */
bool warp_array_has_rows(const struct cudaArray *array, size_t x, size_t y, size_t width, size_t height);
/* May surfaces store there? */
bool warp_array_takes_stores(const struct cudaArray *array);

static inline uint64_t at_least_one(uint64_t count) {
    return count ? count : 1;
}

#endif
