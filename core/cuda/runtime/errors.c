#include "core/cuda/runtime/errors.h"

#include <stddef.h>

static const struct {
    int code;
    const char *name, *text;
} errors[] = {
#define ERROR(name, value, text) {value, #name, text},
#include "core/cuda/toolkit/include/warpwright/errors.def"
#undef ERROR
};

/* The driver's names, where they are not the runtime's in other letters. */
static const struct {
    int code;
    const char *name;
} driver_errors[] = {
    {0, "CUDA_SUCCESS"},
    {CUDA_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {CUDA_MEMORY_ALLOCATION, "CUDA_ERROR_OUT_OF_MEMORY"},
    {CUDA_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED"},
    {CUDA_DEVICES_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {CUDA_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {CUDA_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    {CUDA_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
    {CUDA_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
    {CUDA_NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {CUDA_UNSUPPORTED_LIMIT, "CUDA_ERROR_UNSUPPORTED_LIMIT"},
    {218, "CUDA_ERROR_INVALID_PTX"},
    {CUDA_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND"},
    {CUDA_OPERATING_SYSTEM, "CUDA_ERROR_OPERATING_SYSTEM"},
    {CUDA_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    {CUDA_ILLEGAL_STATE, "CUDA_ERROR_ILLEGAL_STATE"},
    {CUDA_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {CUDA_NOT_READY, "CUDA_ERROR_NOT_READY"},
    {CUDA_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {CUDA_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {CUDA_LAUNCH_TIMEOUT, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {CUDA_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
    {710, "CUDA_ERROR_ASSERT"},
    {CUDA_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED"},
    {CUDA_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {CUDA_LAUNCH_FAILURE, "CUDA_ERROR_LAUNCH_FAILED"},
    {720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {CUDA_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    {CUDA_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {CUDA_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {CUDA_CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {CUDA_CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {CUDA_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {CUDA_CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {CUDA_CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {CUDA_CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT"},
    {CUDA_CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
    {CUDA_GRAPH_UPDATE_FAILURE, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"},
    {CUDA_INVALID_CLUSTER_SIZE, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
    {CUDA_UNKNOWN, "CUDA_ERROR_UNKNOWN"},
};

const char *warp_error_name(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return errors[i].name;
    return NULL;
}

const char *warp_error_text(int code) {
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code) return errors[i].text;
    return NULL;
}

const char *warp_driver_error_name(int code) {
    for (size_t i = 0; i < sizeof driver_errors / sizeof *driver_errors; i++)
        if (driver_errors[i].code == code) return driver_errors[i].name;
    return NULL;
}
