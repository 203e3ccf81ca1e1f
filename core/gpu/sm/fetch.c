/* Instruction buffers: one warp of each sub-core, whose buffer is empty, is fetched per cycle, decoded in the next, and can
 * issue in the one after. With an instruction cache, a fetch that misses is tried again when its line has come. */
#include "core/gpu/sm/scoreboard.h"

#include "mem/protocol/memory_protocol.h"

bool sm_waits_for_load(const Sm *sm, uint32_t w) {
    const Inst *inst = sm_inst(sm, w, sm->warp[w].simt.top.pc);
    uint64_t common = 0;
    for (uint32_t i = 0; i < SCOREBOARD_NAMES / 64; i++)
        common |= sm->load_pending[w][i] & inst->names[i];
    return common || waits_for_atomics(sm, &sm->warp[w], inst);
}

void sm_show_next(Sm *sm, uint32_t w) {
    const Warp *warp = &sm->warp[w];
    show_instruction(sm, w, warp, sm_inst(sm, w, warp->simt.top.pc));
}

static void empty_buffer(Sm *sm, uint32_t w) {
    sm->warp[w].buffered = 0;
    sm->valid &= ~warp_bit(w);
}

COLD void sm_leave_buffer(Sm *sm, uint32_t w) {
    if (sm->warp[w].simt.depth == 0) {
        sm->blocked &= ~warp_bit(w);
    } else {
        /* What was fetched behind the jump is found to be wrong a cycle later; had nothing been left in the
         * buffer, the wrong instructions would first have to arrive. */
        sm->refetch[sm->warp[w].buffered > 1 ? 0 : 1] |= warp_bit(w);
        sm_show_next(sm, w);
    }
    empty_buffer(sm, w);
}

/* In the address space of code. */
static uint64_t code_index(const Sm *sm, uint32_t w, uint32_t pc) {
    return sm_kernel_of(sm, w)->kernel->code_address / INST_BYTES + pc;
}

/* Two instructions, fewer at the end of the kernel or of the line of code that was read. */
static uint32_t instructions_at(const Sm *sm, uint32_t w, uint32_t pc) {
    uint32_t left = sm->place[w].inst_count - pc;
    if (sm->fetch.send) {
        uint64_t line = sm->code_line / INST_BYTES, in_line = line - code_index(sm, w, pc) % line;
        if (left > in_line) left = (uint32_t)in_line;
    }
    return left < INSTRUCTION_BUFFER ? left : INSTRUCTION_BUFFER;
}

bool sm_decode(Sm *sm) {
    WarpSet fetched = sm->fetched;
    if (!fetched) return false;
    sm->valid |= fetched;
    sm->fetched = 0;
    return true;
}

static void ask_for_line(Sm *sm, uint32_t w, uint32_t entry, uint64_t now) {
    audit_enter(&sm->obj, QUEUE_CODE_LINES, entry);
    *(MemMessage *)link_send(sm->fetch.send, now) = (MemMessage){
        .address = sm->code.miss[entry].line,
        .issued = now,
        .token = entry,
        .cta = (uint16_t)sm->warp[w].cta_number,
        .bytes = (uint8_t)sm->code_line,
        .sm = (uint16_t)sm->number,
        .warp = (uint16_t)w,
        .kind = MEM_READ,
        .flags = MEM_INSTRUCTION,
    };
}

/* This and read_code() are apart: most machines have no instruction cache, and the vector operations of its tags would
 * have the SM's cycle align the host's stack. */
static __attribute__((noinline)) void take_line(Sm *sm, uint64_t now) {
    const MemMessage *answer = link_peek(sm->fetch.receive, now);
    sm->want_fetch |= instruction_cache_fill(&sm->code, answer->token) &
                      sm->live; /* the others were aborted */
    audit_leave(&sm->obj, QUEUE_CODE_LINES, answer->token);
    link_pop(sm->fetch.receive, now);
    object_progress(&sm->obj);
}

/* Returns whether the instructions of the warp are there. */
static __attribute__((noinline)) bool read_code(Sm *sm, uint32_t w, uint64_t now) {
    uint64_t address = code_index(sm, w, sm->warp[w].simt.top.pc) * INST_BYTES;
    uint32_t misses = link_can_send(sm->fetch.send, now) ? sm->code_misses : 0, entry = 0;
    FetchResult result = instruction_cache_fetch(&sm->code, address, w, misses, &entry);
    sm->fetch_hits += result == FETCH_HIT;
    sm->fetch_misses += result == FETCH_MISS;
    sm->fetch_merges += result == FETCH_MERGED;
    sm->fetch_fails += result == FETCH_FAIL;
    if (result == FETCH_MISS) ask_for_line(sm, w, entry, now);
    if (result == FETCH_FAIL) sm->want_fetch |= warp_bit(w);
    return result == FETCH_HIT;
}

/* Round robin over the warps of the sub-core that want instructions. */
static inline void fetch_next(Sm *sm, uint32_t sub_core, WarpSet want, uint64_t now) {
    WarpSet behind = want & ~((warp_bit(sm->last_fetched[sub_core]) << 1) - 1);
    uint32_t w = sm->last_fetched[sub_core] = first_warp(behind ? behind : want);
    sm->want_fetch &= ~warp_bit(w);
    if (sm->fetch.send && !read_code(sm, w, now)) return;
    sm->fetched |= warp_bit(w);
    sm->warp[w].buffered = (uint8_t)instructions_at(sm, w, sm->warp[w].simt.top.pc);
}

static __attribute__((noinline)) void fetch_for_sub_cores(Sm *sm, uint64_t now) {
    WarpSet want = sm->want_fetch;
    for (uint32_t i = 0; i < sm->shape.sub_cores; i++)
        if (want & sub_core_warps(sm, i)) fetch_next(sm, i, want & sub_core_warps(sm, i), now);
}

/* After jumps. */
static inline void pass_refetch(Sm *sm) {
    WarpSet soon = sm->refetch[1];
    sm->want_fetch |= sm->refetch[0];
    sm->refetch[1] = 0;
    __asm__("" : "+r"(soon)); /* no vector operation: it would take longer */
    sm->refetch[0] = soon;
}

bool sm_fetch(Sm *sm, uint64_t now) {
    if (sm->fetch.receive && link_next_ready(sm->fetch.receive) <= now) take_line(sm, now);
    if (sm->want_fetch && sm->shape.sub_cores == 1)
        fetch_next(sm, 0, sm->want_fetch, now);
    else if (sm->want_fetch)
        fetch_for_sub_cores(sm, now);
    WarpSet again = sm->refetch[0] | sm->refetch[1];
    if (__builtin_expect(again != 0, 0)) pass_refetch(sm);
    return (sm->want_fetch | sm->fetched | again) != 0;
}
