/* The driver API's virtual memory: addresses, and memory that is put there; cuda.h includes it. */
#ifndef WARPWRIGHT_DRIVER_VIRTUAL_MEMORY_H
#define WARPWRIGHT_DRIVER_VIRTUAL_MEMORY_H

typedef unsigned long long CUmemGenericAllocationHandle;

typedef enum CUmemAllocationGranularity_flags_enum {
    CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
    CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1
} CUmemAllocationGranularity_flags;
typedef enum CUmemAllocationCompType_enum {
    CU_MEM_ALLOCATION_COMP_NONE = 0,
    CU_MEM_ALLOCATION_COMP_GENERIC = 1
} CUmemAllocationCompType;

typedef struct CUmemAllocationProp_st {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuMemGetAllocationGranularity(size_t *bytes, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option);
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                     const CUmemAllocationProp *properties, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list, size_t count);
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties,
                                                CUmemGenericAllocationHandle handle);

#ifdef __cplusplus
}
#endif

#endif
