/* The state of a Gpu, shared by the files that implement it: gpu.c; launch.c, what begins a launch; run.c, what goes on until
 * it has ended; untimed_launch.c for launches without timing; drain.c. */
#ifndef WW_GPU_STATE_H
#define WW_GPU_STATE_H

#include "core/gpu/device/forward.h"
#include "core/gpu/device/gpu.h"
#include "core/gpu/device/histograms.h"
#include "core/gpu/device/profile.h"
#include "core/gpu/sm/sm.h"
#include "mem/protocol/functional_memory.h"

enum {
    MAX_SLICES = 64,
    SLICE_CYCLES = 16384, /* between two looks at the host's clock and at progress */
};

struct Gpu {
    Sim *sim;
    FunctionalMemory functional;
    SimObject *dispatcher;
    Sm *sms[MAX_SMS];
    uint32_t sm_count;
    SimObject *slices[MAX_SLICES];
    uint32_t slice_count;
    uint64_t code_bytes;
    const Module **modules; /* in the order in which they were loaded */
    uint32_t module_count;
    TextureTable textures;
    PrintedText printed;
    uint64_t heap_start, heap_bytes;
    uint64_t workspace; /* of cooperative launches; 0: none has come */
    RunningKernel running;
    LaunchFault *faults; /* of each SM; NULL before the first launch that returns them */
    LaunchFault fault;   /* of the present or last launch */
    LaunchResult result; /* likewise */
    uint32_t launches;
    uint64_t hang_cycles;
    char *hang_report;                 /* a file, or NULL */
    uint64_t progress, progress_cycle; /* when something moved last; kept from one gpu_run() to the next */
    volatile int interrupted;
    uint64_t pause_at_ctas; /* 0: none */
    Profile *profile;       /* or NULL */
    Histograms *histograms; /* or NULL */
    Forward *forward;       /* a launch without timing that has not ended; or NULL */
    void (*report)(void *context);
    void *report_context;
    double report_seconds, last_report;
};

/* The first edge of an object's clock at or after the present boundary. */
static inline uint64_t edge_from_now(const SimObject *object) {
    return (object->sim->now + object->period - 1) / object->period * object->period;
}

/* The launch is the present one, and the dispatcher has its grid. */
void gpu_begin_launch(Gpu *gpu, const Kernel *kernel, const Launch *launch);
/* Those that keep no lines between kernels. */
void gpu_invalidate_l1s(const Gpu *gpu);
/* A request and its answer take at most so many cycles on all wires of the machine. */
uint64_t gpu_wire_cycles(const Gpu *gpu);
/* Calls gpu_on_progress()'s function if it is time. */
void gpu_maybe_report(Gpu *gpu);
/* What the machine has counted so far; with `add`, since then. */
void gpu_count(const Gpu *gpu, LaunchResult *result, bool add);

#endif
