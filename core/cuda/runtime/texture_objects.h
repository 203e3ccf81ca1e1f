/* What textures and surfaces read, and their objects, for both APIs. Between warp_enter() and warp_leave(); 0 or an error
 * code. */
#ifndef WW_CUDA_TEXTURE_OBJECTS_H
#define WW_CUDA_TEXTURE_OBJECTS_H

#include "core/cuda/runtime/arrays.h"
#include "core/cuda/toolkit/include/texture_types.h"

typedef struct {
    TextureSource place;
    struct cudaChannelFormatDesc format;
    bool is_cube, is_linear;
} WarpSource;

WarpSource warp_source_of_array(const struct cudaArray *array);
WarpSource warp_source_of_pitched(const void *pointer, uint64_t pitch, size_t width, size_t height,
                                  const struct cudaChannelFormatDesc *format);
/* More bytes than the allocation has means all of that. */
WarpSource warp_source_of_linear(const void *pointer, size_t bytes,
                                 const struct cudaChannelFormatDesc *format);
/* The reference of this name reads from there. `how` NULL: a surface's. */
int warp_bind_source(WarpModule *module, const char *name, const WarpSource *source,
                     const struct cudaTextureDesc *how);

typedef struct WarpObject {
    struct WarpObject *next;
    uint64_t handle;
    bool is_surface;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture; /* not of a surface */
} WarpObject;

/* `how` NULL: a surface, of an array that takes stores. */
int warp_object_new(const struct cudaResourceDesc *resource, const struct cudaTextureDesc *how,
                    uint64_t *result);
/* 0 is no error. */
int warp_object_free(uint64_t handle, bool is_surface);
/* NULL for what is none. */
const WarpObject *warp_object(uint64_t handle, bool is_surface);

#endif
