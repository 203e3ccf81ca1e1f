/* The section of a checkpoint that a machine gets: a small machine in the middle of a kernel, with
 * every class on the way to memory, loads bytes from anywhere. It takes them or says why not. What it then
 * does is no question here: digests keep contents that no machine ever wrote from coming so far. */
#include "core/gpu/device/gpu.h"
#include "core/ptx/module.h"
#include "core/sim/sim.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY_BYTES = 1 << 20, THREADS = 64, CTAS = 6, SEEDS = 6, SEED_CYCLES = 150, OUT_BYTES = 4096 };

/* Divergence, barriers, shared memory, loads, stores and atomics. */
static const char kernel_text[] = ".version 6.0\n.target sm_20\n.address_size 64\n"
                                  ".visible .global .align 256 .b8 out[4096];\n"
                                  ".visible .entry busy()\n{\n"
                                  ".reg .b32 %r<10>;\n.reg .b64 %d<8>;\n.reg .pred %p<4>;\n"
                                  ".shared .align 4 .b8 tile[256];\n"
                                  "mov.u64 %d1, out;\n"
                                  "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n"
                                  "mad.lo.u32 %r3, %r2, 64, %r1;\n"
                                  "mul.wide.u32 %d2, %r3, 4;\nadd.u64 %d3, %d1, %d2;\n"
                                  "mov.u64 %d4, tile;\nmul.wide.u32 %d5, %r1, 4;\nadd.u64 %d6, %d4, %d5;\n"
                                  "and.b32 %r4, %r1, 7;\nmov.u32 %r5, 0;\n"
                                  "again:\n"
                                  "ld.global.u32 %r6, [%d3];\nadd.u32 %r6, %r6, 1;\n"
                                  "st.shared.u32 [%d6], %r6;\nbar.sync 0;\nld.shared.u32 %r7, [%d6];\n"
                                  "setp.lt.u32 %p1, %r4, %r5;\n@%p1 bra skip;\n"
                                  "st.global.u32 [%d3], %r7;\natom.global.add.u32 %r8, [%d1], 1;\n"
                                  "skip:\n"
                                  "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 8;\n@%p2 bra again;\n"
                                  "ret;\n}\n";

typedef struct {
    Sim *sim;
    Gpu *gpu;
    Module *module;
    const Kernel *kernel;
} Machine;

/* Of `busy`, all of them: the second begins when the SM has no CTA of the first left, the third waits for it. */
enum { KERNELS = 3 };

static const KernelLaunch *launches(const Machine *machine) {
    static const Launch launch = {.grid = {CTAS, 1, 1}, .block = {THREADS, 1, 1}};
    static const uint32_t second[] = {1};
    static KernelLaunch list[KERNELS] = {
        {.launch = &launch}, {.launch = &launch}, {.launch = &launch, .after = second, .after_count = 1}};
    for (uint32_t k = 0; k < KERNELS; k++)
        list[k].kernel = machine->kernel;
    return list;
}

static SimObject *add(Sim *sim, const char *class, const char *path, const char *parameters) {
    SimObject *object = sim_add(sim, class, path, NULL);
    char name[32], value[32];
    for (int used; sscanf(parameters, " %31[^=]=%31s%n", name, value, &used) == 2; parameters += used)
        object_set_text(object, name, value);
    sim_finish_object(object);
    return object;
}

static void wire(Sim *sim, SimObject *a, const char *port_a, SimObject *b, const char *port_b,
                 uint64_t latency) {
    LinkOptions options = {.latency = latency, .depth = 8};
    sim_wire(sim, a, port_a, b, port_b, options, options);
}

/* What the SM does with several kernels: CTAs of one at a time, or of two at once. */
static const char *const dispatchers[] = {"sms=1", "sms=1 kernels_per_sm=2 sharing=evenly"};
enum { MACHINES = 2 };

static void add_objects(Sim *sim, uint32_t number) {
    SimObject *dispatcher = add(sim, "Dispatcher", "dispatcher", dispatchers[number]);
    add(sim, "AddressMap", "map", "channels=1");
    SimObject *sm = add(sim, "SM", "sm[0]", "warps=8 ctas=4 registers=4096 shared=4KiB");
    SimObject *lsu = sim_find(sim, "sm[0].lsu");
    sim_finish_object(lsu);
    SimObject *l1 = add(sim, "L1", "sm[0].l1d", "size=2KiB ways=2 mshrs=4");
    SimObject *crossbar = add(sim, "Crossbar", "xbar", "up=1 down=1");
    SimObject *l2 = add(sim, "L2", "l2[0]", "size=8KiB ways=4 mshrs=4 rop_delay=4");
    SimObject *controller = add(sim, "MemoryController", "mc[0]", "queue_entries=8 return_entries=8");
    wire(sim, dispatcher, "sm[0]", sm, "dispatch", 1);
    wire(sim, lsu, "mem", l1, "cpu", 1);
    wire(sim, l1, "mem", crossbar, "up[0]", 4);
    wire(sim, crossbar, "down[0]", l2, "cpu", 4);
    wire(sim, l2, "mem", controller, "cpu[0]", 4);
}

static Machine new_machine(uint32_t number) {
    Machine machine = {.sim = sim_new("small"),
                       .module = module_parse("busy.ptx", kernel_text, strlen(kernel_text))};
    sim_clock(machine.sim, "core", 1000000000);
    sim_set_quantum(machine.sim, 4);
    machine.gpu = gpu_new(machine.sim, MEMORY_BYTES);
    add_objects(machine.sim, number);
    gpu_elaborate(machine.gpu);
    gpu_place_module(machine.gpu, machine.module);
    machine.kernel = module_kernel(machine.module, "busy");
    return machine;
}

static void free_machine(Machine *machine) {
    sim_free(machine->sim);
    gpu_free(machine->gpu);
    module_free(machine->module);
}

static void load(uint32_t number, Reader reader) {
    char why[300] = "";
    SnapshotChanges changes = {0};
    Machine machine = new_machine(number);
    gpu_prepare(machine.gpu, launches(&machine), KERNELS);
    bool good = gpu_load(machine.gpu, &reader, &changes, why, sizeof why);
    ensure(good || why[0]);
    if (good) {
        Buffer again = {0};
        gpu_save(machine.gpu, &again);
        buffer_free(&again);
    }
    free_machine(&machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    for (uint32_t number = 0; number < MACHINES; number++)
        load(number, (Reader){.bytes = bytes, .count = count});
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t count, size_t capacity, unsigned seed) {
    (void)seed;
    return LLVMFuzzerMutate(bytes, count, capacity);
}

static void write_seed(const char *folder, uint32_t machine, int number, const Buffer *contents) {
    char path[1024];
    snprintf(path, sizeof path, "%s/machine_%u_cycle_%d", folder, machine, number * SEED_CYCLES);
    FILE *file = fopen(path, "wb");
    if (file && fwrite(contents->bytes, 1, contents->count, file) == contents->count && fclose(file) == 0)
        return;
    perror(path);
    exit(2);
}

static void make_seeds(const char *folder, uint32_t number) {
    Machine machine = new_machine(number);
    gpu_launch_together(machine.gpu, launches(&machine), KERNELS);
    for (int i = 0; i < SEEDS; i++) {
        Buffer saved = {0};
        RunStatus status = gpu_run(machine.gpu, (uint64_t)i * SEED_CYCLES);
        ensure(status == RUN_CYCLE_LIMIT);
        gpu_save(machine.gpu, &saved);
        write_seed(folder, number, i, &saved);
        buffer_free(&saved);
    }
    free_machine(&machine);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    class_register_all();
    if (*argc != 3 || strcmp((*argv)[1], "--seeds") != 0) return 0;
    for (uint32_t number = 0; number < MACHINES; number++)
        make_seeds((*argv)[2], number);
    exit(0);
}
