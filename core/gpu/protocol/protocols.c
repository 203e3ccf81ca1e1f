#include "core/gpu/sm/sm_sound.h"
#include "core/sim/trace/trace.h"

static void op_is_sound(const char *link, const SimObject *lsu, const void *message) {
    sm_memory_op_is_sound((const Sm *)lsu->parent, link, message, false);
}

static void done_is_sound(const char *link, const SimObject *sm, const void *message) {
    sm_memory_done_is_sound((const Sm *)sm, link, message);
}

static void cta_start_is_sound(const char *link, const SimObject *sm, const void *message) {
    sm_cta_start_is_sound((const Sm *)sm, link, message);
}

static void cta_done_is_sound(const char *link, const SimObject *dispatcher, const void *message) {
    (void)dispatcher;
    sound(((const CtaDone *)message)->slot < MAX_CTAS, "%s: a CTA of slot %u", link,
          ((const CtaDone *)message)->slot);
}

static const char *kind_of(uint32_t kind) {
    return kind == INST_LOAD ? "load" : kind == INST_STORE ? "store" : "atomic";
}

static void trace_op(const void *message, TraceMessage *shown) {
    const MemoryOp *op = message;
    *shown = (TraceMessage){.what = kind_of(op->kind), .sm = -1, .warp = op->warp, .pc = (int32_t)op->inst};
}

static void trace_done(const void *message, TraceMessage *shown) {
    const MemoryDone *done = message;
    *shown = (TraceMessage){.what = kind_of(done->kind),
                            .sm = -1,
                            .warp = done->warp,
                            .pc = (int32_t)done->inst,
                            .is_response = 1};
}

const Protocol memory_op_protocol = {.name = "memory-op",
                                     .request_bytes = sizeof(MemoryOp),
                                     .response_bytes = sizeof(MemoryDone),
                                     .request_is_sound = op_is_sound,
                                     .response_is_sound = done_is_sound,
                                     .trace_request = trace_op,
                                     .trace_response = trace_done};
const Protocol cta_protocol = {.name = "cta",
                               .request_bytes = sizeof(CtaStart),
                               .response_bytes = sizeof(CtaDone),
                               .request_is_sound = cta_start_is_sound,
                               .response_is_sound = cta_done_is_sound};
