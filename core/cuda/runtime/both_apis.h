/* For files of functions that both APIs have under their own names, with the same parameters: they are compiled once
 * for each version of libcudart, and once, with CUDA_MAJOR 0, for libcuda. */
#ifndef WW_CUDA_BOTH_APIS_H
#define WW_CUDA_BOTH_APIS_H

#include "core/cuda/runtime/graph.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#if CUDA_MAJOR

#include "core/cuda/runtime/runtime.h"
#define API(name) cuda##name
#define PREFIX    "cuda"
#define LEAVE     runtime_leave
typedef cudaError_t ApiResult;

#else

#include "core/cuda/runtime/driver.h"
#include "core/cuda/toolkit/include/driver_types.h"
#define API(name) cu##name
#define PREFIX    "cu"
#define LEAVE     driver_leave
typedef CUresult ApiResult;

#endif

/* The body of a function: its turn, and the error code of a call. */
#define ANSWER(call)                                                                                         \
    int answer = warp_enter();                                                                               \
    if (!answer) answer = (call);                                                                            \
    return LEAVE(answer)

/* Behind the declaration of a function whose name has other parameters in other versions: the name for the linker,
 * without the API's letters. */
#define NAMED(name) __asm__(PREFIX name)
/* Another name of the function that is named so. */
#define ALSO_NAMED(again, function, name)                                                                    \
    __typeof__(function) again NAMED(#again) __attribute__((alias(PREFIX name), visibility("default")));

/* Of a dependency. All are full ones, whose numbers are 0. */
typedef struct {
    unsigned char from_port, to_port, type, reserved[5];
} EdgeData;

static inline int check_edges(const EdgeData *edges, size_t count) {
    for (size_t i = 0; edges && i < count; i++)
        if (edges[i].from_port || edges[i].to_port || edges[i].type) return CUDA_NOT_SUPPORTED;
    return CUDA_OK;
}

/* The nodes of a call's list. */
static inline int node_list(WarpNodeSet *set, const cudaGraphNode_t *nodes, size_t count) {
    *set = (WarpNodeSet){(WarpNode **)(uintptr_t)nodes, count, count};
    return count && !nodes ? CUDA_INVALID_VALUE : CUDA_OK;
}

#endif
