#include "core/gpu/sm/fault.h"

#include "core/ptx/module.h"
#include "core/sim/sim.h"

#include <string.h>

static bool is_local_atomic(const Inst *inst, const LaunchFault *fault) {
    return fault->kind == FAULT_OUT_OF_BOUNDS && fault->space == SPACE_LOCAL && inst->kind == INST_ATOMIC;
}

static bool overflows_stack(const Sm *sm, const Inst *inst, const LaunchFault *fault) {
    return fault->kind == FAULT_OUT_OF_BOUNDS && fault->space == SPACE_LOCAL &&
           sm->running->kernel->uses_stack && fault->address >= sm->running->local_bytes &&
           !is_local_atomic(inst, fault);
}

static bool has_special(const SpecialSlot *specials, uint32_t count, uint32_t special) {
    for (uint32_t i = 0; i < count; i++)
        if (specials[i].special == special) return true;
    return false;
}

/* CUDA's barrier of the grid traps without a workspace. */
static bool lacks_workspace(const RunningKernel *running) {
    const Kernel *kernel = running->kernel;
    return !running->workspace &&
           (has_special(kernel->specials, kernel->special_count, SPECIAL_ENVREG_1) ||
            has_special(kernel->launch_specials, kernel->launch_special_count, SPECIAL_ENVREG_1));
}

static const char *guess_of_host(uint64_t address, uint64_t bytes) {
    enum { ADDRESS_BITS = 47, POINTER_BYTES = 8 };
    if (!(address >> 40) || address >> ADDRESS_BITS) return "";
    return bytes == POINTER_BYTES ? ": maybe a pointer of the host, or to the virtual functions of an object "
                                    "that the host made"
                                  : ": maybe a pointer of the host";
}

static void describe_kind(const Sm *sm, uint32_t kind, uint64_t address, char *what, size_t size) {
    static const char *const places[] = {
        [FAULT_OUT_OF_BOUNDS] = "access out of bounds at address 0x%lx",
        [FAULT_MISALIGNED] = "misaligned access to address 0x%lx",
        [FAULT_NO_TEXTURE] = "no texture is bound to handle 0x%lx",
        [FAULT_BEYOND_SURFACE] = "a coordinate beyond the edges of the surface of handle 0x%lx",
        [FAULT_NO_MBARRIER] =
            "no mbarrier at 0x%lx of shared memory, or one that cannot take these arrivals or bytes",
        [FAULT_NO_BARRIER] = "expected barrier 0 to 15, got %lu",
        [FAULT_UNEVEN_STRIDE] = "stride of a matrix: expected a multiple of 16 bytes, got %lu",
        [FAULT_NO_FUNCTION] = "indirect call to address 0x%lx, which is not a callable function",
    };
    if (kind == FAULT_TRAP) {
        snprintf(what, size, "trap%s",
                 lacks_workspace(sm->running) ? "; the kernel is one for cooperative launches (in CUDA: "
                                                "cudaLaunchCooperativeKernel), and this is none"
                                              : "");
    } else if (kind == FAULT_ASSERTION) {
        snprintf(what, size, "%s", sm->context->assertion);
    } else {
        int used = snprintf(what, size, places[kind], address);
        if (kind == FAULT_NO_FUNCTION)
            snprintf(what + used, size - (size_t)used, "%s", guess_of_host(address, 0));
    }
}

/* --- Where ----------------------------------------------------------------------------------- */

static const InstSource *source_of(const Kernel *kernel, const Inst *inst) {
    return kernel->sources ? &kernel->sources[inst - kernel->insts] : NULL;
}

void fault_place(const Kernel *kernel, const Inst *inst, char *text, size_t size) {
    const InstSource *source = source_of(kernel, inst);
    int used = snprintf(text, size, "PTX line %u", kernel_ptx_line(kernel, inst));
    if (!source || !source->line || !source->file) return;
    used += snprintf(text + used, size - (size_t)used, ", %s:%u", source->file, source->line);
    if (source->own_file && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", after %s:%u", source->own_file, source->own_line);
}

/* --- What an access missed ------------------------------------------------------------------- */

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void describe_block(const DeviceBlock *block, char *text, size_t size) {
    int used = snprintf(text, size, "the allocation of %lu byte%s at 0x%lx", block->bytes,
                        plural(block->bytes), block->start);
    if (block->name && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, " (variable %.60s)", block->name);
    else if (block->made_by && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", made by call %u", block->made_by);
}

/* Where a distance to an allocation says nothing: null pointers with an index, and what lies beyond all device memory, as
 * the host's memory does. */
static bool describe_far(const DeviceMemory *memory, uint64_t address, uint64_t bytes, char *text,
                         size_t size) {
    enum { NULL_BYTES = 1 << 20 };
    const uint64_t last = DEVICE_MEMORY_BASE + device_capacity(memory) - 1;
    if (address == 0)
        snprintf(text, size, "; it is a null pointer");
    else if (address < NULL_BYTES)
        snprintf(text, size, "; %lu byte%s past a null pointer", address, plural(address));
    else if (address > last)
        snprintf(text, size, "; device memory is 0x%llx to 0x%lx%s", DEVICE_MEMORY_BASE, last,
                 guess_of_host(address, bytes));
    else
        return false;
    return true;
}

void fault_describe_miss(const DeviceMemory *memory, uint64_t address, uint64_t bytes, char *text,
                         size_t size) {
    DeviceBlock block;
    char what[200];
    if (device_released(memory, address, &block)) {
        describe_block(&block, what, sizeof what);
        if (block.freed_by)
            snprintf(text, size, "; use after free: it is in %s and freed by call %u", what, block.freed_by);
        else
            snprintf(text, size, "; use after free: it is in %s, which was freed", what);
        return;
    }
    if (describe_far(memory, address, bytes, text, size)) return;
    if (!device_nearest(memory, address, &block)) {
        snprintf(text, size, "; nothing is allocated");
        return;
    }
    describe_block(&block, what, sizeof what);
    uint64_t end = block.start + block.bytes;
    if (address == end)
        snprintf(text, size, "; right past the end of %s", what);
    else if (address > end)
        snprintf(text, size, "; %lu byte%s past the end of %s", address - end, plural(address - end), what);
    else if (address >= block.start)
        snprintf(text, size, "; its last byte is %lu byte%s past the end of %s", address + bytes - end,
                 plural(address + bytes - end), what);
    else
        snprintf(text, size, "; %lu byte%s before %s", block.start - address, plural(block.start - address),
                 what);
}

static void describe_limit(const Sm *sm, uint32_t space, char *text, size_t size) {
    const RunningKernel *running = sm->running;
    if (space == SPACE_SHARED)
        snprintf(text, size, " of shared memory; the CTA has %u bytes", running->shared_bytes);
    else if (space == SPACE_LOCAL)
        snprintf(text, size, " of local memory; the thread has %u bytes", running->local_bytes);
    else if (space == SPACE_PARAM)
        snprintf(text, size, " of the parameters, which have %u bytes", running->kernel->param_bytes);
}

/* --- The record ------------------------------------------------------------------------------ */

static void find_allocation(const Sm *sm, LaunchFault *fault) {
    const DeviceMemory *memory = sm->view->memory;
    DeviceBlock block;
    fault->has_allocation = device_released(memory, fault->address, &block) ||
                            device_nearest(memory, fault->address, &block);
    if (!fault->has_allocation) return;
    fault->allocation = block.start;
    fault->allocation_bytes = block.bytes;
    fault->made_by = block.made_by;
    fault->freed_by = block.freed_by;
}

static bool is_in_device_memory(uint32_t space) {
    return space == SPACE_GLOBAL || space == SPACE_CONST || space == SPACE_TEXTURE;
}

static void find_place(const Sm *sm, uint32_t w, const Inst *inst, LaunchFault *fault) {
    const RunningKernel *running = sm->running;
    const Warp *warp = &sm->warp[w];
    const InstSource *source = source_of(running->kernel, inst);
    uint32_t thread = warp->warp_in_cta * WARP_LANES + sm->context->fault_lane;
    fault->kernel = sm->cta[warp->cta_slot].kernel;
    memcpy(fault->ctaid, sm->cta[warp->cta_slot].ctaid, sizeof fault->ctaid);
    fault->thread[0] = thread % running->block[0];
    fault->thread[1] = thread / running->block[0] % running->block[1];
    fault->thread[2] = thread / running->block[0] / running->block[1];
    fault->ptx_line = kernel_ptx_line(running->kernel, inst);
    if (source && source->line && source->file) {
        fault->source_line = source->line;
        snprintf(fault->source_file, sizeof fault->source_file, "%s", source->file);
    }
    snprintf(fault->sm, sizeof fault->sm, "%s", sm->obj.path);
    kernel_line_text(running->kernel, fault->ptx_line, fault->ptx, sizeof fault->ptx);
}

static void describe(const Sm *sm, const Inst *inst, LaunchFault *fault) {
    const uint32_t *cta = fault->ctaid, *thread = fault->thread;
    char place[FAULT_PLACE_BYTES], what[720], miss[300] = "", ptx[FAULT_TEXT_BYTES + 8] = "";
    bool overflow = overflows_stack(sm, inst, fault), local_atomic = is_local_atomic(inst, fault);
    if (overflow)
        snprintf(
            what, sizeof what,
            "the stack of %u bytes per thread overflows: a recursion that is too deep, or a larger `stack` "
            "of the launch (in CUDA: cudaLimitStackSize) is needed",
            sm->running->local_bytes - sm->running->kernel->local_bytes);
    else if (local_atomic)
        snprintf(what, sizeof what,
                 "expected an atomic on global or shared memory, got one at 0x%lx of local memory",
                 fault->address);
    else
        describe_kind(sm, fault->kind, fault->address, what, sizeof what);
    fault_place(sm->running->kernel, inst, place, sizeof place);
    bool is_access = !overflow && (fault->kind == FAULT_OUT_OF_BOUNDS || fault->kind == FAULT_MISALIGNED);
    size_t length = strlen(what);
    if (is_access && !local_atomic) describe_limit(sm, fault->space, what + length, sizeof what - length);
    if (fault->kind == FAULT_OUT_OF_BOUNDS && is_in_device_memory(fault->space))
        fault_describe_miss(sm->view->memory, fault->address, fault->bytes, miss, sizeof miss);
    if (is_access && fault->ptx[0]) snprintf(ptx, sizeof ptx, "; in %s", fault->ptx);
    snprintf(fault->message, sizeof fault->message,
             "kernel %.200s, %s: %s, CTA (%u, %u, %u), thread (%u, %u, %u), %.200s%s%s",
             sm->running->kernel->name, place, what, cta[0], cta[1], cta[2], thread[0], thread[1], thread[2],
             sm->obj.path, miss, ptx);
}

void fault_end_texts(LaunchFault *fault) {
    fault->sm[sizeof fault->sm - 1] = fault->ptx[sizeof fault->ptx - 1] = 0;
    fault->source_file[sizeof fault->source_file - 1] = fault->message[sizeof fault->message - 1] = 0;
}

void sm_meet_fault(Sm *sm, uint32_t w, const Inst *inst) {
    ExecContext *context = sm->context;
    LaunchFault found = {.kind = context->fault,
                         .address = context->fault_address,
                         .space = context->fault_space,
                         .bytes = (uint32_t)inst->element_bytes * inst->elements};
    context->fault = FAULT_NONE;
    find_place(sm, w, inst, &found);
    if (found.kind == FAULT_OUT_OF_BOUNDS && is_in_device_memory(found.space)) find_allocation(sm, &found);
    describe(sm, inst, &found);
    if (!sm->running->faults) user_error("%s", found.message);
    LaunchFault *kept = &sm->running->faults[sm->number];
    if (kept->kind == FAULT_NONE) *kept = found;
    context->active = 0;
    sm_exit_warp(sm, w);
    /* What is behind it is not for this warp. */
    sm->warp[w].simt.top.reconverge = sm_inst_index(sm, w, inst) + 1;
    sim_request_stop(sm->obj.sim);
}
