/* The driver API's types, as far as it is there. */
#ifndef WW_CUDA_DRIVER_H
#define WW_CUDA_DRIVER_H

#include "core/cuda/runtime/client.h"
#include "core/cuda/runtime/streams.h"

typedef int CUresult, CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct DriverContext *CUcontext;
typedef WarpModule *CUmodule;
typedef WarpFunction *CUfunction;
typedef WarpStream *CUstream;
typedef WarpEvent *CUevent;

enum { DRIVER_VERSION = 12040 };

/* Names that programs ask for with the number of their version behind. */
#define ALSO(again, name) __typeof__(name) again __attribute__((alias(#name), visibility("default")));

/* The error log of JIT options, and an empty one of information. */
void driver_write_logs(const char *text, unsigned count, const int *options, void **values);
/* All of a file, to be freed; NULL where there is no such file. */
void *driver_read_file(const char *path, size_t *bytes);

/* As warp_enter(), of a call that needs a context: an error where none is current. */
int driver_enter(void);
/* That of this thread, or NULL. */
CUcontext driver_context(void);
/* The end of a call that began with warp_enter() or driver_enter(). */
static inline CUresult driver_leave(int problem) {
    warp_leave();
    return problem;
}

#endif
