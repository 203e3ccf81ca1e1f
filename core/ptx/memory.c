#include "core/ptx/memory.h"

#include "core/sim/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GRANULE 256ull

typedef struct {
    uint64_t start, end;
} Allocation;

struct DeviceMemory {
    uint8_t *host; /* of DEVICE_MEMORY_BASE */
    uint64_t capacity;
    Allocation *live; /* in address order */
    size_t live_count, live_capacity;
    uint64_t bytes_live, bytes_peak;
    MemoryView **views;
    size_t view_count, view_capacity;
};

static void *grow(void *array, size_t *capacity, size_t element_bytes) {
    *capacity = *capacity ? *capacity * 2 : 64;
    array = realloc(array, *capacity * element_bytes);
    if (!array) panic("out of memory");
    return array;
}

DeviceMemory *device_memory_new(uint64_t capacity) {
    DeviceMemory *memory = calloc(1, sizeof *memory);
    if (!memory) panic("out of memory");
    memory->capacity = capacity / GRANULE * GRANULE;
    ensure(memory->capacity > 0);
    memory->host = mmap(NULL, memory->capacity, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory->host == MAP_FAILED) {
        user_error("device memory: cannot reserve %llu bytes of address space; choose a smaller capacity",
                   (unsigned long long)memory->capacity);
    }
    return memory;
}

void device_memory_free(DeviceMemory *memory) {
    ensure(memory->view_count == 0);
    munmap(memory->host, memory->capacity);
    free(memory->live);
    free(memory->views);
    free(memory);
}

static uint8_t *host_bytes(const DeviceMemory *memory, uint64_t address) {
    return memory->host + (address - DEVICE_MEMORY_BASE);
}

/* The index of the first live allocation that starts beyond `address`. */
static size_t first_beyond(const DeviceMemory *memory, uint64_t address) {
    size_t low = 0, high = memory->live_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->live[middle].start > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

static const Allocation *allocation_of(const DeviceMemory *memory, uint64_t address, uint64_t bytes) {
    size_t beyond = first_beyond(memory, address);
    if (beyond == 0) return NULL;
    const Allocation *candidate = &memory->live[beyond - 1];
    return address < candidate->end && bytes <= candidate->end - address ? candidate : NULL;
}

uint64_t device_alloc(DeviceMemory *memory, uint64_t bytes) {
    if (bytes > memory->capacity) return 0;
    uint64_t size = bytes ? (bytes + GRANULE - 1) / GRANULE * GRANULE : GRANULE;
    uint64_t start = DEVICE_MEMORY_BASE;
    size_t index = 0;
    while (index < memory->live_count && memory->live[index].start - start < size)
        start = memory->live[index++].end;
    if (DEVICE_MEMORY_BASE + memory->capacity - start < size) return 0;
    if (memory->live_count == memory->live_capacity) {
        memory->live = grow(memory->live, &memory->live_capacity, sizeof *memory->live);
    }
    memmove(&memory->live[index + 1], &memory->live[index],
            (memory->live_count - index) * sizeof *memory->live);
    memory->live[index] = (Allocation){start, start + size};
    memory->live_count++;
    memory->bytes_live += size;
    if (memory->bytes_live > memory->bytes_peak) memory->bytes_peak = memory->bytes_live;
    return start;
}

/* Free memory is always zero. Whole pages go back to the host, which hands them out zeroed again. */
static void clear(DeviceMemory *memory, uint64_t start, uint64_t end) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = (start - DEVICE_MEMORY_BASE + page - 1) / page * page,
             last = (end - DEVICE_MEMORY_BASE) / page * page;
    if (first >= last) {
        memset(host_bytes(memory, start), 0, end - start);
        return;
    }
    memset(host_bytes(memory, start), 0, first + DEVICE_MEMORY_BASE - start);
    memset(memory->host + last, 0, end - DEVICE_MEMORY_BASE - last);
    if (madvise(memory->host + first, last - first, MADV_DONTNEED) != 0)
        memset(memory->host + first, 0, last - first);
}

bool device_release(DeviceMemory *memory, uint64_t address) {
    size_t beyond = first_beyond(memory, address);
    if (beyond == 0 || memory->live[beyond - 1].start != address) return false;
    size_t index = beyond - 1;
    Allocation released = memory->live[index];
    clear(memory, released.start, released.end);
    memory->bytes_live -= released.end - released.start;
    memory->live_count--;
    memmove(&memory->live[index], &memory->live[index + 1],
            (memory->live_count - index) * sizeof *memory->live);
    for (size_t view = 0; view < memory->view_count; view++) {
        memory->views[view]->hot_start = memory->views[view]->hot_end = 0;
    }
    return true;
}

bool device_covers(const DeviceMemory *memory, uint64_t address, uint64_t bytes) {
    return allocation_of(memory, address, bytes) != NULL;
}

bool device_nearest(const DeviceMemory *memory, uint64_t address, uint64_t *start, uint64_t *end) {
    if (memory->live_count == 0) return false;
    size_t index = first_beyond(memory, address);
    if (index == memory->live_count) {
        index--;
    } else if (index > 0) {
        const Allocation *below = &memory->live[index - 1];
        bool below_is_nearer = address < below->end ||
                               address - below->end < memory->live[index].start - address;
        if (below_is_nearer) index--;
    }
    *start = memory->live[index].start;
    *end = memory->live[index].end;
    return true;
}

uint64_t device_bytes_live(const DeviceMemory *memory) {
    return memory->bytes_live;
}
uint64_t device_bytes_peak(const DeviceMemory *memory) {
    return memory->bytes_peak;
}

void device_write(DeviceMemory *memory, uint64_t address, const void *bytes, uint64_t count) {
    if (count == 0) return;
    ensure(device_covers(memory, address, count));
    memcpy(host_bytes(memory, address), bytes, count);
}

void device_read(const DeviceMemory *memory, uint64_t address, void *bytes, uint64_t count) {
    if (count == 0) return;
    ensure(device_covers(memory, address, count));
    memcpy(bytes, host_bytes(memory, address), count);
}

void device_fill(DeviceMemory *memory, uint64_t address, uint8_t byte, uint64_t count) {
    if (count == 0) return;
    ensure(device_covers(memory, address, count));
    memset(host_bytes(memory, address), byte, count);
}

uint64_t device_digest(const DeviceMemory *memory) {
    uint64_t digest = 0xcbf29ce484222325ull;
    for (size_t index = 0; index < memory->live_count; index++) {
        Allocation block = memory->live[index];
        digest = (digest ^ block.start) * 0x9e3779b97f4a7c15ull;
        digest = (digest ^ block.end) * 0x9e3779b97f4a7c15ull;
        for (uint64_t address = block.start; address < block.end; address += sizeof(uint64_t)) {
            uint64_t word;
            memcpy(&word, host_bytes(memory, address), sizeof word);
            digest = (digest ^ word) * 0x9e3779b97f4a7c15ull;
            digest ^= digest >> 32;
        }
    }
    return digest;
}

void view_init(MemoryView *view, DeviceMemory *memory) {
    *view = (MemoryView){.memory = memory};
    view->base = (uint8_t *)((uintptr_t)memory->host - DEVICE_MEMORY_BASE);
    if (memory->view_count == memory->view_capacity) {
        memory->views = grow(memory->views, &memory->view_capacity, sizeof(MemoryView *));
    }
    memory->views[memory->view_count++] = view;
}

void view_free(MemoryView *view) {
    DeviceMemory *memory = view->memory;
    size_t index = 0;
    while (index < memory->view_count && memory->views[index] != view)
        index++;
    ensure(index < memory->view_count);
    memory->views[index] = memory->views[--memory->view_count];
    free(view->log);
    *view = (MemoryView){0};
}

void view_commit(MemoryView *view) {
    for (uint32_t index = 0; index < view->log_count; index++) {
        const LoggedWrite *write = &view->log[index];
        uint8_t *to = view->base + write->address;
        switch (write->bytes) { /* constant sizes: one store each */
        case 1: memcpy(to, &write->value, 1); break;
        case 2: memcpy(to, &write->value, 2); break;
        case 4: memcpy(to, &write->value, 4); break;
        default: memcpy(to, &write->value, 8); break;
        }
    }
    view->log_count = 0;
    view->signature = 0;
}

bool view_covers(MemoryView *view, uint64_t address, uint64_t bytes) {
    if (address >= view->hot_start && address < view->hot_end && bytes <= view->hot_end - address)
        return true;
    const Allocation *found = allocation_of(view->memory, address, bytes);
    if (!found) return false;
    view->hot_start = found->start;
    view->hot_end = found->end;
    return true;
}

void view_reserve(MemoryView *view, uint32_t count) {
    size_t capacity = view->log_capacity;
    while (view->log_count + (size_t)count > capacity)
        view->log = grow(view->log, &capacity, sizeof *view->log);
    view->log_capacity = (uint32_t)capacity;
}

/* Byte by byte, the newest write that touches a byte decides it. */
static uint64_t overlay_log(const MemoryView *view, uint64_t address, uint32_t bytes, uint64_t value) {
    uint32_t missing = (1u << bytes) - 1;
    for (uint32_t index = view->log_count; index-- > 0 && missing;) {
        const LoggedWrite *write = &view->log[index];
        if (write->address >= address + bytes || address >= write->address + write->bytes) continue;
        for (uint32_t byte = 0; byte < bytes; byte++) {
            uint64_t offset = address + byte - write->address;
            if (!(missing >> byte & 1) || offset >= write->bytes) continue;
            uint64_t logged = write->value >> 8 * offset & 0xff;
            value = (value & ~(0xffull << 8 * byte)) | logged << 8 * byte;
            missing &= ~(1u << byte);
        }
    }
    return value;
}

bool view_load(MemoryView *view, uint64_t address, uint32_t bytes, uint64_t *value) {
    if (!view_covers(view, address, bytes)) return false;
    uint64_t loaded = 0;
    memcpy(&loaded, view->base + address, bytes);
    /* Elements are aligned, but merged writes may straddle two lines: both bits are in the signature. */
    if (view->signature & (view_line_bit(address) | view_line_bit(address + bytes - 1))) {
        loaded = overlay_log(view, address, bytes, loaded);
    }
    *value = loaded;
    return true;
}

bool view_store(MemoryView *view, uint64_t address, uint32_t bytes, uint64_t value) {
    if (!view_covers(view, address, bytes)) return false;
    view_reserve(view, 1);
    view->signature |= view_line_bit(address) | view_line_bit(address + bytes - 1);
    view->log[view->log_count++] = (LoggedWrite){address, value, bytes};
    return true;
}
