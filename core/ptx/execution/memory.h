/* Functional device memory: one reserved address range, every access checked against live allocations.
 *
 * The law of memory values: time is cut into quanta. What an agent (an SM, an L2 slice) writes in the current
 * quantum is visible to itself at once and to everybody else from the next quantum on. So an agent reads and
 * writes through its own MemoryView, whose log is applied by view_commit() at the boundary, views in path
 * order. Between two boundaries no view touches the shared bytes but to read them. */
#ifndef WW_PTX_MEMORY_H
#define WW_PTX_MEMORY_H

#include "core/sim/checkpoint/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEVICE_MEMORY_BASE 0xc0000000ull

typedef struct DeviceMemory DeviceMemory;

/* Reserves `capacity` bytes of addresses from DEVICE_MEMORY_BASE on; pages are touched only when used. */
DeviceMemory *device_memory_new(uint64_t capacity);
/* Puts a memory in which nothing is allocated yet into a file that other processes can map, but not shorten,
 * and returns its number: byte 0 is that of DEVICE_MEMORY_BASE. */
int device_memory_share(DeviceMemory *memory);
/* From now on forks of this process have memories of their own, and other processes see nothing of what is written, until it is
 * joined again: then they see all of it. Without effect on a memory that is in no file. */
void device_memory_part(DeviceMemory *memory);
void device_memory_rejoin(DeviceMemory *memory);
void device_memory_free(DeviceMemory *memory);
/* Of a process that does nothing any more but wait for another: gives the host's memory back. What it held is lost. */
void device_memory_abandon(DeviceMemory *memory);

/* What lies within bounds. STRICT: what is inside one allocation, rounded up to 256 B. HARDWARE: what is mapped, as
 * on a GPU, which maps blocks of 2 MiB: all of each block that an allocation reaches into; between allocations are
 * zeros, or what a kernel has written there. To be set before the first allocation. */
typedef enum { BOUNDS_STRICT, BOUNDS_HARDWARE } Bounds;
#define MAPPED_BLOCK_BYTES (2ull << 20)
void device_set_bounds(DeviceMemory *memory, Bounds bounds);

/* First-fit in address order, each allocation rounded up to 256 B, contents zero, so that addresses depend on
 * nothing but the sequence of calls. Returns 0 when it does not fit. */
uint64_t device_alloc(DeviceMemory *memory, uint64_t bytes);
/* The same at a multiple of `align`, a power of two, for a variable of this name, which must live as long, or
 * NULL. */
uint64_t device_alloc_aligned(DeviceMemory *memory, uint64_t bytes, uint64_t align, const char *name);
/* Bytes of addresses. */
uint64_t device_capacity(const DeviceMemory *memory);
/* False when `address` is not the start of a live allocation. */
bool device_release(DeviceMemory *memory, uint64_t address);

/* True when [address, address + bytes) lies inside one live allocation. */
bool device_covers(const DeviceMemory *memory, uint64_t address, uint64_t bytes);

/* An allocation, for messages. */
typedef struct {
    uint64_t start, bytes; /* as asked for                                                         */
    uint32_t made_by;      /* number of the host program's call, 0: unknown                        */
    uint32_t freed_by;     /* likewise, of one that is no more                                     */
    const char *name;      /* of the variable, or NULL                                             */
} DeviceBlock;
/* The number of the host program's call that allocates and releases from now on. */
void device_note_call(DeviceMemory *memory, uint32_t call);
/* The live allocation nearest to `address`, or false. */
bool device_nearest(const DeviceMemory *memory, uint64_t address, DeviceBlock *block);
/* The allocation, released lately, in which `address` lay last, or false: also when it lies in a live one. */
bool device_released(const DeviceMemory *memory, uint64_t address, DeviceBlock *block);
/* Bytes in live allocations now, and the most there have ever been. */
uint64_t device_bytes_live(const DeviceMemory *memory);
uint64_t device_bytes_peak(const DeviceMemory *memory);

/* Host access, between quanta only. Ranges must be covered (ensure()). */
void device_write(DeviceMemory *memory, uint64_t address, const void *bytes, uint64_t count);
void device_read(const DeviceMemory *memory, uint64_t address, void *bytes, uint64_t count);
void device_fill(DeviceMemory *memory, uint64_t address, uint8_t byte, uint64_t count);
/* The bytes themselves, of a range that is covered (ensure()). */
uint8_t *device_bytes(DeviceMemory *memory, uint64_t address, uint64_t count);
/* A digest of all live allocations, for tests of determinism. */
uint64_t device_digest(const DeviceMemory *memory);

/* What is known of each byte of an allocation: whether it was written, by the host, or by kernels as device_initialise()
 * says; of the heap of malloc, as device_set_bytes() says, whether it is in a block. All between quanta; off until
 * device_track_initialised(), which must come before the first allocation. */
typedef enum { BYTE_UNWRITTEN, BYTE_WRITTEN, BYTE_OF_NO_BLOCK, BYTE_FREED } ByteState;
void device_track_initialised(DeviceMemory *memory);
void device_set_bytes(DeviceMemory *memory, uint64_t address, uint64_t count, ByteState state);
/* They are written; those of no block, or freed, stay so. */
void device_initialise(DeviceMemory *memory, uint64_t address, uint64_t count);
/* Of bytes inside an allocation. */
bool device_is_initialised(const DeviceMemory *memory, uint64_t address, uint64_t count);
/* BYTE_OF_NO_BLOCK or BYTE_FREED when one of them is, otherwise BYTE_WRITTEN. */
ByteState device_block_state(const DeviceMemory *memory, uint64_t address, uint64_t count);
/* How many bytes from `address` on, up to `end`, are in a block. */
uint64_t device_block_bytes(const DeviceMemory *memory, uint64_t address, uint64_t end);

/* Checkpoints, between quanta only. On resume the host program runs again from its start, so its allocations,
 * copies and fills are made again; what kernels wrote is not. Therefore view_commit() marks every page (4
 * KiB, counted from DEVICE_MEMORY_BASE) that it writes to, and a checkpoint holds the marked pages alone,
 * whatever the host wrote to them before or after. A page loses its mark when nothing that lies within bounds is
 * left in it: it is zero then, as in a new memory. */
void device_memory_save(const DeviceMemory *memory, Buffer *buffer);
/* Reads what device_memory_save() wrote into a memory to which the host program has done again all that it
 * did before the save, and no kernel anything. False, with the reason in `why` and the memory as it was, when
 * the bytes are damaged or the live allocations are not those of the save. */
bool device_memory_load(DeviceMemory *memory, Reader *reader, char *why, size_t why_size);
/* The same as far as it can be done without the memory: are the bytes damaged? */
bool device_memory_check(Reader *reader, char *why, size_t why_size);

typedef struct {
    uint64_t address, value;
    uint64_t bytes; /* 1, 2, 4 or 8: the low bytes of value */
} LoggedWrite;

typedef struct MemoryView {
    DeviceMemory *memory;
    uint8_t *
        base; /* host address of device address 0: base + address is the byte; never dereferenced unchecked */
    uint64_t hot_start,
        hot_end;        /* where the last access fell, all within bounds: the fast path of the check */
    uint64_t signature; /* one bit per hash of a logged 128 B line: no common bit, no overlap     */
    LoggedWrite *log;
    uint32_t log_count, log_capacity;
    bool is_alone; /* nobody else executes, and the log is empty between instructions */
} MemoryView;

/* The memory remembers its views, to make them forget allocations that are released: a view stays where it
 * is. */
void view_init(MemoryView *view, DeviceMemory *memory);
void view_free(MemoryView *view);
/* Applies the log in the order of the writes, marks the pages written, and empties the log. */
void view_commit(MemoryView *view);

/* Looks for it among all; what it finds, the allocation or what is mapped around it, becomes the hot one. */
bool view_finds(MemoryView *view, uint64_t address, uint64_t bytes);
/* True when [address, address + bytes) lies within bounds. */
static inline bool view_covers(MemoryView *view, uint64_t address, uint64_t bytes) {
    bool is_hot = address >= view->hot_start && address < view->hot_end && bytes <= view->hot_end - address;
    return is_hot || view_finds(view, address, bytes);
}
/* At once, of a view that is alone: a range within bounds, at most a page. */
void view_write(MemoryView *view, uint64_t address, const void *bytes, uint64_t count);
/* Makes room in the log for `count` more writes. */
void view_reserve(MemoryView *view, uint32_t count);
/* The bit of the 128 B line that holds `address` in MemoryView.signature. The line number is folded, so that
 * equal offsets in different allocations seldom share a bit; shifts, because they vectorise where
 * multiplication does not. */
static inline uint64_t view_line_bit(uint64_t address) {
    uint64_t line = address >> 7;
    return 1ull << ((line ^ line >> 6 ^ line >> 12 ^ line >> 18) & 63);
}

/* The element there, `value` as in device memory, as the view has written it. */
uint64_t view_overlay(const MemoryView *view, uint64_t address, uint32_t bytes, uint64_t value);

/* One element of 1, 2, 4 or 8 bytes; false, and a value of 0, when out of bounds. The value is zero-extended. */
static inline bool view_load(MemoryView *view, uint64_t address, uint32_t bytes, uint64_t *value) {
    *value = 0;
    if (!view_covers(view, address, bytes)) return false;
    const uint8_t *from = view->base + address;
    switch (bytes) { /* constant sizes: one load each */
    case 1: memcpy(value, from, 1); break;
    case 2: memcpy(value, from, 2); break;
    case 4: memcpy(value, from, 4); break;
    default: memcpy(value, from, 8); break;
    }
    /* Elements are aligned, but merged writes may straddle two lines: both bits are in the signature. */
    if (view->signature & (view_line_bit(address) | view_line_bit(address + bytes - 1)))
        *value = view_overlay(view, address, bytes, *value);
    return true;
}

/* One element; false when out of bounds. */
bool view_store(MemoryView *view, uint64_t address, uint32_t bytes, uint64_t value);

#endif
