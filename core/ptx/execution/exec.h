/* Functional execution of one warp instruction at issue; timing follows elsewhere. */
#ifndef WW_PTX_EXEC_H
#define WW_PTX_EXEC_H

#include "core/ptx/execution/memory.h"
#include "core/ptx/execution/texture.h"
#include "core/ptx/instructions/inst.h"

/* Windows of the generic address space. A shared or local address, or one of a kernel's parameters, as PTX sees it is an
 * offset from 0 in its own space; cvta adds the base of the window. Everything else is global. */
#define SHARED_WINDOW 0x01000000ull
#define LOCAL_WINDOW  0x02000000ull
#define PARAM_WINDOW  0x03000000ull
#define WINDOW_BYTES  0x01000000ull

typedef enum {
    FAULT_NONE,
    FAULT_OUT_OF_BOUNDS,
    FAULT_MISALIGNED,
    FAULT_TRAP,
    FAULT_NO_TEXTURE,     /* the address is a handle without a texture */
    FAULT_NO_FUNCTION,    /* an indirect call of no function           */
    FAULT_ASSERTION,      /* its text is in the context                */
    FAULT_BEYOND_SURFACE, /* the address is the handle of the surface */
    FAULT_NO_MBARRIER,    /* no object there, or it cannot take the arrivals or bytes */
    FAULT_NO_BARRIER,     /* the address is the number of the barrier */
    FAULT_UNEVEN_STRIDE,  /* of a matrix: the address is the stride, in bytes */
} FaultKind;

/* Of an atomic whose operands nobody knows: it travels, and memory stays as it is. */
#define ATOMIC_NOTHING UINT32_MAX

/* An atomic on global memory is carried out by the L2 slice that owns its address, in arrival order; the
 * payload travels beside the request. Plain data. */
typedef struct {
    uint64_t address[WARP_LANES];
    uint64_t operand[WARP_LANES], operand2[WARP_LANES]; /* operand2: the value swapped in by cas */
    uint64_t result[WARP_LANES];                        /* the old values, written by the slice  */
    uint32_t mask;                                      /* lanes that take part                  */
    uint32_t operation; /* AtomicOp and type: Inst.detail; or ATOMIC_NOTHING */
    uint32_t bytes;     /* 2, 4 or 8                             */
    uint32_t warp;
} AtomicPayload;

typedef struct {
    uint32_t ctaid[3], nctaid[3], ntid[3];
    uint32_t warp_in_cta; /* its threads are warp_in_cta * 32 + lane, x fastest */
    uint32_t sm, sm_count, warp_slot, grid;
    uint32_t dynamic_shared_bytes, total_shared_bytes;
    uint64_t workspace; /* of a cooperative launch, or 0 */
} WarpIdentity;

enum { MAX_WINDOWS = 8 };
#define BEYOND_REACH UINT32_MAX

/* What a register holds by which words of shared memory are accessed again and again: mostly, all lanes' lie
 * within 32 words. An access to them then reads this line instead of the four of a 64-bit register, and finds
 * out nothing anew. Follows from the register; not kept when it is changed (Inst.windows). */
typedef struct {
    uint64_t lowest;          /* least value of all lanes                             */
    uint32_t span;            /* the greatest minus the least                         */
    uint32_t is_ascending;    /* lane i has the i-th word                             */
    uint8_t word[WARP_LANES]; /* (value - lowest) / 4                                 */
    uint8_t block[4]; /* of each eight lanes: where the first one's block of eight words begins, in bytes */
    /* Bytes from the lowest on that the quickest way to read all lanes' words touches; BEYOND_REACH: there is none. */
    uint32_t reach;
    uint64_t pad;
} AddressWindow;

_Static_assert(sizeof(AddressWindow) == 64, "one cache line");

/* Sines and cosines of the arguments of which one of them was asked last. */
typedef struct {
    uint32_t argument[WARP_LANES] __attribute__((aligned(64))); /* as bits */
    float sine[WARP_LANES], cosine[WARP_LANES];
    enum { TURNED_NONE, TURNED_EXACTLY, TURNED_FLUSHED } kind; /* flushed: by .ftz */
} Turned;

/* A warp's local memory lies word by word, those of all lanes at one address in a row: lanes mostly access the same
 * address, each in its own memory. */
enum { LOCAL_WORD_BYTES = 4, LOCAL_ROW_BYTES = WARP_LANES * LOCAL_WORD_BYTES };

/* What threads of `local_bytes` each take, all lanes. */
static inline uint64_t local_memory_bytes(uint32_t local_bytes) {
    return (local_bytes + LOCAL_WORD_BYTES - 1ull) / LOCAL_WORD_BYTES * LOCAL_ROW_BYTES;
}

/* Where the byte at an address of a lane's own memory lies. */
static inline uint64_t local_place(uint64_t address, int lane) {
    return address / LOCAL_WORD_BYTES * LOCAL_ROW_BYTES + address % LOCAL_WORD_BYTES +
           (uint64_t)lane * LOCAL_WORD_BYTES;
}

struct ExecContext {
    uint32_t *predicates; /* one lane mask each; predicates[TRUE_PREDICATE] is all ones    */
    uintptr_t bank[2]; /* [0] the warp's registers, [1] constant_bank() of the kernel; for operand_lanes() */
    uint32_t active;   /* in: lanes that execute, SIMT mask and guard applied           */
    MemoryView *view;  /* global and const memory                                       */
    uint8_t *shared;   /* the CTA's shared memory                                       */
    AddressWindow *windows; /* of the warp; NULL: none are kept                              */
    uint8_t *known_windows; /* bit per window: what is in it holds                           */
    uint32_t shared_bytes;
    uint8_t *local; /* the warp's local memory, by local_place() */
    uint32_t local_bytes;
    const uint8_t *params;
    uint32_t param_bytes;
    uint64_t clock; /* core cycles                                                   */
    uint64_t cycle_ticks, ticks_per_second; /* %globaltimer, in ns, follows from the clock    */
    uint64_t rated_at, rated_time;          /* since this tick, which was at this time, in ps */
    AtomicPayload *atomic; /* out, atomics on global memory: filled by the handler          */
    /* Out: memory instructions. Addresses of inactive lanes are undefined. `space` is never SPACE_GENERIC: a
     * warp whose lanes fall into several spaces reports the space of its first active lane; but an atomic
     * reports SPACE_GLOBAL when any lane is global, and atomic->mask says which are. Shared and local
     * addresses are offsets from 0 (local: in the thread's own memory). */
    uint64_t address[WARP_LANES] __attribute__((aligned(64)));
    uint64_t lowest, highest; /* least and greatest of these; not for SPACE_GENERIC instructions */
    uint32_t space;
    uint32_t next; /* out, instructions of recorded kernels: the index of that at which the warp goes on */
    /* Without timing: where the instructions end that execute with no look in between; 0 once one has a fault. */
    uintptr_t unwatched_end;
    /* Out: a fault stops the kernel. */
    uint32_t fault;                   /* FaultKind */
    uint32_t fault_lane, fault_space; /* fault_space: of the access */
    uint64_t fault_address;
    const TextureTable *textures;
    struct ConflictCount *conflicts; /* without timing, of instructions that count them */
    /* Out, texture fetches: the addresses of the texels read, lane by lane. Lanes that read none, because all
     * of theirs lie beyond the border, leave `active`. */
    struct SystemCalls *system; /* of the SM; NULL: nothing is printed, and there is no heap */
    char assertion[640];
    Turned turned;
    uint32_t texel_count;
    uint64_t texel[WARP_LANES * LANE_TEXELS];
};

/* Of constants that begin on a line of the host's cache: an operand counts from here with OPERAND_CONST, which need not be
 * taken off. */
static inline uintptr_t constant_bank(const uint8_t *constants) {
    return (uintptr_t)constants - OPERAND_CONST;
}

/* The values of an operand that is no predicate, lane by lane. */
static inline const void *operand_lanes(const ExecContext *context, uint32_t operand) {
    const void *lanes = (const void *)(context->bank[operand >> 31] + operand);
    return __builtin_assume_aligned(lanes, 64); /* clang 14 with sanitizers crashes at a cast in here */
}

/* Writes the values of special registers into their slots: the registers of a starting warp, or a constant
 * bank. */
void exec_fill_specials(const SpecialSlot *specials, uint32_t count, const WarpIdentity *identity,
                        uint8_t *slots);

/* Does its result depend on context->clock? */
bool exec_reads_clock(const Inst *inst);
/* Does it leave those lanes active that access memory for others, and not those that execute it? */
bool exec_narrows_lanes(const Inst *inst);

/* The constant bank of a launch, to be freed: the kernel's, with what is the same in all threads of the
 * launch. `identity`: that of any warp of it. The kernel's module is placed. */
uint8_t *exec_launch_constants(const Kernel *kernel, const WarpIdentity *identity, const uint8_t *params);

/* Before a load, an atomic or a bulk copy executes: would it read a byte of shared memory from `start` to
 * below `end`? Changes address[], lowest, highest and space of the context, which the instruction sets anew.
 */
bool exec_touches_shared(const Inst *inst, ExecContext *context, uint64_t start, uint64_t end);

/* Before a memory instruction executes: the addresses of its active lanes, in context->address, as offsets in shared
 * memory of those that are there. Changes lowest, highest and space, too, which the instruction sets anew. */
void exec_find_addresses(const Inst *inst, ExecContext *context, uint32_t *global, uint32_t *shared);

/* What a lane accesses: pieces of the same size, by their offsets from the lane's address. */
enum { LANE_ELEMENTS = 32 };
typedef struct {
    uint32_t count, bytes;
    uint64_t offset[LANE_ELEMENTS];
} LaneElements;

/* Of an active lane, before a load, store or atomic executes. */
void exec_find_elements(const Inst *inst, const ExecContext *context, uint32_t lane, LaneElements *found);

/* Before a store executes, of a lane whose bytes are in the CTA's shared memory, and whose address has been found: does it
 * leave them as they are? False for what is no plain store. */
bool exec_stores_what_is_there(const Inst *inst, const ExecContext *context, uint32_t lane);

/* What a lane of a cp.async does: where in shared memory it writes, and how many bytes it reads; zeros fill the rest. */
typedef struct {
    uint64_t target;
    uint32_t read;
} AsyncCopy;

/* Of its active lanes, before it executes. */
void exec_find_async(const Inst *inst, const ExecContext *context, AsyncCopy copy[WARP_LANES]);

/* What a piece of a bulk copy does: the first of its lanes whose copy is not complete has these bytes accessed. */
typedef struct {
    uint64_t accessed; /* by the load/store unit: global memory; within shared memory, the source */
    uint64_t shared;   /* the other side, if there is one */
    uint32_t lane, bytes;
} BulkPiece;

/* Before it executes; false: nothing is left. Changes address[] of the context, which the instruction sets anew. */
bool exec_find_bulk(const Inst *inst, ExecContext *context, BulkPiece *piece);
/* Of the arrival at the end of a lane's copy, when it has executed: the size of the copy. */
uint32_t exec_bulk_bytes(const Inst *inst, const ExecContext *context);

/* Branches: predicates decide, so the lanes that jump are active & guard; there is no handler to call.
 * Carries out the lanes `mask` of an atomic through the view of the agent that owns the address, lanes in
 * ascending order, and records the old values. False when a lane is out of bounds. */
bool atomic_perform(AtomicPayload *payload, uint32_t mask, MemoryView *view);
/* Writes payload->result of lanes `mask` to the destination register of `inst` (nothing for red). */
void atomic_write_back(const Inst *inst, const AtomicPayload *payload, uint32_t mask, uint8_t *registers);

/* Floats of 16 bits as the host sees them; rounded to nearest, of two to the even one. */
uint16_t f16_of_double(double value);
uint16_t bf16_of_double(double value);
double double_of_f16(uint16_t bits);
double double_of_bf16(uint16_t bits);

#endif
