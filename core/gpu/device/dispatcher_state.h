/* The state of a Dispatcher, shared by the files that implement it: dispatcher.c, the class and its cycle;
 * dispatcher_share.c, which kernel's CTAs an SM gets; dispatcher_within.c, the same where it has those of several;
 * dispatcher_placement.c, which of its SMs gets the next one;
 * dispatcher_order.c, which CTA of the grid that is; dispatcher_running.c, the kernels that a cycle looks at. */
#ifndef WW_GPU_DISPATCHER_STATE_H
#define WW_GPU_DISPATCHER_STATE_H

#include "core/gpu/device/dispatcher.h"
#include "core/gpu/sm/sm.h"
#include "core/sim/event.h"
#include "mem/protocol/functional_memory.h"

enum { SMS_IN_QUESTION = 64, NO_SM = -1, NO_CTA = -1, NO_GRID = -1 };

typedef enum {
    DISPATCHER_CTA_START,
    DISPATCHER_CTA_END,
    DISPATCHER_PLACE,
    DISPATCHER_NEXT_CTA,
    DISPATCHER_NEXT_KERNEL,
} DispatcherEvent;

/* Of an SM, in the present cycle. */
typedef enum { MAY_GET_ONE, HAS_GOT_ONE, KEPT_WAITING } SmTurn;

typedef enum { PLACE_ROUND_ROBIN, PLACE_LEAST_LOADED, PLACE_DEPTH_FIRST, PLACE_BLOCKS } Placement;

/* In which order the CTAs of a grid are handed out. */
typedef enum { ORDER_ROWS, ORDER_COLUMNS, ORDER_TILES, ORDER_FROM_THE_END } CtaOrder;

/* Which of several kernels an SM gets. */
typedef enum { SHARE_IN_ORDER, SHARE_EVENLY, SHARE_ONE_AT_A_TIME } Sharing;

/* Why an SM gets no more CTAs until it has none: `sharing` takes that back when nobody wants the SM any more. */
typedef enum { DRAINS_NOT, DRAINS_FOR_SHARING, DRAINS_FOR_POLICY } SmDrains;

/* Of a kernel of the present launch. */
typedef struct {
    uint32_t size[3];
    uint16_t has_begun;              /* a flag: the kernels that it waits for have ended */
    uint16_t is_cooperative;         /* a flag: its CTAs wait for each other              */
    uint64_t ctas, handed_out, done; /* CTAs */
    uint64_t position;               /* with `taken`: in `order`, of the first CTA that is left */
    uint32_t first_taken;            /* word of Dispatcher.taken */
    uint32_t taken_words;            /* 0: those handed out are the first ones in `order` */
    uint32_t next_sm;                /* that is looked at first */
    uint32_t block_left;             /* CTAs that next_sm gets before another one does */
    uint64_t warp_instructions, thread_instructions; /* of those done, where SMs have several kernels */
} Grid;

typedef struct {
    uint32_t free_slots;       /* bit per CTA slot of the SM                                   */
    uint32_t places;           /* slots, of CTAs of the kernel that it has, or of several      */
    uint32_t grid;             /* that kernel's; of several: of which it gets or got a CTA last */
    uint32_t drains;           /* SmDrains: it gets no more CTAs until it has none             */
    uint32_t is_due;           /* a flag, of several: it can get a CTA of `grid` in this cycle  */
    uint16_t kernel[MAX_CTAS]; /* of the CTA in each slot                                      */
    uint32_t pad;
} SmSlots;

typedef struct {
    SimObject obj;
    uint32_t sms;     /* parameter */
    uint32_t next_sm; /* where the next launch begins, with goes_on */
    uint32_t goes_on; /* a flag */
    uint32_t code_align;
    uint32_t placement, order, tile_x, tile_y, block, sharing; /* parameters */
    uint64_t kernels_per_sm, count_by_kernel;                  /* parameters; the latter is a flag */
    Port *sm;
    const SmsOfKernels *sms_of;
    const int32_t *priorities; /* of kernels; NULL: all have the same */
    uint16_t *running; /* kernels that have begun and have not ended, in the order in which they get SMs */
    uint16_t *ended;   /* since dispatcher_take_ended(), or more */
    uint32_t running_count, ended_count;
    uint64_t begun; /* kernels, those that have ended included */
    /* Of each SM that may have several: no kernel that runs has a CTA for it, until one of its CTAs ends, its limit is
     * another one, or another kernel begins. */
    uint8_t fits_none[MAX_SMS];
    uint32_t grid_count;
    uint32_t taken_words;
    uint32_t present;   /* the grid whose CTAs are handed out, or were last */
    uint32_t has_freed; /* a flag: an SM has been left to others in this quantum */
    Grid *grids;
    uint64_t done;      /* CTAs of all of them */
    uint64_t forwarded; /* CTAs that were handed over in mid-flight, of all kernels */
    uint64_t expected;  /* kernels of the launch, at most */
    uint64_t pause_at;  /* as many are done; 0: at none */
    uint64_t *taken;    /* of grids of which policies choose: bit per CTA that an SM has got, by its number */
    SmSlots *slots;
    uint8_t limit[MAX_SMS];            /* knob: CTAs that an SM may hold; 0: as many as fit */
    uint64_t kernels, ctas_dispatched; /* statistics */
} Dispatcher;

static inline uint32_t slots_of(uint32_t places) {
    return places ? ~0u >> (MAX_CTAS - places) : 0;
}

static inline bool has_ctas_left(const Grid *grid) {
    return grid->has_begun && grid->handed_out < grid->ctas;
}

/* The CTAs that SMs hold wait for those that are left. */
static inline bool is_incomplete(const Grid *grid) {
    return grid->is_cooperative && grid->handed_out && has_ctas_left(grid);
}

static inline bool is_running(const Grid *grid) {
    return grid->has_begun && grid->done < grid->ctas;
}

static inline bool has_no_cta(const SmSlots *slots) {
    return slots->free_slots == slots_of(slots->places);
}

static inline bool policies_decide(const Dispatcher *d) {
    return (d->obj.subscribed & (1u << DISPATCHER_PLACE | 1u << DISPATCHER_NEXT_CTA)) != 0;
}

/* --- dispatcher_running.c --- */
/* Kernels have come, and none of them has begun. */
void make_room_for_kernels(Dispatcher *d);
/* Grids are others than before. */
void list_kernels(Dispatcher *d);
void note_begin(Dispatcher *d, uint32_t grid);
void note_end(Dispatcher *d, uint32_t grid);
void free_lists(SimObject *dispatcher);
/* The one of those that run that is incomplete, or NO_GRID: cooperative kernels run one after the other. */
int incomplete_kernel(const Dispatcher *d);
/* Of those that run, the last one in turn that has CTAs left, or NO_GRID. */
int last_with_ctas_left(const Dispatcher *d);
/* In turn, up to one for each SM: those with CTAs left that SMs have. Returns how many. */
uint32_t kernels_of_sms(const Dispatcher *d, uint16_t *kernels);

/* --- dispatcher_order.c, of the present grid --- */
/* The next CTA in `order`. */
void next_cta(const Dispatcher *d, uint32_t cta[3]);
/* The one that the SM gets, which is handed out by this. False: it gets none in this cycle. */
bool take_cta(Dispatcher *d, uint32_t sm, uint32_t cta[3]);
/* The position is that of a CTA that is left. */
void pass_taken(Dispatcher *d);
/* No policy has chosen yet. */
void forget_taken(Dispatcher *d);
/* The lowest number, from `first` to `last`, of a CTA that no SM has got yet. False: there is none. */
bool first_left(Dispatcher *d, int64_t first, int64_t last, int64_t *cta);
/* What next_cta() may answer; arguments[2]: the dispatcher. */
bool may_be_next(const int64_t *arguments, int64_t cta);
void taken_are_sound(const Dispatcher *d);
uint64_t count_taken(const Dispatcher *d, const Grid *grid);

/* --- dispatcher_placement.c, of the present grid --- */
/* Does the SM get no more CTAs of the grid until it has none? */
bool drains_for(const Dispatcher *d, uint32_t sm, uint32_t grid);
/* CTAs that the SM holds; that it may hold; that it may still get, of its kernel and of the present grid. */
uint32_t resident_ctas(const Dispatcher *d, uint32_t sm);
uint32_t most_resident(const Dispatcher *d, uint32_t sm);
bool has_room(const Dispatcher *d, uint32_t sm);
uint32_t room_of_sm(const Dispatcher *d, uint32_t sm);
/* The SM's next slot is of a CTA of the present grid: which, and what the SM is to know of it beside its place in the grid. */
void take_slot(Dispatcher *d, uint32_t sm, CtaStart *start);
/* As many as the SMs get in this cycle. True when any did. */
bool hand_out_ctas(Dispatcher *d, uint64_t now);

/* --- dispatcher_share.c --- */
/* A CTA of the SM has ended: is another kernel to have the SM now? */
bool leaves_sm_to_others(const Dispatcher *d, uint32_t sm);
/* What next_kernel() may answer; arguments[2]: the dispatcher. */
bool may_have_sm(const int64_t *arguments, int64_t kernel);

/* --- dispatcher_within.c --- */
/* May SMs have CTAs of several kernels of this launch at once? */
bool has_several_per_sm(const Dispatcher *d);
uint32_t ctas_of_kernel(const Dispatcher *d, uint32_t sm, uint32_t grid);
/* What the SM's CTAs leave of it. */
CtaNeeds room_left(const Dispatcher *d, uint32_t sm);
/* CTAs of the kernel that the SM could get beside those that it holds. */
uint32_t room_within(const Dispatcher *d, uint32_t sm, uint32_t grid);
/* As many as it may hold of them without CTAs of other kernels. */
uint32_t most_within(const Dispatcher *d, uint32_t sm, uint32_t grid);
bool can_get(const Dispatcher *d, uint32_t sm, uint32_t grid);
/* Of each SM with room: a CTA of which kernel it gets next. */
void choose_kernels(Dispatcher *d);
bool any_sm_could_get_one(const Dispatcher *d);

/* --- dispatcher_methods.c --- */
extern const Method dispatcher_methods[];

#endif
