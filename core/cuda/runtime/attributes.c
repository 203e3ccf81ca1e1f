/* Attributes of the device, which both APIs number alike. */
#include "core/cuda/runtime/client.h"
#include "core/cuda/runtime/limits.h"
#include "core/cuda/toolkit/include/driver_types.h"

/* Of the driver API alone: words of streams, as they were numbered at first and are now. */
enum {
    STREAM_VALUES_AT_FIRST = 92,
    STREAM_VALUES_OF_64_BITS_AT_FIRST,
    STREAM_WAIT_NOR_AT_FIRST,
    VIRTUAL_MEMORY_SUPPORTED = 102,
    STREAM_VALUES_OF_64_BITS = 122,
    STREAM_WAIT_NOR
};

static int number(DeviceNumber which) {
    return (int)warp_device()->number[which];
}

int warp_attribute(int which, int *value) {
    switch (which) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: *value = MOST_THREADS; break;
    case cudaDevAttrMaxBlockDimZ: *value = MOST_THREADS_Z; break;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxPitch: *value = 0x7fffffff; break;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: *value = MOST_GRID_YZ; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)warp_shared_bytes(); break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)warp_most_shared_bytes(); break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = number(DEVICE_RESERVED_SHARED); break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = number(DEVICE_SHARED_PER_SM); break;
    case cudaDevAttrTotalConstantMemory: *value = CONSTANT_BYTES; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = number(DEVICE_REGISTERS_PER_SM); break;
    case cudaDevAttrClockRate: *value = number(DEVICE_CORE_KHZ); break;
    case cudaDevAttrMemoryClockRate: *value = number(DEVICE_MEMORY_KHZ); break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = number(DEVICE_MEMORY_BITS); break;
    case cudaDevAttrL2CacheSize: *value = number(DEVICE_L2_BYTES); break;
    case cudaDevAttrMultiProcessorCount: *value = number(DEVICE_SMS); break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = number(DEVICE_THREADS_PER_SM); break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = number(DEVICE_CTAS_PER_SM); break;
    case cudaDevAttrComputeCapabilityMajor: *value = number(DEVICE_MAJOR); break;
    case cudaDevAttrComputeCapabilityMinor: *value = number(DEVICE_MINOR); break;
    case cudaDevAttrTextureAlignment: *value = TEXTURE_ALIGN; break;
    case cudaDevAttrTexturePitchAlignment: *value = TEXTURE_PITCH; break;
    case cudaDevAttrMaxTexture1DWidth: *value = MOST_TEXELS_1D; break;
    case cudaDevAttrMaxTexture1DLinearWidth: *value = 1 << 27; break;
    case cudaDevAttrMaxTexture2DWidth:
    case cudaDevAttrMaxTexture2DHeight:
    case cudaDevAttrMaxTexture2DLinearWidth:
    case cudaDevAttrMaxTexture2DLinearHeight: *value = MOST_TEXELS_2D; break;
    case cudaDevAttrMaxTexture3DWidth:
    case cudaDevAttrMaxTexture3DHeight:
    case cudaDevAttrMaxTexture3DDepth: *value = MOST_TEXELS_3D; break;
    case cudaDevAttrMaxTexture2DLayeredLayers:
    case cudaDevAttrMaxTexture1DLayeredLayers: *value = MOST_LAYERS; break;
    case cudaDevAttrPciBusId:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrMemoryPoolsSupported:
    case STREAM_VALUES_AT_FIRST:
    case STREAM_VALUES_OF_64_BITS_AT_FIRST:
    case STREAM_WAIT_NOR_AT_FIRST:
    case STREAM_VALUES_OF_64_BITS:
    case STREAM_WAIT_NOR:
    case VIRTUAL_MEMORY_SUPPORTED:
    case cudaDevAttrHostRegisterSupported: *value = 1; break;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: *value = 2; break;
    default:
        if (which < 1 || which > 200) return CUDA_INVALID_VALUE;
        *value = 0; /* features that the machine does not have */
    }
    return CUDA_OK;
}
