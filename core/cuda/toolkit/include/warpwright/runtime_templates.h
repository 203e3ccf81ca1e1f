/* The runtime API's functions with the types of their arguments: cudaMalloc(&floats, size), symbols, kernels. */
#ifndef WARPWRIGHT_RUNTIME_TEMPLATES_H
#define WARPWRIGHT_RUNTIME_TEMPLATES_H

#include "cuda_runtime_api.h"
#include "texture_references.h"

/* ---- memory */

template <class T> inline cudaError_t cudaMalloc(T **devPtr, size_t size) {
    return cudaMalloc((void **)devPtr, size);
}

template <class T> inline cudaError_t cudaMallocHost(T **ptr, size_t size, unsigned int flags = 0) {
    return cudaHostAlloc((void **)ptr, size, flags);
}

template <class T> inline cudaError_t cudaHostAlloc(T **ptr, size_t size, unsigned int flags) {
    return cudaHostAlloc((void **)ptr, size, flags);
}

template <class T> inline cudaError_t cudaHostGetDevicePointer(T **pDevice, void *pHost, unsigned int flags) {
    return cudaHostGetDevicePointer((void **)pDevice, pHost, flags);
}

template <class T>
inline cudaError_t cudaMallocManaged(T **devPtr, size_t size, unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged((void **)devPtr, size, flags);
}

template <class T>
inline cudaError_t cudaMallocPitch(T **devPtr, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)devPtr, pitch, width, height);
}

template <class T> inline cudaError_t cudaMallocAsync(T **devPtr, size_t size, cudaStream_t stream) {
    return cudaMallocAsync((void **)devPtr, size, stream);
}

template <class T>
inline cudaError_t cudaMallocAsync(T **devPtr, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)devPtr, size, pool, stream);
}

template <class T>
inline cudaError_t cudaMallocFromPoolAsync(T **devPtr, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
    return cudaMallocFromPoolAsync((void **)devPtr, size, pool, stream);
}

template <class T>
inline cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *devPtr, size_t length = 0,
                                            unsigned int flags = cudaMemAttachSingle) {
    return cudaStreamAttachMemAsync(stream, (void *)devPtr, length, flags);
}

inline cudaError_t cudaMallocManaged(void **devPtr, size_t size) {
    return cudaMallocManaged(devPtr, size, cudaMemAttachGlobal);
}

inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
    return cudaEventCreateWithFlags(event, flags);
}

/* ---- graphs, with the parameters of CUDA 12 */

inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long flags = 0) {
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *info) {
    info->errorFromNode = 0;
    return cudaGraphExecUpdate(exec, graph, &info->errorNode, &info->result);
}

inline cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status,
                                            unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **dependencies = 0, size_t *count = 0) {
    return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

template <class T>
inline cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *dependencies, size_t count,
                                                  const T &symbol, const void *src, size_t bytes,
                                                  size_t offset, cudaMemcpyKind kind) {
    return cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, count, (const void *)&symbol, src, bytes,
                                          offset, kind);
}

template <class T>
inline cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *dependencies, size_t count,
                                                    void *dst, const T &symbol, size_t bytes, size_t offset,
                                                    cudaMemcpyKind kind) {
    return cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, count, dst, (const void *)&symbol,
                                            bytes, offset, kind);
}

template <class T>
inline cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T &symbol,
                                                        const void *src, size_t bytes, size_t offset,
                                                        cudaMemcpyKind kind) {
    return cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void *)&symbol, src, bytes, offset, kind);
}

template <class T>
inline cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst, const T &symbol,
                                                          size_t bytes, size_t offset, cudaMemcpyKind kind) {
    return cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, (const void *)&symbol, bytes, offset, kind);
}

template <class T>
inline cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                            const T &symbol, const void *src, size_t bytes,
                                                            size_t offset, cudaMemcpyKind kind) {
    return cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, (const void *)&symbol, src, bytes, offset,
                                                    kind);
}

template <class T>
inline cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                              void *dst, const T &symbol, size_t bytes,
                                                              size_t offset, cudaMemcpyKind kind) {
    return cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, dst, (const void *)&symbol, bytes, offset,
                                                      kind);
}

/* ---- symbols: variables of the device, by reference */

template <class T>
inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}

template <class T>
inline cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
                                           cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                           cudaStream_t stream = 0) {
    return cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}

template <class T>
inline cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                        cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}

template <class T>
inline cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                             cudaStream_t stream = 0) {
    return cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}

template <class T> inline cudaError_t cudaGetSymbolAddress(void **devPtr, const T &symbol) {
    return cudaGetSymbolAddress(devPtr, (const void *)&symbol);
}

template <class P, class T> inline cudaError_t cudaGetSymbolAddress(P **devPtr, const T &symbol) {
    return cudaGetSymbolAddress((void **)devPtr, (const void *)&symbol);
}

template <class T> inline cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
    return cudaGetSymbolSize(size, (const void *)&symbol);
}

/* ---- kernels, by their names */

template <class T>
inline cudaError_t cudaLaunchKernel(T *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem = 0,
                                    cudaStream_t stream = 0) {
    return cudaLaunchKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}

template <class T>
inline cudaError_t cudaLaunchCooperativeKernel(T *func, dim3 gridDim, dim3 blockDim, void **args,
                                               size_t sharedMem = 0, cudaStream_t stream = 0) {
    return cudaLaunchCooperativeKernel((const void *)func, gridDim, blockDim, args, sharedMem, stream);
}

template <class T> inline cudaError_t cudaLaunch(T *func) {
    return cudaLaunch((const void *)func);
}

template <class T> inline cudaError_t cudaSetupArgument(T arg, size_t offset) {
    return cudaSetupArgument((const void *)&arg, sizeof(T), offset);
}

template <class T> inline cudaError_t cudaFuncSetCacheConfig(T *func, cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)func, config);
}

template <class T> inline cudaError_t cudaFuncSetSharedMemConfig(T *func, cudaSharedMemConfig config) {
    return cudaFuncSetSharedMemConfig((const void *)func, config);
}

template <class T> inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attr, T *func) {
    return cudaFuncGetAttributes(attr, (const void *)func);
}

template <class T> inline cudaError_t cudaFuncSetAttribute(T *func, cudaFuncAttribute attr, int value) {
    return cudaFuncSetAttribute((const void *)func, attr, value);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, T func, int blockSize,
                                                                 size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, (const void *)func, blockSize,
                                                         dynamicSMemSize);
}

template <class T>
inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, T func, int blockSize,
                                                       size_t dynamicSMemSize, unsigned int flags) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, (const void *)func, blockSize,
                                                                  dynamicSMemSize, flags);
}

/* The block size, among multiples of the warp size, with which most threads fit; the largest of equal ones. */
template <class Size, class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *minGridSize, int *blockSize, T func,
                                                                  Size sizeOf, int blockSizeLimit = 0) {
    int device, sms, best = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&attributes, (const void *)func);
    if (error != cudaSuccess) return error;
    int largest = attributes.maxThreadsPerBlock;
    if (blockSizeLimit > 0 && blockSizeLimit < largest) largest = blockSizeLimit;
    for (int rounded = (largest + 31) / 32 * 32; rounded > 0; rounded -= 32) {
        int size = rounded < largest ? rounded : largest, blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)func, size,
                                                              sizeOf(size));
        if (error != cudaSuccess) return error;
        if (blocks * size <= best) continue;
        best = blocks * size;
        *blockSize = size;
        *minGridSize = blocks * sms;
    }
    return cudaSuccess;
}

template <class Size, class T>
inline cudaError_t
cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *minGridSize, int *blockSize, T func, Size sizeOf,
                                                        int blockSizeLimit = 0, unsigned int = 0) {
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(minGridSize, blockSize, func, sizeOf,
                                                          blockSizeLimit);
}

struct __warpwright_constant_size {
    size_t size;
    size_t operator()(int) const { return size; }
};

template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, T func,
                                                      size_t dynamicSMemSize = 0, int blockSizeLimit = 0) {
    __warpwright_constant_size sizeOf = {dynamicSMemSize};
    return cudaOccupancyMaxPotentialBlockSizeVariableSMem(minGridSize, blockSize, func, sizeOf,
                                                          blockSizeLimit);
}

template <class T>
inline cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, T func,
                                                               size_t dynamicSMemSize = 0,
                                                               int blockSizeLimit = 0, unsigned int = 0) {
    return cudaOccupancyMaxPotentialBlockSize(minGridSize, blockSize, func, dynamicSMemSize, blockSizeLimit);
}

template <class T>
inline cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, T *func, int numBlocks,
                                                             int blockSize) {
    return cudaOccupancyAvailableDynamicSMemPerBlock(size, (const void *)func, numBlocks, blockSize);
}

#if __cplusplus >= 201103L
template <class... Parameters, class... Arguments>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(Parameters...),
                                      Arguments &&...arguments) {
    return [&](Parameters... values) {
        void *addresses[] = {(void *)&values..., nullptr};
        return cudaLaunchKernelExC(config, (const void *)kernel, addresses);
    }(static_cast<Arguments &&>(arguments)...);
}
#endif

template <class T>
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, T *func,
                                                        const cudaLaunchConfig_t *config) {
    return cudaOccupancyMaxPotentialClusterSize(size, (const void *)func, config);
}

template <class T>
inline cudaError_t cudaOccupancyMaxActiveClusters(int *count, T *func, const cudaLaunchConfig_t *config) {
    return cudaOccupancyMaxActiveClusters(count, (const void *)func, config);
}

#endif
