/* The parameters of nodes as work, and back. Between warp_enter() and warp_leave(); 0 or an error code. */
#ifndef WW_CUDA_NODE_PARAMS_H
#define WW_CUDA_NODE_PARAMS_H

#include "core/cuda/runtime/both_apis.h"

#if CUDA_MAJOR
typedef struct cudaMemcpy3DParms CopyParams;
#else
enum { MEMORY_HOST = 1, MEMORY_DEVICE = 2, MEMORY_ARRAY = 3, MEMORY_UNIFIED = 4 };

/* CUDA_MEMCPY3D; sizes and positions in bytes, rows and slices. */
typedef struct {
    size_t x, y, z, level;
    int type;
    void *host;
    CUdeviceptr device;
    void *array, *reserved;
    size_t pitch, height;
} CopyEnd;
typedef struct {
    CopyEnd from, to;
    size_t width, height, depth;
} CopyParams;
#endif

int kernel_work(WarpWork *work, const struct cudaKernelNodeParams *params);
int copy_work(WarpWork *work, const CopyParams *params);
int fill_work(WarpWork *work, const struct cudaMemsetParams *params);
int host_work(WarpWork *work, const struct cudaHostNodeParams *params);
int alloc_work(WarpWork *work, struct cudaMemAllocNodeParams *params, uint64_t *address);
int graph_work(WarpWork *work, cudaGraph_t graph);
void kernel_params(const WarpWork *work, struct cudaKernelNodeParams *params);
void copy_params(const WarpWork *work, CopyParams *params);
void fill_params(const WarpWork *work, struct cudaMemsetParams *params);
void host_params(const WarpWork *work, struct cudaHostNodeParams *params);
void alloc_params(const WarpWork *work, struct cudaMemAllocNodeParams *params);

int add_node(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count,
             const WarpWork *work);
int change_node(cudaGraphNode_t node, const WarpWork *work);
int change_launched(cudaGraphExec_t exec, cudaGraphNode_t node, const WarpWork *work);

#endif
