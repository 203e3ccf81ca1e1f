#include "core/gpu/device/gpu_state.h"

#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/wiring.h"
#include "core/gpu/lsu/lsu_state.h"
#include "mem/network/request_ways.h"
#include "mem/protocol/caches.h"

#include <stdlib.h>

enum { HANG_CYCLES = 2000000 };

/* The places between issue and LSU: latch, two collectors, dispatch register; and the LSU itself, which
 * leaves an instruction here while it works on it. */
#define LSU_LINK ((LinkOptions){.depth = 5})

/* The SM's port to its own load/store unit needs no wiring by hand. */
static void wire_lsus(Sim *sim) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        SimObject *lsu = sim->objects[i];
        if (lsu->class != &lsu_class) continue;
        if (!lsu->parent || lsu->parent->class != &sm_class)
            user_error("%s: expected an LSU below an SM, which has one as it is made, got one %s%s",
                       lsu->path, lsu->parent ? "below " : "by itself", lsu->parent ? lsu->parent->path : "");
        if (((Sm *)lsu->parent)->lsu.send) continue;
        sim_wire(sim, lsu->parent, "lsu", lsu, "sm", LSU_LINK, LSU_LINK);
    }
}

static void add_keeper(Gpu *gpu, SimObject *l2) {
    gpu->keepers = realloc(gpu->keepers, (gpu->keeper_count + 1) * sizeof *gpu->keepers);
    ensure_memory(gpu->keepers);
    gpu->keepers[gpu->keeper_count++] = l2;
}

static void find_objects(Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sim->object_count; i++) {
        SimObject *object = gpu->sim->objects[i];
        if (object->class == &dispatcher_class) {
            if (gpu->dispatcher)
                user_error("%s: expected one Dispatcher in machine %s, got a second", object->path,
                           gpu->sim->name);
            gpu->dispatcher = object;
        }
        if (object->class == &l2_class && l2_keeps_host_copies(object)) add_keeper(gpu, object);
        if (object->class == &sm_class && gpu->sm_count < MAX_SMS) gpu->sms[gpu->sm_count++] = (Sm *)object;
    }
    if (!gpu->dispatcher) user_error("machine %s: expected a Dispatcher, got none", gpu->sim->name);
    if (!gpu->sm_count) user_error("machine %s: expected an SM or more, got none", gpu->sim->name);
}

Gpu *gpu_new(Sim *sim, uint64_t memory_bytes) {
    DeviceMemory *memory = device_memory_new(memory_bytes);
    Gpu *gpu = calloc(1, sizeof *gpu);
    ensure_memory(gpu);
    gpu->sim = sim;
    gpu->hang_cycles = HANG_CYCLES;
    gpu->heap_bytes = HEAP_BYTES;
    gpu->print_limit = PRINT_BYTES;
    gpu->functional.memory = memory;
    sim->user = &gpu->functional;
    return gpu;
}

/* Dispatchers serve all SMs of the machine, each at a port. */
static void find_ports(Gpu *gpu) {
    for (uint32_t i = 0; i < gpu->sm_count; i++) {
        int port = dispatcher_port_of(gpu->dispatcher, &gpu->sms[i]->obj);
        if (port >= 0) gpu->sm_at_port[port] = (uint16_t)i;
    }
    gpu->sms_of = gpu_sms_of_kernels(gpu);
    dispatcher_know_sms(gpu->dispatcher, &gpu->sms_of);
}

static bool begins_atomics(const Link *requests) {
    const SimObject *lsu = requests->sender;
    return lsu->class == &lsu_class && ((const Lsu *)lsu)->mem.send == requests;
}

void gpu_elaborate(Gpu *gpu) {
    find_objects(gpu);
    wire_lsus(gpu->sim);
    wiring_check(gpu->sim);
    sim_elaborate(gpu->sim);
    request_ways_find(gpu->sim, begins_atomics);
    find_ports(gpu);
    if (!dispatcher_counts_by_kernel(gpu->dispatcher)) return;
    gpu->kernel_counts = kernel_counts_new(gpu->sim);
    kernel_counts_launches(gpu->kernel_counts, gpu->launches);
}

void gpu_free(Gpu *gpu) {
    if (!gpu) return;
    profile_free(gpu->profile);
    histograms_free(gpu->histograms);
    kernel_counts_free(gpu->kernel_counts);
    for (uint32_t i = 0; i < gpu->counts_before_count; i++)
        kernel_counts_free(gpu->counts_before[i]);
    free(gpu->counts_before);
    forward_free(gpu->forward);
    gpu_free_kernels(gpu->kernels, gpu->kernel_count);
    gpu_free_kernels(gpu->planned, gpu->planned_count);
    free(gpu->keepers);
    free(gpu->running);
    free(gpu->priorities);
    free(gpu->ended);
    free(gpu->may_begin);
    free(gpu->needs);
    free(gpu->faults);
    free(gpu->hang_report);
    free(gpu->modules);
    texture_table_free(&gpu->textures);
    device_memory_free(gpu->functional.memory);
    free(gpu);
}

DeviceMemory *gpu_memory(Gpu *gpu) {
    return gpu->functional.memory;
}

TextureTable *gpu_textures(Gpu *gpu) {
    return &gpu->textures;
}

void gpu_keep_copy(Gpu *gpu, uint64_t address, uint64_t count) {
    l2_warm_range(gpu->keepers, gpu->keeper_count, address, count);
}

void gpu_write(Gpu *gpu, uint64_t address, const void *bytes, uint64_t count) {
    device_write(gpu->functional.memory, address, bytes, count);
    gpu_keep_copy(gpu, address, count);
}

void gpu_wrote(Gpu *gpu, uint64_t address, uint64_t count) {
    device_initialise(gpu->functional.memory, address, count);
    gpu_keep_copy(gpu, address, count);
}

void gpu_fill(Gpu *gpu, uint64_t address, uint8_t byte, uint64_t count) {
    device_fill(gpu->functional.memory, address, byte, count);
}

/* Code lies beyond device and local memory: only instruction caches and L2 see its addresses. */
#define CODE_BASE (1ull << 41)

static void place_code(Gpu *gpu, Module *module) {
    uint64_t align = dispatcher_code_align(gpu->dispatcher);
    for (uint32_t i = 0; i < module->kernel_count; i++) {
        module->kernels[i].code_address = CODE_BASE + gpu->code_bytes;
        gpu->code_bytes += (module->kernels[i].inst_count * INST_BYTES + align - 1) / align * align;
    }
}

bool gpu_set_heap(Gpu *gpu, uint64_t bytes) {
    if (gpu->heap_start) return bytes == gpu->heap_bytes;
    gpu->heap_bytes = bytes;
    return true;
}

void gpu_set_print_limit(Gpu *gpu, uint64_t bytes) {
    gpu->print_limit = bytes;
}

static void place_heap(Gpu *gpu, const Module *module) {
    if (!module->uses_heap || gpu->heap_start || !gpu->heap_bytes) return;
    gpu->heap_start = device_alloc(gpu->functional.memory, gpu->heap_bytes);
    if (!gpu->heap_start)
        user_error("%s: the heap of malloc (%lu bytes) does not fit in device memory", module->path,
                   gpu->heap_bytes);
    device_set_bytes(gpu->functional.memory, gpu->heap_start, gpu->heap_bytes, BYTE_OF_NO_BLOCK);
}

static void add_module(Gpu *gpu, const Module *module) {
    gpu->modules = realloc(gpu->modules, (gpu->module_count + 1) * sizeof(*gpu->modules));
    ensure_memory(gpu->modules);
    gpu->modules[gpu->module_count++] = module;
}

const Kernel *gpu_kernel_at(const Gpu *gpu, uint64_t code_address) {
    for (uint32_t m = 0; m < gpu->module_count; m++)
        for (uint32_t k = 0; k < gpu->modules[m]->kernel_count; k++)
            if (gpu->modules[m]->kernels[k].code_address == code_address) return &gpu->modules[m]->kernels[k];
    return NULL;
}

void gpu_place_module(Gpu *gpu, Module *module) {
    add_module(gpu, module);
    place_code(gpu, module);
    place_heap(gpu, module);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        ModuleVariable *variable = &module->variables[i];
        variable->address = variable->space == SPACE_TEXTURE
                                ? texture_reserve(&gpu->textures)
                                : device_alloc_aligned(gpu->functional.memory, variable->bytes,
                                                       variable->align, variable->name);
        if (!variable->address)
            user_error("%s: variable '%s' (%lu bytes) does not fit in device memory", module->path,
                       variable->name, variable->bytes);
    }
    module_place(module);
    for (uint32_t i = 0; i < module->variable_count; i++) {
        const ModuleVariable *variable = &module->variables[i];
        if (variable->init)
            gpu_write(gpu, variable->address, variable->init, variable->bytes);
        else if (variable->space != SPACE_TEXTURE) /* it is zero */
            device_initialise(gpu->functional.memory, variable->address, variable->bytes);
    }
}

void gpu_memcheck(Gpu *gpu) {
    device_track_initialised(gpu->functional.memory);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        gpu->sms[i]->memcheck = memcheck_new();
}

void gpu_start_profile(Gpu *gpu) {
    ensure(!gpu->profile);
    gpu->profile = profile_new(gpu->sim);
}

Profile *gpu_profile(const Gpu *gpu) {
    return gpu->profile;
}

void gpu_start_histograms(Gpu *gpu) {
    ensure(!gpu->histograms);
    gpu->histograms = histograms_new(gpu->sim);
}

Histograms *gpu_histograms(const Gpu *gpu) {
    return gpu->histograms;
}

KernelCounts *gpu_kernel_counts(const Gpu *gpu) {
    return gpu->kernel_counts;
}

bool gpu_has_memcheck(const Gpu *gpu) {
    return gpu->sms[0]->memcheck != NULL;
}

uint32_t gpu_memcheck_sites(const Gpu *gpu, MemcheckSite **sites) {
    return memcheck_collect(gpu->sms, gpu->sm_count, sites);
}

uint32_t gpu_launch_count(const Gpu *gpu) {
    return gpu->launches;
}

uint32_t gpu_sm_count(const Gpu *gpu) {
    return gpu->sm_count;
}

uint64_t gpu_cycle(const Gpu *gpu) {
    return clock_cycle(&gpu->sim->clocks[0], gpu->sim->now);
}

uint64_t gpu_warp_instructions(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sum += gpu->sms[i]->warp_instructions;
    return sum;
}

uint64_t gpu_loads(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sim->object_count; i++) {
        if (gpu->sim->objects[i]->class != &lsu_class) continue;
        const Lsu *lsu = (const Lsu *)gpu->sim->objects[i];
        sum += lsu->global_loads + lsu->local_loads + lsu->texture_loads + lsu->atomics;
    }
    return sum;
}

uint64_t gpu_conflict_cycles(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sim->object_count; i++)
        if (gpu->sim->objects[i]->class == &lsu_class)
            sum += ((const Lsu *)gpu->sim->objects[i])->fixed.bank_conflict_cycles;
    return sum;
}

uint64_t gpu_thread_instructions(const Gpu *gpu) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        sum += gpu->sms[i]->thread_instructions;
    return sum;
}

GpuProgress gpu_progress(const Gpu *gpu) {
    const LaunchedKernel *oldest = gpu_oldest_kernel(gpu);
    GpuProgress progress = {.kernel = oldest ? oldest->result.kernel : "",
                            .ctas_done = dispatcher_ctas_done(gpu->dispatcher)};
    for (uint32_t k = 0; k < gpu->kernel_count; k++) {
        progress.ctas += gpu->kernels[k].result.ctas;
        progress.others += !gpu->kernels[k].has_ended && &gpu->kernels[k] != oldest;
    }
    return progress;
}

/* --- Checkpoints ----------------------------------------------------------------------------- */

/* Beside the number of launches, what follows: what the first kernel has printed; of more kernels; that the first one
 * has ended. */
#define HAS_PRINTED (1u << 31)
#define HAS_SEVERAL (1u << 30)
#define HAS_ENDED   (1u << 29)
#define ALL_FLAGS   (HAS_PRINTED | HAS_SEVERAL | HAS_ENDED)

enum { RESULT_NUMBERS = 5 };

static void save_printed(const PrintedText *printed, Buffer *buffer) {
    buffer_u64(buffer, printed->dropped);
    buffer_u64(buffer, printed->text.count);
    buffer_append(buffer, printed->text.bytes, printed->text.count);
}

/* `printed` may be NULL: it is passed over. */
static void load_printed(PrintedText *printed, Reader *reader) {
    uint64_t dropped = reader_u64(reader), bytes = reader_u64(reader);
    const uint8_t *text = reader_bytes(reader, bytes);
    if (!printed || !text) return;
    printed->text.count = 0;
    printed->dropped = dropped;
    buffer_append(&printed->text, text, bytes);
}

static void save_numbers(const LaunchResult *result, Buffer *buffer) {
    const uint64_t numbers[RESULT_NUMBERS] = {result->start_cycle, result->cycles, result->warp_instructions,
                                              result->thread_instructions, result->ctas};
    buffer_append(buffer, numbers, sizeof numbers);
}

static void load_numbers(LaunchResult *result, Reader *reader) {
    result->start_cycle = reader_u64(reader);
    result->cycles = reader_u64(reader);
    result->warp_instructions = reader_u64(reader);
    result->thread_instructions = reader_u64(reader);
    result->ctas = reader_u64(reader);
}

/* Of a launch of several kernels: the first one's flag, all of the others, and which SM has which. */
static void save_several(const Gpu *gpu, Buffer *buffer) {
    buffer_u32(buffer, gpu->kernel_count);
    buffer_u32(buffer, gpu->kernels->has_begun);
    for (uint32_t k = 1; k < gpu->kernel_count; k++) {
        const LaunchedKernel *kernel = &gpu->kernels[k];
        save_numbers(&kernel->result, buffer);
        buffer_u32(buffer, kernel->has_begun);
        buffer_u32(buffer, kernel->has_ended);
        save_printed(&kernel->printed, buffer);
    }
    buffer_u32(buffer, gpu->sm_count);
    for (uint32_t i = 0; i < gpu->sm_count; i++)
        buffer_u32(buffer, gpu->kernel_of[i]);
}

static void load_kernels_of_sms(Gpu *gpu, Reader *reader) {
    uint32_t count = reader_u32(reader);
    for (uint32_t i = 0; i < count && !reader->failed; i++) {
        uint32_t kernel = reader_u32(reader);
        if (reader->failed || i >= gpu->sm_count || kernel >= gpu->kernel_count)
            reader->failed = true;
        else
            gpu_set_kernel_again(gpu, i, kernel);
    }
}

/* `gpu` may be NULL: it is passed over. */
static void load_several(Gpu *gpu, Reader *reader) {
    uint32_t count = reader_u32(reader), has_begun = reader_u32(reader);
    if (gpu && count != gpu->kernel_count) reader->failed = true;
    if (gpu && !reader->failed) gpu->kernels->has_begun = has_begun != 0;
    for (uint32_t k = 1; k < count && !reader->failed; k++) {
        LaunchedKernel none = {0}, *kernel = gpu ? &gpu->kernels[k] : &none;
        load_numbers(&kernel->result, reader);
        kernel->has_begun = reader_u32(reader) != 0;
        kernel->has_ended = reader_u32(reader) != 0;
        load_printed(gpu ? &kernel->printed : NULL, reader);
    }
    if (gpu)
        load_kernels_of_sms(gpu, reader);
    else
        reader_bytes(reader, (uint64_t)reader_u32(reader) * sizeof(uint32_t));
}

void gpu_save(const Gpu *gpu, Buffer *buffer) {
    static const LaunchedKernel none;
    const LaunchedKernel *first = gpu->kernel_count ? gpu->kernels : &none;
    bool has_printed = first->printed.text.count || first->printed.dropped;
    buffer_u32(buffer, gpu->launches | (has_printed ? HAS_PRINTED : 0) |
                           (gpu->kernel_count > 1 ? HAS_SEVERAL : 0) | (first->has_ended ? HAS_ENDED : 0));
    save_numbers(&first->result, buffer);
    if (has_printed) save_printed(&first->printed, buffer);
    if (gpu->kernel_count > 1) save_several(gpu, buffer);
    sim_save(gpu->sim, buffer);
}

bool gpu_list(Reader *reader, uint64_t *now, SnapshotVisitor *visit, void *context, char *why,
              size_t why_size) {
    uint32_t launches = reader_u32(reader);
    LaunchResult result;
    load_numbers(&result, reader);
    if (launches & HAS_PRINTED) load_printed(NULL, reader);
    if (launches & HAS_SEVERAL) load_several(NULL, reader);
    return snapshot_list(reader, now, visit, context, why, why_size);
}

static void load_launch(Gpu *gpu, uint32_t launches, Reader *reader) {
    LaunchedKernel none = {0}, *first = gpu->kernel_count ? gpu->kernels : &none;
    load_numbers(&first->result, reader);
    first->has_begun = 1;
    first->has_ended = (launches & HAS_ENDED) != 0;
    first->printed.text.count = first->printed.dropped = 0;
    if (launches & HAS_PRINTED) load_printed(gpu->kernel_count ? &first->printed : NULL, reader);
    if (launches & HAS_SEVERAL) load_several(gpu, reader);
}

/* As they are numbered: in which order they ended is not known. */
static void list_ended_kernels(Gpu *gpu) {
    gpu->ended_count = 0;
    for (uint32_t k = 0; k < gpu->kernel_count; k++)
        if (gpu->kernels[k].has_ended) gpu->ended[gpu->ended_count++] = (uint16_t)k;
    gpu_look_at_all_kernels(gpu);
}

bool gpu_load(Gpu *gpu, Reader *reader, const SnapshotChanges *changes, char *why, size_t why_size) {
    uint32_t launches = reader_u32(reader), count = launches & ~ALL_FLAGS;
    if (reader->failed || count != gpu->launches) {
        snprintf(why, why_size,
                 "expected %u kernel launches as in the checkpoint, got %u of the host program", count,
                 gpu->launches);
        return false;
    }
    load_launch(gpu, launches, reader);
    list_ended_kernels(gpu);
    if (reader->failed || ((launches & HAS_SEVERAL) != 0) != (gpu->kernel_count > 1)) {
        snprintf(why, why_size, "expected the %u kernels that run together, and their SMs, got others",
                 gpu->kernel_count);
        return false;
    }
    return sim_load(gpu->sim, reader, changes, why, why_size);
}

/* The machine of before has its observers as long as it is there: what scripts ask of it settles its cycles. */
static void keep_counts(Gpu *gpu, KernelCounts *before) {
    gpu->counts_before = realloc(gpu->counts_before, (gpu->counts_before_count + 1) * sizeof(KernelCounts *));
    ensure_memory(gpu->counts_before);
    gpu->counts_before[gpu->counts_before_count++] = before;
}

void gpu_move(Gpu *gpu, Sim *to) {
    KernelCounts *before = gpu->kernel_counts;
    gpu->kernel_counts = NULL;
    gpu->sim = to;
    gpu->dispatcher = NULL;
    gpu->sm_count = gpu->keeper_count = 0;
    to->user = &gpu->functional;
    gpu_elaborate(gpu);
    if (before && gpu->kernel_counts) kernel_counts_take_over(gpu->kernel_counts, before);
    if (before) keep_counts(gpu, before);
    dispatcher_expect(gpu->dispatcher, gpu->expected);
    gpu_set_priorities(gpu, 0);
    if (gpu->has_several_per_sm) gpu_set_all_kernels(gpu);
    for (uint32_t i = 0; gpu->kernel_count && i < gpu->sm_count; i++)
        gpu_set_kernel_again(gpu, i, gpu->kernel_of[i]);
}
