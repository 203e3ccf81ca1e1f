/* The GPU as its host sees it: memory, modules, kernel launches. What host programs and the Lua layer call;
 * knows machines only as a Sim that contains one Dispatcher and its SMs. */
#ifndef WW_GPU_GPU_H
#define WW_GPU_GPU_H

#include "core/gpu/sm/fault.h"
#include "core/gpu/sm/memcheck.h"
#include "core/ptx/execution/memory.h"
#include "core/ptx/execution/system.h"
#include "core/ptx/execution/texture.h"
#include "core/ptx/module.h"
#include "core/sim/checkpoint/snapshot.h"
#include "core/sim/sim.h"

typedef struct Gpu Gpu;

enum { STACK_BYTES = 1024 };

typedef struct {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes; /* dynamic */
    uint8_t *params;       /* kernel->param_bytes long; copied */
    uint32_t registers;    /* per thread, 0: as the kernel says */
    uint32_t stack_bytes;  /* per thread, of kernels with recursive calls; 0: STACK_BYTES */
    bool is_cooperative;   /* all CTAs run at once, and %envreg1, %envreg2 tell where they meet */
    uint64_t forward_ctas; /* so many end before the launch has timing; others are in mid-flight then */
    bool is_untimed;       /* see gpu_launch_untimed() */
    uint64_t cold_ctas;    /* of those without timing, so many at first leave no lines in the caches */
    bool returns_faults;   /* a fault or a hang ends the kernel, not the run: see gpu_fault() */
    uint32_t tenant;       /* 0 unless it is named, for policies and results */
} Launch;

/* One of several kernels that are launched together. */
typedef struct {
    const Kernel *kernel;
    const Launch *launch;
    const uint32_t *after; /* numbers of kernels before it in the list, which end before it begins */
    uint32_t after_count;
    int32_t priority; /* lower numbers get SMs first; of the same, in the order of the list */
} KernelLaunch;

/* What one kernel did: the differences of its SMs' counters while they had it. */
typedef struct {
    const char *kernel;
    uint32_t module; /* gpu_module_of() */
    uint32_t tenant;
    uint64_t start_cycle, cycles;
    uint64_t warp_instructions, thread_instructions;
    uint64_t ctas, threads_per_cta;
    uint64_t ctas_per_sm;       /* that an SM holds at most */
    uint64_t limit;             /* OccupancyLimit: what keeps it from holding more */
    const PrintedText *printed; /* by vprintf; valid until the next launch */
} LaunchResult;

typedef enum { RUN_DONE, RUN_CYCLE_LIMIT, RUN_INTERRUPTED, RUN_CTAS_DONE, RUN_KERNEL_ENDED } RunStatus;

Gpu *gpu_new(Sim *sim, uint64_t memory_bytes);
/* Elaborates the Sim, which must not be yet. User errors when it has no Dispatcher or no SM, or is not wired
 * up. */
void gpu_elaborate(Gpu *gpu);
/* After sim_free(), which is the caller's: the objects look into device memory to the last. */
void gpu_free(Gpu *gpu);
DeviceMemory *gpu_memory(Gpu *gpu);
/* To be changed between kernels only. */
TextureTable *gpu_textures(Gpu *gpu);

/* Host copies and fills that respect machines on which they have a side effect (warming L2). */
void gpu_write(Gpu *gpu, uint64_t address, const void *bytes, uint64_t count);
/* After the host wrote there by itself. */
void gpu_wrote(Gpu *gpu, uint64_t address, uint64_t count);
/* The side effect alone, of a copy whose bytes nobody knows. */
void gpu_keep_copy(Gpu *gpu, uint64_t address, uint64_t count);
void gpu_fill(Gpu *gpu, uint64_t address, uint8_t byte, uint64_t count);

/* Of the heap of malloc, and of what each launch may print; from the next launch on. The heap is allocated with
 * the first module that has malloc, so its size is final then: false when that is too late. */
bool gpu_set_heap(Gpu *gpu, uint64_t bytes);
void gpu_set_print_limit(Gpu *gpu, uint64_t bytes);

/* Allocates and initialises the module's variables, and gives its textures handles. The module must outlive
 * the Gpu. */
void gpu_place_module(Gpu *gpu, Module *module);
/* The kernel of a placed module whose code begins there, or NULL. */
const Kernel *gpu_kernel_at(const Gpu *gpu, uint64_t code_address);
/* The number of its module, from 1 on, among those that have a kernel of its name. */
uint32_t gpu_module_of(const Gpu *gpu, const Kernel *kernel);

/* Starts a kernel at the next quantum boundary; no other may be running. A kernel whose CTA does not fit an
 * SM, or that is not legal otherwise, is a user error with kernel, resource, need and limit. */
void gpu_launch(Gpu *gpu, const Kernel *kernel, const Launch *launch);
/* What a launch is refused for. */
typedef enum {
    MISTAKE_OTHER,
    MISTAKE_EXTENTS,     /* grid or block */
    MISTAKE_RESOURCES,   /* no SM can hold a CTA */
    MISTAKE_COOPERATIVE, /* more CTAs than the SMs can hold at once */
} LaunchMistake;

enum { MAX_KERNELS_IN_FLIGHT = 16384 }; /* from the first to the last that joins them */

/* The same of up to MAX_KERNELS_TOGETHER kernels, which run side by side, each on SMs of its own, but for those that wait
 * for others. Cooperative ones run one after the other. All have timing, or none, which run one after the other; all return
 * faults, or none. */
void gpu_launch_together(Gpu *gpu, const KernelLaunch *launches, uint32_t count);
/* The same, with timing, and others may join them while any of them runs, up to MAX_KERNELS_IN_FLIGHT in all. `joins`: these join those of the present launch,
 * behind them, whose numbers `after` may have. In two steps: checks and numbers, which is what a resume repeats; and,
 * between quanta, those begin that wait for no other. */
void gpu_prepare_async(Gpu *gpu, const KernelLaunch *launches, uint32_t count, bool joins);
void gpu_begin_async(Gpu *gpu, uint32_t count, bool joins);
/* gpu_run() returns RUN_KERNEL_ENDED, once, at the end of the quantum in which this kernel of the present launch ends, or at
 * once where it has ended. */
void gpu_await(Gpu *gpu, uint32_t kernel);
void gpu_await_none(Gpu *gpu);
/* gpu_launch(), and runs it at once, without timing: no cycle passes, nothing is counted but CTAs, and no policy hears of
 * it. Memory has what it wrote. */
void gpu_launch_untimed(Gpu *gpu, const Kernel *kernel, const Launch *launch);
/* Told of the kernels that gpu_run() runs: when one begins that had to wait, and when one has ended. */
void gpu_on_kernel(Gpu *gpu, void (*on_kernel)(void *context, const char *kernel, bool begins),
                   void *context);
/* Behind a launch with timing: the events of SMs that say which kernel they have. */
void gpu_tell_kernels_of_sms(const Gpu *gpu);
/* gpu_launch() in steps: the launch begins without timing, executes so far, and the machine takes over what is resident,
 * or nothing, when all CTAs have ended. A fault or a hang ends it as it does that of gpu_launch(). */
void gpu_launch_forward(Gpu *gpu, const Kernel *kernel, const Launch *launch);
typedef struct {
    uint64_t warp_instructions, ctas; /* of the launch, so far                                  */
    uint64_t loads;                   /* of the instructions: from memory, atomics included     */
    uint64_t cycles;                  /* of the SMs' own time                                   */
    uint64_t conflict_cycles;         /* of shared memory: see forward_conflict_cycles()        */
    UntimedTraffic traffic;           /* of the launch, where its accesses are seen by caches   */
} ForwardProgress;
ForwardProgress gpu_forward_until(Gpu *gpu, uint64_t ctas);
void gpu_forward_end(Gpu *gpu);
/* Warp instructions with timing that have loaded from memory since the machine was made, atomics included. */
uint64_t gpu_loads(const Gpu *gpu);
/* Cycles of conflicts in shared memory, likewise. */
uint64_t gpu_conflict_cycles(const Gpu *gpu);
/* How many CTAs of such a launch the machine holds at once; a user error when it is none. */
uint64_t gpu_resident_ctas(Gpu *gpu, const Kernel *kernel, const Launch *launch);
/* Runs until so many warp instructions have issued since the machine was made, so many CTAs of the launch have ended, or
 * the kernel is done. A launch that faults or hangs is a user error. */
void gpu_run_instructions(Gpu *gpu, uint64_t instructions, uint64_t ctas);
/* Runs until the kernel is done or the core clock reaches `cycle_limit`. Hangs and faults are user errors
 * with their reports on stderr. */
RunStatus gpu_run(Gpu *gpu, uint64_t cycle_limit);
/* Of a launch with `returns_faults` that is done: why it was given up, or NULL. Of the faults in the first quantum
 * with one it is that of the first SM. All warps have exited in that quantum, CTAs not handed out have never begun,
 * and what was in flight has come to its end: the GPU is good for another launch. */
const LaunchFault *gpu_fault(const Gpu *gpu);
/* Ends the running kernel of such a launch in that way; from gpu_on_progress()'s function. */
void gpu_give_up(Gpu *gpu, const char *why);
/* Likewise what of any launch has no timing. The run cannot go on behind that. */
void gpu_stop_untimed(Gpu *gpu);
/* After the last kernel: lets write-backs and the like finish, so that nothing is in flight any more. Sources of
 * traffic rest meanwhile. A user error when an object of a class in Lua makes requests for ever. */
void gpu_drain(Gpu *gpu);

/* Looks at every access from now on: before the first allocation. No checkpoint holds what it knows. */
void gpu_memcheck(Gpu *gpu);
bool gpu_has_memcheck(const Gpu *gpu);
/* What --profile counts, from now on; before the first kernel. Then gpu_profile() is not NULL. */
void gpu_start_profile(Gpu *gpu);
struct Profile *gpu_profile(const Gpu *gpu);
/* The same of --histograms. */
void gpu_start_histograms(Gpu *gpu);
struct Histograms *gpu_histograms(const Gpu *gpu);
/* What each kernel had, where the dispatcher's count_by_kernel is set; or NULL. */
struct KernelCounts *gpu_kernel_counts(const Gpu *gpu);
/* memcheck_collect() of all SMs. */
uint32_t gpu_memcheck_sites(const Gpu *gpu, MemcheckSite **sites);
/* How many have been prepared, whatever came of them: the number of the next one, %gridid. */
uint32_t gpu_launch_count(const Gpu *gpu);
uint32_t gpu_sm_count(const Gpu *gpu);
/* Of the present or last launch: how many kernels, and what each of them did. */
uint32_t gpu_kernel_count(const Gpu *gpu);
bool gpu_kernel_has_begun(const Gpu *gpu, uint32_t kernel);
/* Those that have ended, as they did, or after a load as they are numbered. */
const uint16_t *gpu_ended_kernels(const Gpu *gpu, uint32_t *count);
/* Of a launch that was refused: which of its kernels was. */
uint32_t gpu_refused_kernel(const Gpu *gpu);
LaunchMistake gpu_launch_mistake(const Gpu *gpu);
LaunchResult gpu_launch_result(const Gpu *gpu, uint32_t kernel);
static inline LaunchResult gpu_last_launch(const Gpu *gpu) {
    return gpu_launch_result(gpu, 0);
}
uint64_t gpu_cycle(const Gpu *gpu); /* core cycles so far */
uint64_t gpu_warp_instructions(const Gpu *gpu);
uint64_t gpu_thread_instructions(const Gpu *gpu);

/* Makes gpu_run() return RUN_INTERRUPTED at the next quantum boundary; callable from a signal handler. */
void gpu_interrupt(Gpu *gpu);

/* --- Checkpoints, at a quantum boundary ------------------------------------------------------- */

/* Appends the machine and the counters of the running or last launch; not the memory (device_memory_save()).
 */
void gpu_save(const Gpu *gpu, Buffer *buffer);
/* Repeats a launch without running it: on resume, for every launch of the host program up to the checkpoint.
 */
void gpu_prepare(Gpu *gpu, const KernelLaunch *launches, uint32_t count);
/* Takes over a saved state after the host program repeated what it did until then: the same modules,
 * allocations and launches. False, with the reason, when the bytes are damaged or of another machine, see
 * sim_load(). */
bool gpu_load(Gpu *gpu, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size);

/* Goes on in the middle of everything on another machine, which is not elaborated yet; sim_load() is to give it the state
 * of the present one, which is the caller's to free. */
void gpu_move(Gpu *gpu, Sim *to);
/* snapshot_list() of what gpu_save() wrote. */
bool gpu_list(Reader *reader, uint64_t *now, SnapshotVisitor *visit, void *context, char *why,
              size_t why_size);

/* For progress lines: the first kernel of the launch that has not ended, how many others have not, and CTAs finished and
 * in all of all its kernels. */
typedef struct {
    const char *kernel;
    uint32_t others;
    uint64_t ctas_done, ctas;
} GpuProgress;
GpuProgress gpu_progress(const Gpu *gpu);
/* How many warps spin, and the loop of the first: "; 3 warps spin, warp 0 of sm[0] in ..."; "" where none does. */
void gpu_describe_spinning(const Gpu *gpu, char *text, size_t size);
/* gpu_run() returns RUN_CTAS_DONE, once, when so many CTAs of the running kernel, or of one after it, are done;
 * 0: it does not. */
void gpu_pause_at_ctas(Gpu *gpu, uint64_t ctas);
/* Called about every `seconds` of host time from gpu_run(), between quanta. */
void gpu_on_progress(Gpu *gpu, double seconds, void (*report)(void *context), void *context);
/* A file that gets what every object waits for when a run hangs, of which stderr gets the gist; NULL, as at
 * first: all of it goes to stderr. */
void gpu_hang_report(Gpu *gpu, const char *path);
/* Cycles without progress after which a run is reported as a hang. */
void gpu_hang_limit(Gpu *gpu, uint64_t cycles);

#endif
