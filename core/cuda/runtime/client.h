/* The program's end of the channel, which libcudart and libcuda share: the connection, device memory, modules.
 * libcuda holds it; libcudart is linked to that. Names of both floors below the CUDA APIs begin with warp_. */
#ifndef WW_CUDA_CLIENT_H
#define WW_CUDA_CLIENT_H

#include "core/cuda/runtime/errors.h"
#include "core/cuda/runtime/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Questions ------------------------------------------------------------------------------- */

/* One question under construction, and its answer. Only between warp_enter() and warp_leave(). */
typedef struct {
    uint8_t *bytes;
    size_t count, capacity, taken;
} WarpMessage;

/* All threads take their turn; connects first. 0, or the error that every call gets: there is no simulator, or a
 * kernel has failed. warp_leave() must follow in either case. */
int warp_enter(void);
/* The same, without waiting: false where it is another's turn, or there is an error, and then no warp_leave(). */
bool warp_try_to_enter(void);
/* The same for a reset, after which a kernel's failure is forgotten. */
int warp_enter_to_reset(void);
void warp_leave(void);
/* Each call of the runtime makes the primary context current in a thread that has none. */
void warp_use_primary_context(void);
WarpMessage *warp_question(void);
void warp_put_u32(WarpMessage *message, uint32_t value);
void warp_put_u64(WarpMessage *message, uint64_t value);
void warp_put_string(WarpMessage *message, const void *bytes, size_t count);
/* Sends it and waits; the message is the answer then. 0 or an error code. */
int warp_ask(WarpMessage *message, ChannelOperation operation);
/* The next of the answer, 0 behind its end. */
uint32_t warp_take_u32(WarpMessage *message);
uint64_t warp_take_u64(WarpMessage *message);
const char *warp_take_string(WarpMessage *message, size_t *count);

/* The error of a kernel that failed, which all calls get from then on, or 0. */
int warp_dead(void);
/* Tells on stderr, once, that the program called what is not there. The second is for who has entered. */
void warp_name_missing(const char *function);
void warp_name_missing_inside(const char *what);

/* --- The device ------------------------------------------------------------------------------ */

typedef struct {
    char name[256];
    uint64_t memory_base, memory_bytes;
    int64_t number[DEVICE_NUMBERS];
} WarpDevice;

/* Between warp_enter(), which has returned 0, and warp_leave(). An attribute by its number in both APIs; 0 or an
 * error code. */
int warp_attribute(int which, int *value);
const WarpDevice *warp_device(void);
/* Core cycles at the end of the last kernel. */
uint64_t warp_cycle(void);

/* --- Memory ---------------------------------------------------------------------------------- */

/* The last two are memory of the program's own, whose shadow kernels find. */
typedef enum {
    RANGE_DEVICE,
    RANGE_MAPPED,
    RANGE_MANAGED,
    RANGE_CHUNK, /* of cuMemCreate(), where cuMemMap() has put it */
    RANGE_VARIABLE,
    RANGE_REGISTERED,
    RANGE_MANAGED_COPY
} RangeKind;

typedef struct {
    uint64_t start, bytes; /* of a registered range: of the program's own memory           */
    uint64_t device;       /* where kernels find it                                        */
    RangeKind kind;
    uint32_t flags;                 /* of its allocation */
    struct WarpPool *pool;          /* NULL: of none */
    struct WarpGraphMemory *memory; /* NULL: not of a graph */
    uint8_t
        *same; /* of memory with a shadow: what both held when they were the same; NULL: they never were */
} WarpRange;

/* All of these between warp_enter() and warp_leave(). */
int warp_alloc(uint64_t bytes, RangeKind kind, uint32_t flags, uint64_t *address);
int warp_release(uint64_t address);
/* In the order of a stream: permitted while it is captured, unlike those above. */
int warp_release_async(uint64_t address);
/* Addresses that nothing lies at yet; and chunks there, which copies may cross. */
int warp_reserve(uint64_t bytes, uint64_t *address);
int warp_unreserve(uint64_t address);
void warp_add_chunk(uint64_t address, uint64_t bytes);
void warp_remove_chunk(uint64_t address);
/* Reservations and chunks are forgotten. */
void warp_virtual_reset(void);
int warp_register(void *start, uint64_t bytes, uint32_t flags);
int warp_unregister(void *start);
/* Has the program memory that it and running kernels are to share (cudaHostAllocMapped)? */
bool warp_shares_memory(void);
/* The range that `address` lies in, or NULL. */
const WarpRange *warp_range(uint64_t address);
/* Where the program finds these bytes of device memory; NULL when no allocation covers them. */
uint8_t *warp_bytes(uint64_t address, uint64_t count);
/* Around what the program does to device memory by itself. */
int warp_reads(uint64_t address, uint64_t count);
int warp_wrote(uint64_t address, uint64_t count);
/* Addresses of the device or of the program: rows of `width` bytes, `rows` of them in each of `slices`, at these
 * distances. */
typedef struct {
    uint64_t address, row, slice;
} WarpPlace;
int warp_copy(WarpPlace to, WarpPlace from, uint64_t width, uint64_t rows, uint64_t slices);
int warp_fill(WarpPlace to, uint32_t value, uint32_t value_bytes, uint64_t width, uint64_t rows,
              uint64_t slices);
int warp_memory_info(uint64_t *free_bytes, uint64_t *total_bytes);
/* Forgets all memory and modules. */
int warp_reset(void);
/* A variable of a module: an allocation that cannot be freed; a managed one is mapped where kernels find it. */
int warp_note_variable(uint64_t address, uint64_t bytes, bool managed);
/* One that the program has at `own`: its bytes are copied from there and back around each launch, and now from the device. */
int warp_note_managed_copy(uint64_t own, uint64_t address, uint64_t bytes);

/* --- Modules --------------------------------------------------------------------------------- */

typedef struct WarpModule WarpModule;

typedef struct {
    uint32_t offset, bytes;
} WarpParam;

typedef struct WarpFunction {
    struct WarpFunction *next;
    char *name;
    WarpModule *module;
    const void *symbol; /* the program's own function that stands for it, or NULL */
    bool is_loaded;
    uint32_t number, registers, shared, local, constant, max_threads, architecture, param_bytes, param_count;
    bool is_refused;      /* no launch of it is legal: its PTX has statements that do not run */
    uint8_t extents_told; /* which of grid and block were told to be wrong */
    WarpParam *params;
    bool has_dynamic_limit; /* set by the program: */
    uint32_t most_dynamic_shared;
    struct WarpStepwise *stepwise; /* NULL before such a call: driver_stepwise.c */
} WarpFunction;

/* The image is copied; it is sent once something of it is needed. */
WarpModule *warp_module_new(const void *image, size_t bytes);
/* The module or function of a handle; NULL for what is none. */
WarpModule *warp_module(const void *handle);
WarpFunction *warp_known_function(const void *handle);
/* Its handle is none any more, and those of its functions. */
void warp_module_unload(WarpModule *module);
/* Adds an image to a module that was new() with 0 bytes: its texts are linked to each other. Returns the number of this part,
 * from 1 on. */
uint32_t warp_module_link(WarpModule *module, const void *image);
/* Adds an image to others that are linked to each other; with NULL and 0, the end of all. */
void warp_append_image(uint8_t **images, size_t *bytes, const void *image, size_t image_bytes);
/* Bytes of an image: a fat binary, ELF, text, or images that cuLinkComplete() put together. */
size_t warp_image_bytes(const void *image);
int warp_module_load(WarpModule *module);
/* What is wrong with an image that was refused, with file and line, or NULL. */
const char *warp_module_refusal(const WarpModule *module);
/* 0, or what is wrong; names of textures are not found here. Variables of this part of a linked module come before those of
 * others; 0: of none. */
int warp_variable(WarpModule *module, uint32_t part, const char *name, uint64_t *address, uint64_t *bytes);
/* A reference of a texture or surface. */
bool warp_has_texture(WarpModule *module, const char *name);
/* The same function for the same name. */
WarpFunction *warp_function(WarpModule *module, const char *name);
int warp_function_load(WarpFunction *function);
typedef struct {
    uint32_t grid[3], block[3];
    uint64_t shared_bytes; /* dynamic */
    bool is_cooperative;   /* all CTAs run at once */
} WarpLaunch;

/* `params`: pointers to the arguments; or else `packed` bytes, as the kernel lays them out. Errors of running
 * kernels are those of later calls. */
int warp_launch(WarpFunction *function, const WarpLaunch *launch, void *const *params, const void *packed,
                size_t packed_bytes);
/* One of several kernels that are launched together; the rest as above. */
typedef struct {
    WarpFunction *function;
    const WarpLaunch *shape;
    void *const *params;
    const void *packed;
    size_t packed_bytes;
    uint32_t *after; /* numbers of those before it in the list that end before it begins */
    uint32_t after_count;
    uint32_t *behind; /* likewise, of those in flight: numbers of warp_begin() */
    uint32_t behind_count;
    int priority;  /* of its stream, for warp_begin() */
    uint64_t ends; /* filled in: the core cycle */
} WarpKernelLaunch;

/* They run side by side but for those that wait. A problem that is no kernel's own: none has run. */
int warp_launch_together(WarpKernelLaunch *launches, uint32_t count);
/* The same, beside those in flight, and goes on: the number of the first. CUDA_NOT_SUPPORTED: they cannot go with the
 * program between them and their ends, or one is not legal. */
int warp_begin(const WarpKernelLaunch *launches, uint32_t count, uint32_t *first);
/* Until one of these has ended, or all that are in flight where none is named; or, where `cycles` is not 0, until the core
 * clock comes to a multiple of it. Calls `ended` with each that has. */
int warp_wait_for(const uint32_t *numbers, uint32_t count, uint64_t cycles,
                  void (*ended)(void *context, uint32_t number, uint64_t cycle), void *context);
/* What is wrong with a launch before it starts, or 0. Loads the function. */
int warp_check_launch(WarpFunction *function, const WarpLaunch *launch, bool has_arguments);
/* A limit by its number in both APIs: stack of a thread, what a launch may print, heap of kernels. The first between
 * warp_enter() and warp_leave(). 0 or an error code. */
int warp_set_limit(unsigned which, uint64_t value);
int warp_get_limit(unsigned which, uint64_t *value);
/* Bytes of shared memory of a CTA: what it can have, and what it has unless the program asks for more. */
uint64_t warp_most_shared_bytes(void);
uint64_t warp_shared_bytes(void);
/* The most dynamic shared memory with which a function can be launched: what the program set, or what is left of those
 * bytes. Of a function that is loaded. */
uint64_t warp_dynamic_limit(const WarpFunction *function);
/* Of a CTA of that many in an SM. */
uint64_t warp_available_dynamic(const WarpFunction *function, uint64_t ctas);
/* With its own, no more than an SM has. 0 or an error code. */
int warp_set_dynamic_limit(WarpFunction *function, int bytes);
/* CTAs of a kernel that an SM holds at once. */
uint32_t warp_occupancy(const WarpFunction *function, uint32_t threads, uint64_t dynamic_shared);
/* The function of the driver API that programs of this version of CUDA (12040, say) call by this name, or NULL. With
 * flag 2, the one whose default stream is the thread's. */
void *warp_entry_point(const char *name, int version, uint64_t flags);
int warp_make_texture(const TextureSource *source, const TextureQuestion *how, uint64_t *handle);
int warp_bind_texture(WarpModule *module, const char *name, uint64_t handle);

#endif
