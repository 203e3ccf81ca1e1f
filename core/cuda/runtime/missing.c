/* What is not there: an error, told once by name. */
#include "core/cuda/runtime/client.h"

int runtime_note(int problem);

#define MISSING(name)                                                                                        \
    int name(void);                                                                                          \
    int name(void) {                                                                                         \
        warp_name_missing(#name);                                                                            \
        return runtime_note(CUDA_NOT_SUPPORTED);                                                             \
    }

MISSING(cudaBindTextureToMipmappedArray)
MISSING(cudaDeviceGetDefaultMemPool)
MISSING(cudaDeviceGetMemPool)
MISSING(cudaDeviceGetP2PAttribute)
MISSING(cudaDeviceSetMemPool)
MISSING(cudaFreeMipmappedArray)
MISSING(cudaGetMipmappedArrayLevel)
MISSING(cudaGetTextureObjectResourceViewDesc)
MISSING(cudaGraphAddDependencies)
MISSING(cudaGraphAddEmptyNode)
MISSING(cudaGraphAddHostNode)
MISSING(cudaGraphAddKernelNode)
MISSING(cudaGraphAddMemcpyNode)
MISSING(cudaGraphAddMemcpyNode1D)
MISSING(cudaGraphAddMemsetNode)
MISSING(cudaGraphClone)
MISSING(cudaGraphCreate)
MISSING(cudaGraphDestroy)
MISSING(cudaGraphExecDestroy)
MISSING(cudaGraphExecUpdate)
MISSING(cudaGraphGetNodes)
MISSING(cudaGraphInstantiate)
MISSING(cudaGraphInstantiateWithFlags)
MISSING(cudaGraphLaunch)
MISSING(cudaGraphUpload)
MISSING(cudaImportExternalMemory)
MISSING(cudaImportExternalSemaphore)
MISSING(cudaIpcCloseMemHandle)
MISSING(cudaIpcGetEventHandle)
MISSING(cudaIpcGetMemHandle)
MISSING(cudaIpcOpenEventHandle)
MISSING(cudaIpcOpenMemHandle)
MISSING(cudaLaunchCooperativeKernelMultiDevice)
MISSING(cudaMallocFromPoolAsync)
MISSING(cudaMallocMipmappedArray)
MISSING(cudaMemPoolCreate)
MISSING(cudaMemPoolDestroy)
MISSING(cudaMemPoolGetAttribute)
MISSING(cudaMemPoolSetAccess)
MISSING(cudaMemPoolSetAttribute)
MISSING(cudaMemPoolTrimTo)
MISSING(cudaMemRangeGetAttribute)
MISSING(cudaMemcpy3DPeer)
MISSING(cudaMemcpy3DPeerAsync)
MISSING(cudaMemcpyArrayToArray)
MISSING(cudaOccupancyMaxActiveClusters)
MISSING(cudaOccupancyMaxPotentialClusterSize)
MISSING(cudaProfilerInitialize)
MISSING(cudaSetDoubleForDevice)
MISSING(cudaSetDoubleForHost)
MISSING(cudaStreamBeginCapture)
MISSING(cudaStreamEndCapture)
MISSING(cudaStreamGetAttribute)
MISSING(cudaStreamSetAttribute)
MISSING(cudaThreadExchangeStreamCaptureMode)
#if CUDA_MAJOR >= 13
/* Their parameters are others than before. */
MISSING(cudaMemPrefetchAsync)
MISSING(cudaMemAdvise)
#endif
