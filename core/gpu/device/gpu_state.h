/* The state of a Gpu, shared by the files that implement it: gpu.c; launch.c, what begins a launch; kernels.c, which
 * of its kernels run, and which SMs have which; run.c, what goes on until it has ended; untimed_launch.c for launches
 * without timing; drain.c. */
#ifndef WW_GPU_STATE_H
#define WW_GPU_STATE_H

#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/forward.h"
#include "core/gpu/device/gpu.h"
#include "core/gpu/device/histograms.h"
#include "core/gpu/device/kernel_counts.h"
#include "core/gpu/device/profile.h"
#include "core/gpu/sm/sm.h"
#include "mem/protocol/functional_memory.h"

enum {
    SLICE_CYCLES = 16384, /* between two looks at the host's clock and at progress */
};

/* One of those that were launched together, from the launch to the next one. */
typedef struct {
    RunningKernel running;
    LaunchResult
        result; /* its instructions, once all SMs have another kernel, or it has ended: see kernels.c */
    PrintedText printed;
    uint32_t *after; /* kernels that end before it begins */
    uint32_t after_count;
    int32_t priority;
    uint32_t has_begun, has_ended;      /* flags */
    uint32_t ended_before;              /* of `after`: the first ones, known to have ended */
    uint32_t first_behind, next_behind; /* see kernels.c: 1 + the number of a kernel, or 0 */
    bool is_awaited;                    /* see gpu_await() */
} LaunchedKernel;

struct Gpu {
    Sim *sim;
    FunctionalMemory functional;
    SimObject *dispatcher;
    Sm *sms[MAX_SMS];
    uint32_t sm_count;
    SimObject **keepers; /* L2s that keep the lines of copies from the host */
    uint32_t keeper_count;
    uint64_t code_bytes;
    const Module **modules; /* in the order in which they were loaded */
    uint32_t module_count;
    TextureTable textures;
    uint64_t print_limit;
    uint64_t heap_start, heap_bytes;
    uint64_t workspace;      /* of cooperative launches; 0: none has come */
    LaunchedKernel *kernels; /* of the present or last launch; NULL: none has come */
    uint32_t kernel_count;
    uint32_t expected;                   /* kernels that the last launch with timing has, or may have */
    bool is_async;                       /* there is room for others, which may join them */
    bool awaited_has_ended;              /* any of the kernels that are awaited */
    uint32_t first_awaited, awaited_end; /* kernels before and behind are not awaited */
    int32_t *priorities; /* of each kernel, for the dispatcher; NULL before the first launch */
    uint16_t *ended;     /* kernels, as they ended */
    uint16_t *may_begin; /* kernels that are to be looked at: they may wait for none any more */
    uint32_t ended_count, may_begin_count;
    uint32_t looked_at;            /* kernels from this one on have not been looked at */
    const RunningKernel **running; /* of each kernel */
    CtaNeeds *needs;               /* of each, on each SM */
    bool has_several_per_sm;       /* any SM may have CTAs of any of them at once */
    SmsOfKernels sms_of;           /* for the dispatcher */
    LaunchedKernel *planned;       /* of a launch that may be refused yet */
    uint32_t planned_count;
    uint32_t checked;             /* of a launch that begins: the kernel that is looked at */
    LaunchMistake mistake;        /* what it is looked at for: of a launch that is refused, why */
    uint16_t kernel_of[MAX_SMS];  /* the kernel that each SM has, if it has one alone */
    uint16_t sm_at_port[MAX_SMS]; /* of the dispatcher */
    LaunchFault *faults;          /* of each SM; NULL before the first launch that returns them */
    LaunchFault fault;            /* of the present or last launch */
    uint32_t launches;            /* kernels that were launched */
    void (*on_kernel)(void *context, const char *kernel, bool begins);
    void *on_kernel_context;
    uint64_t hang_cycles;
    char *hang_report;                 /* a file, or NULL */
    uint64_t progress, progress_cycle; /* when something moved last; kept from one gpu_run() to the next */
    volatile int interrupted;
    uint64_t pause_at_ctas;       /* 0: none */
    Profile *profile;             /* or NULL */
    Histograms *histograms;       /* or NULL */
    KernelCounts *kernel_counts;  /* or NULL */
    KernelCounts **counts_before; /* of machines whose place the present one has taken */
    uint32_t counts_before_count;
    Forward *forward; /* a launch without timing that has not ended; or NULL */
    void (*report)(void *context);
    void *report_context;
    double report_seconds, last_report;
};

/* The first edge of an object's clock at or after the present boundary. */
static inline uint64_t edge_from_now(const SimObject *object) {
    return (object->sim->now + object->period - 1) / object->period * object->period;
}

/* The launch is the present one, and the dispatcher has its grids. */
void gpu_begin_launch(Gpu *gpu, const KernelLaunch *launches, uint32_t count);
/* gpu_launch_untimed() of several kernels, one after the other. */
void gpu_launch_untimed_in_turn(Gpu *gpu, const KernelLaunch *launches, uint32_t count);
/* NULL is none. */
void gpu_free_kernels(LaunchedKernel *kernels, uint32_t count);
/* Those that keep no lines between kernels. */
void gpu_invalidate_l1s(const Gpu *gpu);
/* A request and its answer take at most so many cycles on all wires of the machine. */
uint64_t gpu_wire_cycles(const Gpu *gpu);
/* Calls gpu_on_progress()'s function if it is time. */
void gpu_maybe_report(Gpu *gpu);
/* --- kernels.c --- */
/* The first kernel of the launch that has not ended; the last one if all have. */
const LaunchedKernel *gpu_oldest_kernel(const Gpu *gpu);
/* Between quanta, of a launch whose SMs have all been given its first kernel: those begin that wait for no other. */
void gpu_begin_kernels(Gpu *gpu);
/* Between quanta: what follows from CTAs that have ended. */
void gpu_attend_to_kernels(Gpu *gpu);
/* The SM executes the kernel from now on. */
void gpu_set_kernel(Gpu *gpu, uint32_t sm, uint32_t kernel);
/* The SM executes what it executed, this kernel if it has one alone. */
void gpu_set_kernel_again(Gpu *gpu, uint32_t sm, uint32_t kernel);
/* Between quanta: kernels that wait for no other begin, and SMs are shared again. */
void gpu_begin_joined_kernels(Gpu *gpu);
/* SMs execute all kernels of the launch, which is new, side by side. */
void gpu_set_all_kernels(Gpu *gpu);
/* The dispatcher gives SMs in the order of their priorities, those of kernels from this one on being new. */
void gpu_set_priorities(Gpu *gpu, uint32_t first);
/* Which ones have begun and ended is another set than before. */
void gpu_look_at_all_kernels(Gpu *gpu);
/* And those from this one on, which have come to the others. */
void gpu_add_kernels(Gpu *gpu, uint32_t first);
/* What the dispatcher asks of the machine's SMs. */
SmsOfKernels gpu_sms_of_kernels(Gpu *gpu);

#endif
