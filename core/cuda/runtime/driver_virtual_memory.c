/* The driver API: virtual memory. Simulated addresses are those of memory: a reservation takes memory of its size, and a
 * chunk lies where it is mapped, at one place at a time. While it is mapped nowhere the library keeps what it holds. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/pending.h"

#include <stdlib.h>
#include <string.h>

#define GRANULARITY ((uint64_t)2 << 20)

enum { TYPE_PINNED = 1, LOCATION_DEVICE = 1, ACCESS_READ_WRITE = 3 };

typedef struct {
    int type, id;
} Location;

typedef struct {
    int type, handle_types;
    Location location;
    void *unused;
    uint8_t flags[8];
} Properties;

typedef struct {
    Location location;
    int flags;
} AccessOf;

typedef struct Reservation {
    struct Reservation *next;
    uint64_t start, bytes, allocation; /* `start` is aligned within an allocation that is larger */
    bool is_used;                      /* something lay there before */
} Reservation;

typedef struct Chunk {
    struct Chunk *next; /* of all */
    uint64_t bytes, references;
    uint64_t address, mapped_bytes; /* mapped: 0, or how many bytes */
    int access;
    uint8_t *contents; /* of one that is mapped nowhere; NULL: zeros */
    Properties properties;
} Chunk;

static Reservation *reservations;
static Chunk *chunks;

/* --- What lies where --------------------------------------------------------------------------- */

static Reservation **reservation_at(uint64_t address, uint64_t bytes) {
    Reservation **link = &reservations;
    while (*link && (address < (*link)->start || address - (*link)->start >= (*link)->bytes))
        link = &(*link)->next;
    bool is_inside = *link && bytes <= (*link)->start + (*link)->bytes - address;
    return is_inside ? link : NULL;
}

/* The first that is mapped to any of these bytes. */
static Chunk *chunk_at(uint64_t address, uint64_t bytes) {
    Chunk *first = NULL;
    for (Chunk *chunk = chunks; chunk; chunk = chunk->next) {
        bool meets = chunk->mapped_bytes && chunk->address < address + bytes &&
                     address < chunk->address + chunk->mapped_bytes;
        if (meets && (!first || chunk->address < first->address)) first = chunk;
    }
    return first;
}

/* Are these bytes those of whole chunks, without a gap? */
static bool is_whole(uint64_t address, uint64_t bytes) {
    uint64_t done = 0;
    while (done < bytes) {
        const Chunk *chunk = chunk_at(address + done, 1);
        if (!chunk || chunk->address != address + done) return false;
        done += chunk->mapped_bytes;
    }
    return bytes && done == bytes;
}

static Chunk *chunk_of(uint64_t handle) {
    return warp_handle((void *)handle, HANDLE_CHUNK);
}

static void end_chunk(Chunk *chunk) {
    Chunk **link = &chunks;
    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
    free(chunk->contents);
    free(chunk);
}

static bool is_granular(uint64_t bytes) {
    return bytes && bytes % GRANULARITY == 0;
}

/* --- Addresses --------------------------------------------------------------------------------- */

CUresult cuMemGetAllocationGranularity(size_t *bytes, const Properties *properties, int option) {
    if (!bytes || !properties || (unsigned)option > 1) return CUDA_INVALID_VALUE;
    *bytes = GRANULARITY;
    return CUDA_OK;
}

static int reserve(CUdeviceptr *address, uint64_t bytes, uint64_t alignment) {
    if (bytes > warp_device()->memory_bytes || alignment > warp_device()->memory_bytes)
        return CUDA_MEMORY_ALLOCATION;
    Reservation *made = calloc(1, sizeof *made);
    int problem = made ? warp_reserve(bytes + alignment, &made->allocation) : CUDA_MEMORY_ALLOCATION;
    if (problem) {
        free(made);
        return problem;
    }
    made->start = (made->allocation + alignment - 1) / alignment * alignment;
    made->bytes = bytes;
    made->next = reservations;
    reservations = made;
    *address = made->start;
    return CUDA_OK;
}

/* Which address is wanted is a hint. */
CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wanted,
                             unsigned long long flags) {
    (void)wanted;
    int problem = driver_enter();
    if (!problem && (!address || !is_granular(bytes) || (alignment & (alignment - 1)) || flags))
        problem = CUDA_INVALID_VALUE;
    if (!problem) problem = reserve(address, bytes, alignment > GRANULARITY ? alignment : GRANULARITY);
    return driver_leave(problem);
}

static int unreserve(uint64_t address, uint64_t bytes) {
    Reservation **link = reservation_at(address, bytes), *ended = link ? *link : NULL;
    if (!ended || ended->start != address || ended->bytes != bytes || chunk_at(address, bytes))
        return CUDA_INVALID_VALUE;
    uint64_t allocation = ended->allocation;
    *link = ended->next;
    free(ended);
    return warp_unreserve(allocation);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
    int problem = driver_enter();
    if (!problem) problem = warp_do_pending();
    if (!problem) problem = unreserve(address, bytes);
    return driver_leave(problem);
}

/* --- Chunks ------------------------------------------------------------------------------------ */

static int create(uint64_t *handle, uint64_t bytes, const Properties *properties) {
    if (bytes > warp_device()->memory_bytes) return CUDA_MEMORY_ALLOCATION;
    Chunk *made = calloc(1, sizeof *made);
    if (!made) return CUDA_MEMORY_ALLOCATION;
    *made = (Chunk){.next = chunks, .bytes = bytes, .references = 1, .properties = *properties};
    chunks = made;
    warp_handle_add(made, HANDLE_CHUNK);
    *handle = (uint64_t)made;
    return CUDA_OK;
}

CUresult cuMemCreate(uint64_t *handle, size_t bytes, const Properties *properties, unsigned long long flags) {
    int problem = driver_enter();
    if (!problem &&
        (!handle || !is_granular(bytes) || !properties || properties->type != TYPE_PINNED || flags))
        problem = CUDA_INVALID_VALUE;
    if (!problem && (properties->location.type != LOCATION_DEVICE || properties->location.id))
        problem = CUDA_INVALID_DEVICE;
    if (!problem) problem = create(handle, bytes, properties);
    return driver_leave(problem);
}

/* It stays as long as it is mapped. */
CUresult cuMemRelease(uint64_t handle) {
    int problem = driver_enter();
    Chunk *chunk = problem ? NULL : chunk_of(handle);
    if (!problem && !chunk) problem = CUDA_INVALID_VALUE;
    if (!problem && !--chunk->references) {
        warp_handle_remove(chunk);
        if (!chunk->mapped_bytes) end_chunk(chunk);
    }
    return driver_leave(problem);
}

CUresult cuMemRetainAllocationHandle(uint64_t *handle, void *address) {
    int problem = driver_enter();
    Chunk *chunk = problem ? NULL : chunk_at((uint64_t)address, 1);
    if (!problem && (!chunk || !handle)) problem = CUDA_INVALID_VALUE;
    if (!problem) {
        if (!chunk->references++) warp_handle_add(chunk, HANDLE_CHUNK);
        *handle = (uint64_t)chunk;
    }
    return driver_leave(problem);
}

CUresult cuMemGetAllocationPropertiesFromHandle(Properties *properties, uint64_t handle) {
    int problem = driver_enter();
    const Chunk *chunk = problem ? NULL : chunk_of(handle);
    if (!problem && (!chunk || !properties)) problem = CUDA_INVALID_VALUE;
    if (!problem) *properties = chunk->properties;
    return driver_leave(problem);
}

/* --- Chunks at addresses ----------------------------------------------------------------------- */

/* What the chunk held before, or zeros, which fresh addresses have. */
static int put_contents(Chunk *chunk, const Reservation *where) {
    WarpPlace place = {chunk->address, 0, 0};
    int problem = CUDA_OK;
    if (chunk->contents)
        problem = warp_copy(place, (WarpPlace){(uint64_t)chunk->contents, 0, 0}, chunk->mapped_bytes, 1, 1);
    else if (where->is_used)
        problem = warp_fill(place, 0, 1, chunk->mapped_bytes, 1, 1);
    return problem;
}

static int map(uint64_t address, uint64_t bytes, Chunk *chunk) {
    Reservation **where = reservation_at(address, bytes);
    if (!where || !chunk || !is_granular(bytes) || address % GRANULARITY || bytes > chunk->bytes ||
        chunk_at(address, bytes))
        return CUDA_INVALID_VALUE;
    if (chunk->mapped_bytes) {
        warp_name_missing_inside("memory that cuMemMap() maps twice");
        return CUDA_NOT_SUPPORTED;
    }
    chunk->address = address;
    chunk->mapped_bytes = bytes;
    chunk->access = 0;
    warp_add_chunk(address, bytes);
    return put_contents(chunk, *where);
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, uint64_t handle,
                  unsigned long long flags) {
    int problem = driver_enter();
    if (!problem && (offset || flags)) problem = CUDA_INVALID_VALUE;
    if (!problem) problem = map(address, bytes, chunk_of(handle));
    return driver_leave(problem);
}

static int keep_contents(Chunk *chunk) {
    if (!chunk->contents) chunk->contents = calloc(1, chunk->bytes);
    if (!chunk->contents) return CUDA_MEMORY_ALLOCATION;
    return warp_copy((WarpPlace){(uint64_t)chunk->contents, 0, 0}, (WarpPlace){chunk->address, 0, 0},
                     chunk->mapped_bytes, 1, 1);
}

static int unmap(uint64_t address, uint64_t bytes) {
    int problem = CUDA_OK;
    if (!is_whole(address, bytes)) return CUDA_INVALID_VALUE;
    (*reservation_at(address, bytes))->is_used = true;
    for (uint64_t done = 0; done < bytes && !problem;) {
        Chunk *chunk = chunk_at(address + done, 1);
        if (chunk->references) problem = keep_contents(chunk);
        warp_remove_chunk(chunk->address);
        done += chunk->mapped_bytes;
        chunk->mapped_bytes = 0;
        if (!chunk->references) end_chunk(chunk);
    }
    return problem;
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
    int problem = driver_enter();
    if (!problem) problem = warp_do_pending();
    if (!problem) problem = unmap(address, bytes);
    return driver_leave(problem);
}

static int set_access(uint64_t address, uint64_t bytes, const AccessOf *list, size_t count) {
    if (!list || !count || !is_whole(address, bytes)) return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (list[i].location.type != LOCATION_DEVICE || list[i].location.id) return CUDA_INVALID_DEVICE;
        if (list[i].flags < 0 || list[i].flags == 2 || list[i].flags > ACCESS_READ_WRITE)
            return CUDA_INVALID_VALUE;
    }
    for (uint64_t done = 0; done < bytes;) {
        Chunk *chunk = chunk_at(address + done, 1);
        chunk->access = list[count - 1].flags;
        done += chunk->mapped_bytes;
    }
    return CUDA_OK;
}

/* Kept, and answered: accesses that it forbids are not faults. */
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const AccessOf *list, size_t count) {
    int problem = driver_enter();
    if (!problem) problem = set_access(address, bytes, list, count);
    return driver_leave(problem);
}

CUresult cuMemGetAccess(unsigned long long *flags, const Location *location, CUdeviceptr address) {
    int problem = driver_enter();
    const Chunk *chunk = problem ? NULL : chunk_at(address, 1);
    if (!problem && (!flags || !location || !chunk || location->type != LOCATION_DEVICE || location->id))
        problem = CUDA_INVALID_VALUE;
    if (!problem) *flags = (unsigned long long)chunk->access;
    return driver_leave(problem);
}

void warp_virtual_reset(void) {
    while (reservations) {
        Reservation *ended = reservations;
        reservations = ended->next;
        free(ended);
    }
    for (Chunk *chunk = chunks; chunk; chunk = chunk->next)
        if (chunk->references) warp_handle_remove(chunk);
    while (chunks)
        end_chunk(chunks);
}
