/* A recorded kernel in the host's memory. Private to core/sass. */
#ifndef WW_SASS_TRACE_STATE_H
#define WW_SASS_TRACE_STATE_H

#include "core/sass/sass_trace.h"

/* Slots of a warp's registers. */
enum { CURSOR_SLOT, CTAID_SLOT, TID_SLOT = CTAID_SLOT + 3, SASS_SLOTS = TID_SLOT + 3 };

/* It has the lanes that do NOT execute the warp's next instruction: none when the warp starts. */
enum { SASS_GUARD = FIRST_FREE_PREDICATE, SASS_PREDICATES };

/* How the addresses of a record's lanes are stored, behind the first one's 8 bytes. */
typedef enum {
    ADDRESSES_STRIDED, /* 4 bytes: from lane to lane                 */
    ADDRESSES_NEAR,    /* 4 bytes a lane: from the first one's, signed */
    ADDRESSES_FAR,     /* 8 bytes a lane: all of them                */
} AddressForm;

/* One instruction of a warp. A warp's follow each other; the last one is its exit. */
typedef struct {
    uint32_t inst; /* of the kernel's      */
    uint32_t lanes;
    uint64_t access; /* accesses: place in `addresses` * 32 + Space * 4 + AddressForm */
} SassRecord;

static inline uint64_t access_of(uint64_t place, uint32_t space, AddressForm form) {
    return place * 32 + space * 4 + form;
}
static inline uint64_t access_place(uint64_t access) {
    return access / 32;
}
static inline uint32_t access_space(uint64_t access) {
    return access / 4 % 8;
}
static inline AddressForm access_form(uint64_t access) {
    return (AddressForm)(access % 4);
}

typedef struct SassTrace {
    SassLaunch launch;
    uint32_t warps_per_cta;
    uint64_t *first; /* by CTA * warps_per_cta + warp: its first record */
    SassRecord *records;
    uint64_t record_count, record_capacity;
    uint32_t *addresses;
    uint64_t address_count, address_capacity;
    uint64_t shared_base, local_base; /* of the windows of generic addresses; 0: not said */
    uint64_t local_lowest,
        local_highest; /* offsets in a thread's local memory that are accessed, and behind them */
} SassTrace;

/* The lanes of a CTA's warp that have threads. */
static inline uint32_t sass_warp_lanes(const SassTrace *trace, uint32_t warp) {
    const uint32_t *block = trace->launch.block;
    uint32_t threads = block[0] * block[1] * block[2] - warp * WARP_LANES;
    return threads < WARP_LANES ? (1u << threads) - 1 : UINT32_MAX;
}

/* exec_sass.c: what Insts of recorded kernels execute. */
ExecFn exec_sass_step;   /* no access                                             */
ExecFn exec_sass_access; /* load, store                                           */
ExecFn exec_sass_rows;   /* detail: how many matrices */
ExecFn exec_sass_atomic;
ExecFn exec_sass_jump;  /* behind an access: takes no record, and goes where the next one is */
ExecFn exec_sass_start; /* the same where a warp begins */

/* The addresses of the record's lanes, the least and the greatest of them, and their space. */
void sass_find_addresses(const SassTrace *trace, const SassRecord *record, ExecContext *context);

#endif
