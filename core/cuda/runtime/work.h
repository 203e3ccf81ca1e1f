/* The work of streams, as data: a call describes what it asks for, and capture.c does it or makes a node of it. All
 * functions between warp_enter() and warp_leave(); they return 0 or an error code. */
#ifndef WW_CUDA_WORK_H
#define WW_CUDA_WORK_H

#include "core/cuda/runtime/client.h"
#include "core/cuda/toolkit/include/driver_types.h"

/* Numbered as the types of nodes in both APIs. */
typedef enum {
    WORK_KERNEL = 0,
    WORK_COPY = 1,
    WORK_FILL = 2,
    WORK_HOST = 3,
    WORK_GRAPH = 4,
    WORK_EMPTY = 5,
    WORK_WAIT = 6,
    WORK_RECORD = 7,
    WORK_ALLOC = 10,
    WORK_FREE = 11,
    WORK_VALUE = 100, /* no node has these */
    WORK_HOLD = 101,  /* memory of a graph, until the work before it is done */
} WorkKind;

/* As flags of cuStreamWaitValue32() have them. */
typedef enum { VALUE_GREATER, VALUE_EQUAL, VALUE_AND, VALUE_NOR, VALUE_KINDS } ValueKind;

/* A word that is waited for, of 4 or 8 bytes. */
typedef struct {
    uint64_t address, value;
    uint32_t bytes;
    ValueKind how;
} WorkValue;

typedef struct {
    WarpFunction *function;
    WarpLaunch shape;
    void *const *params; /* pointers to the arguments; NULL: they are packed */
    const void *packed;
    size_t packed_bytes;
} WorkKernel;

typedef struct {
    WarpPlace to, from;
    uint64_t width, rows, slices;
    int direction; /* cudaMemcpyKind                            */
    bool is_asked; /* by a struct, which is what is answered:   */
    struct cudaMemcpy3DParms asked;
} WorkCopy;

typedef struct {
    WarpPlace to;
    uint32_t value, value_bytes;
    uint64_t width, rows, slices; /* bytes in a row */
} WorkFill;

typedef struct {
    void (*function)(void *data);
    void *data;
} WorkHost;

/* Memory of a graph, or of a pool where the work is done at once. */
typedef struct {
    struct WarpPool *pool;
    struct WarpGraphMemory *memory;
    uint64_t bytes, address;
    uint64_t *result; /* where a call wants the address */
} WorkMemory;

typedef struct {
    WorkKind kind;
    union {
        WorkKernel kernel;
        WorkCopy copy;
        WorkFill fill;
        WorkHost host;
        struct WarpGraph *graph;
        void *event;
        WorkMemory memory;
        WorkValue value;
    };
} WarpWork;

/* The packed arguments of the list { key, value, ..., 0 } in place of `params`, or NULL. */
const void *warp_packed_arguments(void *const *extra, size_t *bytes);

int warp_work_do(const WarpWork *work);
/* Is it called by a host function, in the thread of its caller? */
bool warp_in_host_function(void);
/* Is the word there? The second does not note that it is read. */
int warp_value_holds(const WorkValue *value, bool *holds);
bool warp_value_seems_to_hold(const WorkValue *value);
/* What a node keeps of it: copies of the arguments of kernels and of graphs. */
int warp_work_keep(WarpWork *kept, const WarpWork *work);
/* Another of what is kept. */
int warp_work_copy(WarpWork *copy, const WarpWork *kept);
void warp_work_free(WarpWork *kept);

#endif
