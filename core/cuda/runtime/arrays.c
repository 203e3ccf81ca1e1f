#include "core/cuda/runtime/arrays.h"

#include "core/cuda/runtime/handles.h"

#include <stdlib.h>

enum { ROW_UNIT = 256 };

uint32_t warp_element_bytes(const struct cudaChannelFormatDesc *format) {
    const int bits[] = {format->x, format->y, format->z, format->w};
    uint32_t channels = 0;
    while (channels < 4 && bits[channels] > 0)
        channels++;
    if (channels == 0 || channels == 3 || (bits[0] != 8 && bits[0] != 16 && bits[0] != 32)) return 0;
    for (uint32_t i = 1; i < channels; i++)
        if (bits[i] != bits[0]) return 0;
    return channels * (uint32_t)bits[0] / 8;
}

struct cudaArray *warp_array(const void *handle) {
    return warp_handle(handle, HANDLE_ARRAY);
}

static bool is_within(uint64_t from, uint64_t count, uint64_t all) {
    return count <= all && from <= all - count;
}

bool warp_array_has(const struct cudaArray *array, struct cudaPos at, struct cudaExtent extent) {
    return is_within(at.x, extent.width, array->extent.width) &&
           is_within(at.y, extent.height, at_least_one(array->extent.height)) &&
           is_within(at.z, extent.depth, at_least_one(array->extent.depth));
}

static bool is_cube_or_plain(struct cudaExtent extent, unsigned flags) {
    if (!(flags & cudaArrayCubemap)) return true;
    bool has_layers = (flags & cudaArrayLayered) != 0;
    return extent.width == extent.height &&
           (has_layers ? extent.depth && extent.depth % CUBE_FACES == 0 : extent.depth == CUBE_FACES);
}

int warp_array_new(struct cudaArray **result, const struct cudaChannelFormatDesc *format,
                   struct cudaExtent extent, unsigned flags) {
    if (!result || !format || !extent.width) return CUDA_INVALID_VALUE;
    if (!warp_element_bytes(format)) return CUDA_INVALID_CHANNEL_DESCRIPTOR;
    if (!is_cube_or_plain(extent, flags)) return CUDA_INVALID_VALUE;
    struct cudaArray *array = malloc(sizeof *array);
    if (!array) return CUDA_MEMORY_ALLOCATION;
    *array = (struct cudaArray){.format = *format, .extent = extent, .flags = flags, .is_owned = true};
    array->element_bytes = warp_element_bytes(format);
    array->pitch = (extent.width * array->element_bytes + ROW_UNIT - 1) / ROW_UNIT * ROW_UNIT;
    array->slice = array->pitch * at_least_one(extent.height);
    int problem = warp_alloc(array->slice * at_least_one(extent.depth), RANGE_DEVICE, 0, &array->address);
    if (problem) {
        free(array);
        return problem;
    }
    warp_handle_add(array, HANDLE_ARRAY);
    *result = array;
    return CUDA_OK;
}

int warp_array_free(struct cudaArray *array) {
    if (!array) return CUDA_OK;
    int problem = warp_array(array) ? warp_release(array->address) : CUDA_INVALID_VALUE;
    if (problem) return problem;
    warp_handle_remove(array);
    free(array);
    return CUDA_OK;
}

bool warp_array_has_rows(const struct cudaArray *array, size_t x, size_t y, size_t width, size_t height) {
    return warp_array(array) && is_within(x, width, array->extent.width * array->element_bytes) &&
           is_within(y, height, at_least_one(array->extent.height));
}

bool warp_array_takes_stores(const struct cudaArray *array) {
    return warp_array(array) && array->flags & cudaArraySurfaceLoadStore;
}
