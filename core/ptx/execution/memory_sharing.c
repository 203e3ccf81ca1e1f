/* A device memory that other processes map, and one that is parted from them for a while. */
#include "core/ptx/execution/memory_state.h"

#include "core/sim/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int device_memory_share(DeviceMemory *memory) {
    ensure(memory->live_count == 0 && memory->shared < 0);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes = (memory->capacity + page - 1) / page * page;
    int file = memfd_create("device memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0 ||
        fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0 ||
        mmap(memory->host, memory->capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             file, 0) == MAP_FAILED)
        user_error("memory: cannot share a device memory of %lu B: %s", memory->capacity, strerror(errno));
    return memory->shared = file;
}

/* Where the data, or the hole, of the file at a byte ends, `end` at most. Nothing may read a hole through a mapping: that
 * would fill it with pages. */
static uint64_t end_of_extent(int file, uint64_t at, uint64_t end, bool *is_data) {
    off_t data = lseek(file, (off_t)at, SEEK_DATA);
    *is_data = data == (off_t)at;
    off_t next = *is_data ? lseek(file, (off_t)at, SEEK_HOLE) : data;
    return next < 0 || (uint64_t)next > end ? end : (uint64_t)next;
}

static void copy_extent(const DeviceMemory *memory, uint64_t at, uint64_t end, bool is_data) {
    if (is_data) memcpy(memory->host + at, memory->parted + at, end - at);
}

/* What differs; most pages do not. */
static void show_extent(const DeviceMemory *memory, uint64_t at, uint64_t end, bool is_data) {
    static const uint8_t zeros[PAGE];
    for (uint64_t next; at < end; at = next) {
        next = (at / PAGE + 1) * PAGE;
        if (next > end) next = end;
        const uint8_t *before = is_data ? memory->parted + at : zeros;
        if (memcmp(before, memory->host + at, next - at) != 0)
            memcpy(memory->parted + at, memory->host + at, next - at);
    }
}

static void for_extents(const DeviceMemory *memory,
                        void (*call)(const DeviceMemory *, uint64_t at, uint64_t end, bool is_data)) {
    size_t index = 0;
    for (Allocation range = {0, 0}; memory_next_within_bounds(memory, &index, &range);) {
        uint64_t end = range.end - DEVICE_MEMORY_BASE, next;
        bool is_data;
        for (uint64_t at = range.start - DEVICE_MEMORY_BASE; at < end; at = next) {
            next = end_of_extent(memory->shared, at, end, &is_data);
            call(memory, at, next, is_data);
        }
    }
}

static void put_in_place(const DeviceMemory *memory, uint8_t *bytes) {
    if (mremap(bytes, memory->capacity, memory->capacity, MREMAP_MAYMOVE | MREMAP_FIXED, memory->host) ==
        MAP_FAILED)
        panic("device memory: cannot be moved: %s", strerror(errno));
}

void device_memory_part(DeviceMemory *memory) {
    if (memory->shared < 0 || memory->parted) return;
    void *others = mmap(NULL, memory->capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                        memory->shared, 0);
    if (others == MAP_FAILED)
        user_error("memory: cannot share a device memory of %lu B: %s", memory->capacity, strerror(errno));
    memory->parted = others;
    put_in_place(memory, memory_reserve(memory->capacity));
    for_extents(memory, copy_extent);
}

void device_memory_rejoin(DeviceMemory *memory) {
    if (!memory->parted) return;
    for_extents(memory, show_extent);
    put_in_place(memory, memory->parted);
    memory->parted = NULL;
}
