/* The decoded warp instruction: what a front end hands to the SM, and what the SM executes.
 *
 * Registers of a warp are stored as lanes side by side. A 32-bit register (and an 8- or 16-bit one) takes one
 * slot of WARP_LANES * 4 bytes, a 64-bit register two adjacent slots read as uint64_t[WARP_LANES].
 * Immediates, and registers that are the same in all threads of a launch, stand in a constant bank of the
 * kernel, broadcast over the lanes in the same layout, and special registers (%tid.x ...) are ordinary slots
 * that are filled when the warp starts: so every source of an arithmetic instruction is "bank pointer + byte
 * offset", without a case distinction. */
#ifndef WW_PTX_INST_H
#define WW_PTX_INST_H

#include <stdbool.h>
#include <stdint.h>

enum {
    WARP_LANES = 32,
    SLOT_BYTES = WARP_LANES * 4,
    INST_BYTES = 8, /* of an instruction in memory */
    MAX_DST = 4,
    MAX_SRC = 6,
    MAX_ALL_SRC = 16, /* of matrix instructions: those behind MAX_SRC stand in Inst.more_src */
    MAX_BANK_READS = 5,
    MAX_REGISTER_BANKS = 32,
    MASKED_BANKS = 16,           /* of Inst.bank_mask */
    LANE_TEXELS = 8,             /* that a lane of a texture fetch reads at most: filtering in 3D */
    MAX_OUT_NAMES = MAX_DST + 2, /* and two predicates, of which one may be the carry */
    SCOREBOARD_NAMES = 256,      /* names of registers and predicates that the scoreboard tells apart */
    NO_PREDICATE = 0xff,
};

typedef enum {
    SPACE_NONE,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_TEXTURE,
    SPACE_GENERIC, /* resolved per lane to global, shared or local when it executes */
    SPACE_SURFACE, /* global memory by coordinates: becomes global when it executes */
} Space;

typedef enum {
    INST_ALU,
    INST_LOAD,
    INST_STORE,
    INST_ATOMIC, /* atom and red */
    INST_BRANCH,
    INST_EXIT,
    INST_BARRIER,
    INST_FENCE,
    INST_NOP,
    INST_ASYNC_COMMIT, /* ends a group of asynchronous copies */
    INST_ASYNC_WAIT,   /* until no more groups of them than src[0] are not complete; no source: all */
    INST_ASYNC_ARRIVE, /* at an mbarrier, when the copies so far are complete */
    INST_DMA,          /* intrinsics of the DMA engine; detail: DmaOperation */
    INST_SYSTEM,       /* calls of the device's runtime: execution/system.h  */
    INST_SLEEP,        /* src[0]: nanoseconds */
    /* Of loops that look again and again at what others may change: analysis/waiting_loops.h. */
    INST_LOOKING_BRANCH, /* closes one */
    INST_LEAVING_BRANCH, /* leads out of one */
    /* The same of kernels whose lanes may wait for each other. */
    INST_WAITING_BRANCH,       /* closes a loop in which they do */
    INST_INNER_WAITING_BRANCH, /* the same, within another: behind it lanes wait on */
    INST_CONVERGENT,           /* arithmetic for lanes that are to be together; the last source names them */
    /* Of recorded kernels (core/sass): no access; `exec` says where the warp goes on. */
    INST_TRACED,
    INST_TRACED_BARRIER,
    INST_TRACED_FENCE,
    INST_TRACED_COMMIT, /* as INST_ASYNC_COMMIT */
    INST_TRACED_WAIT,   /* as INST_ASYNC_WAIT; detail: groups that need not be complete, or ALL_COPIES */
} InstKind;

static inline bool kind_is_branch(uint8_t kind) {
    return kind == INST_BRANCH || (kind >= INST_LOOKING_BRANCH && kind <= INST_INNER_WAITING_BRANCH);
}

/* Served by the constant cache where there is one. */
static inline bool space_is_constant(uint32_t space) {
    return space == SPACE_CONST || space == SPACE_PARAM;
}

/* Row of the SM's latency and initiation-interval table. */
typedef enum {
    TIMING_OTHER, /* moves, logic, shifts, compares, conversions, control */
    TIMING_INT_ADD,
    TIMING_INT_MAX,
    TIMING_INT_MUL,
    TIMING_INT_MAD,
    TIMING_INT_DIV,
    TIMING_FP_ADD,
    TIMING_FP_MAX,
    TIMING_FP_MUL,
    TIMING_FP_MAD,
    TIMING_FP_DIV,
    TIMING_DP_ADD,
    TIMING_DP_MAX,
    TIMING_DP_MUL,
    TIMING_DP_MAD,
    TIMING_DP_DIV,
    TIMING_DP_ROOT, /* rcp, sqrt and rsqrt of f64 */
    TIMING_SFU,     /* rcp, rsqrt, sqrt, sin, cos, ex2, lg2 */
    TIMING_SHUFFLE,
    TIMING_MATRIX_SHORT, /* mma of up to 1,024 products of f16, or as many bits */
    TIMING_MATRIX_HALF,  /* one of two such, of which each has half of the products */
    TIMING_MATRIX_LONG,
    TIMING_MATRIX_DP, /* mma of f64 */
    TIMING_MEM,
    TIMING_CLASSES,
} TimingClass;

/* A prefetch is a load that brings a line into the cache of that level, and has no result. */
typedef enum {
    CACHE_DEFAULT,
    CACHE_ALL,
    CACHE_GLOBAL,
    CACHE_STREAMING,
    CACHE_VOLATILE,
    CACHE_READ_ONLY,       /* ld.global.nc, unless it goes to the L2 alone */
    CACHE_PREFETCH_L1 = 8, /* bits of their own: asked about at every access */
    CACHE_PREFETCH_L2 = 16,
} CacheOp;

/* A register operand is a byte offset into the warp's registers; with OPERAND_CONST set, into the kernel's
 * constant bank. A predicate operand is its index; OPERAND_NEGATED inverts it. Predicate 0 of every kernel is
 * the constant "true", so that an absent predicate input is predicate 0. */
#define OPERAND_CONST   0x80000000u
#define OPERAND_NEGATED 0x40000000u
#define OPERAND_OFFSET  0x3fffffffu

/* Predicate 1 of every kernel is the carry flag of add.cc and its kin; the handlers know it, no operand names
 * it. */
enum { TRUE_PREDICATE = 0, CARRY_PREDICATE = 1, FIRST_FREE_PREDICATE = 2 };

/* Inst.flags. */
enum {
    INST_GUARD_NEGATED = 1,
    INST_GUARDED = 2,           /* `guard` is a predicate                */
    INST_WRITES_MORE_NAMES = 4, /* than out_names[0]                     */
    INST_RECORDED = 8,          /* `exec` also where no lane executes it */
};

/* Inst.detail of an INST_BARRIER. src[0] is the barrier's number; src[1], when there is one, the threads
 * expected; the last source of a reduction is a predicate, its result goes to the first destination. */
typedef enum {
    BARRIER_SYNC,
    BARRIER_ARRIVE,
    BARRIER_CLUSTER_ARRIVE, /* a barrier of its own, at which a thread arrives first and waits later */
    BARRIER_CLUSTER_WAIT,
    BARRIER_RED_POPC,
    BARRIER_RED_AND,
    BARRIER_RED_OR,
} BarrierKind;

/* Inst.detail of an INST_LOAD whose data go to shared memory: cp.async. */
enum { DETAIL_ASYNC_COPY = 0x20000 };

/* Inst.detail of an INST_TRACED_WAIT that spares no group, and not the open one either. */
enum { ALL_COPIES = 0xff };

/* Inst.detail of an INST_ATOMIC or INST_STORE on an mbarrier: execution/mbarrier.h. */
enum { DETAIL_MBARRIER = 0x200000 };

/* Inst.detail of what a bulk copy becomes: execution/exec_bulk.c. Of a piece, above the shift, which of a turn it is; of what
 * stands behind the pieces, how many there are. */
enum { DETAIL_BULK = 0x400000, DETAIL_PIECE_SHIFT = 24 };

/* Inst.detail of an INST_DMA; its sources are the parameters of workloads/dma.h in their order. */
typedef enum {
    DMA_SET_DATATYPE,
    DMA_SET_PADDING,
    DMA_SET_HALO,
    DMA_CONFIGURE_FLAT,
    DMA_CONFIGURE_STRIDED,
    DMA_CONFIGURE_2D,
    DMA_EXECUTE,
} DmaOperation;

typedef struct Inst Inst;
typedef struct ExecContext ExecContext;
typedef void ExecFn(const Inst *inst, ExecContext *context);

/* In the order in which an SM looks at it: the first line says whether the instruction can issue and where it
 * goes. */
struct Inst {
    /* Scoreboard names read or written, guard and predicates included: issue waits while any is pending. */
    uint64_t names[SCOREBOARD_NAMES / 64] __attribute__((aligned(64)));
    ExecFn *exec;
    uint8_t kind;          /* InstKind                                                          */
    uint8_t timing;        /* TimingClass                                                       */
    uint8_t space;         /* Space                                                             */
    uint8_t cache_op;      /* CacheOp                                                           */
    uint8_t element_bytes; /* memory: 1, 2, 4, 8 per element                                    */
    uint8_t elements;      /* memory: 1, 2, 4 elements per lane                                 */
    uint8_t dst_count, src_count;
    uint8_t dst_mask;       /* memory vector loads: bit i set when element i has a destination   */
    uint8_t guard;          /* predicate index or NO_PREDICATE                                   */
    uint8_t flags;          /* INST_GUARD_NEGATED ...                                            */
    uint8_t pdst, pdst2;    /* predicate destinations or NO_PREDICATE                            */
    uint8_t windows;        /* bit per AddressWindow: an access to shared memory goes by it, any
                             * other instruction changes its register                            */
    uint8_t out_name_count; /* scoreboard names set pending at issue, cleared at write-back     */
    uint8_t out_names[MAX_OUT_NAMES];
    /* Register reads for the operand collector: register number % 256. No more than these: the sixth
     * parameter of dma_configure_2d, the buffer, is nearly always a constant. */
    uint8_t bank_count;
    uint8_t banks[MAX_BANK_READS];
    uint8_t out_bank;      /* the same of the first register written; when dst_count is not 0 */
    uint32_t dst[MAX_DST]; /* register destinations; a sink `_` has no entry, see dst_mask     */
    uint32_t src[MAX_SRC]; /* memory: src[0] is the address, then the values stored             */
    union {
        uint32_t target; /* branches: index of the instruction jumped to   */
        uint32_t detail; /* others: compare or atomic operation, mask, ... */
    };
    union {
        int64_t displacement;     /* memory: [address + displacement]                                  */
        uint32_t reconverge;      /* branches: index of the immediate post-dominator; inst_count if none */
        const uint32_t *more_src; /* matrix instructions: sources behind the first MAX_SRC */
        const struct SassTrace *sass; /* of a recorded kernel */
    };
    uint16_t bank_mask;   /* bit per register read: its number % MASKED_BANKS                   */
    bool banks_clash;     /* two of them have the same bit                                      */
    uint8_t has_out_name; /* 1 if out_name_count is not 0, else 0                               */
    uint8_t out_word;     /* out_names[0] / 64                                                  */
    uint8_t lane_bytes;   /* memory: element_bytes * elements                                   */
    uint16_t out_mask;    /* as bank_mask, of out_bank; 0 when dst_count is                     */
};

_Static_assert(sizeof(Inst) == 128,
               "two cache lines: a kernel's code competes with its registers for the host's cache");

/* It reads the register of this number. */
static inline void inst_reads_register(Inst *inst, uint32_t number) {
    uint16_t bank = (uint16_t)(1u << number % MASKED_BANKS);
    inst->banks[inst->bank_count++] = (uint8_t)(number % 256);
    inst->banks_clash = inst->banks_clash || inst->bank_mask & bank;
    inst->bank_mask |= bank;
}

/* The scoreboard has this name pending from issue to write-back. */
static inline void inst_writes_name(Inst *inst, uint8_t name) {
    if (inst->out_name_count) inst->flags |= INST_WRITES_MORE_NAMES;
    inst->out_names[inst->out_name_count++] = name;
    inst->out_word = inst->out_names[0] / 64;
    inst->has_out_name = 1;
}

/* The first register that it writes has this number. */
static inline void inst_writes_register(Inst *inst, uint32_t number) {
    inst->out_bank = (uint8_t)(number % 256);
    inst->out_mask = (uint16_t)(inst->dst_count ? 1u << number % MASKED_BANKS : 0u);
}

/* Registers that PTX names with a leading %. Those that never change while a warp lives are slots filled at
 * its start; the clocks and %warpid-like ones that may change are read by the instruction itself. */
typedef enum {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_DYNAMIC_SMEM_SIZE,
    SPECIAL_TOTAL_SMEM_SIZE,
    SPECIAL_ENVREG_1, /* of a cooperative launch: its workspace, the high word first */
    SPECIAL_ENVREG_2,
    SPECIAL_CLOCK,
    SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER, /* volatile: read when executed */
    SPECIAL_CLOCK_HI,
    SPECIAL_GLOBALTIMER_HI,
    SPECIAL_COUNT,
} SpecialRegister;

typedef struct {
    uint32_t special; /* SpecialRegister */
    uint32_t offset;  /* byte offset of its slot in the warp's registers, or in the constant bank */
} SpecialSlot;

/* An instruction that is executed when the kernel is launched, since its results, in the constant bank, are
 * the same in all threads; warps that come to it execute insts[inst].exec, which writes no register. */
typedef struct {
    uint32_t inst;
    ExecFn *exec;
} LaunchStep;

/* PARAM_BITS: a .b type, which does not say, or an array. */
typedef enum { PARAM_BITS, PARAM_INTEGER, PARAM_FLOAT, PARAM_HALF, PARAM_BRAIN } ParamType;

typedef struct {
    char *name;
    uint32_t offset, bytes, align;
    uint32_t type; /* ParamType */
} KernelParam;

/* A mark of workloads/dma.h: with the issue of this instruction a warp begins or ends the copying of a tile.
 */
typedef struct {
    uint32_t inst;
    uint8_t buffer;
    bool ends;
} TileMark;

/* Where an instruction comes from. */
typedef struct {
    const char *opcode; /* "ld.global.f32" */
    uint32_t ptx_line;  /* in the PTX file */
    const char *file;   /* that .loc and .file name, or NULL */
    uint32_t line;      /* of it; 0: no .loc stands before it */
    uint32_t number;    /* of the file, from 1, among those of the module; 0: no .loc stands before it */
    /* The last place before it in the file in which its kernel or function begins, where that is another file. */
    const char *own_file; /* or NULL */
    uint32_t own_line, own_number;
} InstSource;

typedef struct Kernel {
    const char *ptx; /* the text that it is in, for messages */
    uint64_t ptx_length;
    char *name;
    char *refusal; /* NULL, or why it cannot be launched: its unsupported statements, file and line of each */
    Inst *insts;
    InstSource *sources; /* of each instruction */
    uint32_t inst_count;
    uint32_t slots;                /* 32-bit register slots of a warp, special registers included */
    uint32_t predicates;           /* predicate masks of a warp, "true" and carry included         */
    uint32_t registers_per_thread; /* for occupancy: maximum live 32-bit registers, from liveness */
    uint32_t shared_bytes;         /* static shared memory, dynamic shared memory starts here     */
    uint32_t local_bytes;          /* local memory per thread, where its stack begins, if it has one */
    bool uses_stack;
    uint32_t param_bytes, param_count;
    KernelParam *params;
    uint8_t *param_reads; /* per byte of them: all ones, where an instruction may read it, or 0 */
    SpecialSlot *specials;
    uint32_t special_count;
    uint8_t *constants; /* the constant bank, SLOT_BYTES-aligned slots, as it is before a launch */
    uint32_t constant_slots;
    SpecialSlot *launch_specials; /* those that are the same in all threads; in the constant bank   */
    uint32_t launch_special_count;
    LaunchStep *launch_steps; /* in the order in which they are to be executed                  */
    uint32_t launch_step_count;
    uint64_t code_address; /* where its instructions lie for the instruction cache; set when it is placed */
    TileMark *marks;       /* in order of instructions */
    uint32_t mark_count;
    uint32_t dma_line;    /* of the first intrinsic of the DMA engine, 0: none */
    uint32_t max_threads; /* .maxntid / .reqntid product, 0 when not given               */
    uint32_t required[3]; /* .reqntid, 0 when not given                                  */
    uint32_t grid[3];     /* of a recorded kernel, which has no other one; 0 when it is none */
    uint32_t windows;     /* address windows of a warp                                   */
    uint32_t name_words;  /* of scoreboard names (Inst.names) that any instruction has   */
} Kernel;

/* The line of an instruction in the PTX file. */
static inline uint32_t kernel_ptx_line(const Kernel *kernel, const Inst *inst) {
    return kernel->sources ? kernel->sources[inst - kernel->insts].ptx_line : 0;
}

#endif
