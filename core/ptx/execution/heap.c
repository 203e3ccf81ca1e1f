/* The device's heap: blocks side by side, each with a header. It can be damaged by kernels: headers that make
 * no sense end a search. */
#include "core/ptx/execution/system.h"

#define HEAP_MARK 0x7770686561703031ull

enum { HEADER = 16, USED = 1 };

typedef struct {
    MemoryView *view;
    uint64_t first, end; /* of the blocks */
    uint64_t rover;      /* address of the word that says where the next search begins */
} Heap;

static uint64_t read(const Heap *heap, uint64_t address) {
    uint64_t value = 0;
    view_load(heap->view, address, 8, &value);
    return value;
}

static void write(const Heap *heap, uint64_t address, uint64_t value) {
    view_store(heap->view, address, 8, value);
}

static void write_header(const Heap *heap, uint64_t block, uint64_t bytes, uint64_t used) {
    write(heap, block, bytes | used);
    write(heap, block + 8, HEAP_MARK ^ block);
}

/* Bytes of the block, header included; 0: there is none. */
static uint64_t block_bytes(const Heap *heap, uint64_t block) {
    if (block < heap->first || block >= heap->end || block % HEADER) return 0;
    uint64_t bytes = read(heap, block) & ~(uint64_t)(HEADER - 1);
    bool sound = read(heap, block + 8) == (HEAP_MARK ^ block) && bytes >= HEADER &&
                 bytes <= heap->end - block;
    return sound ? bytes : 0;
}

static bool is_used(const Heap *heap, uint64_t block) {
    return read(heap, block) & USED;
}

static Heap heap_at(MemoryView *view, uint64_t start, uint64_t bytes) {
    Heap heap = {view, start + HEADER, start + bytes / HEADER * HEADER, start};
    if (bytes >= 4 * HEADER && !read(&heap, heap.rover)) {
        write(&heap, heap.rover, heap.first);
        write_header(&heap, heap.first, heap.end - heap.first, 0);
    }
    return heap;
}

/* A free block with the free ones behind it. */
static uint64_t joined(const Heap *heap, uint64_t block, uint64_t bytes) {
    uint64_t all = bytes;
    while (block + all < heap->end) {
        uint64_t more = block_bytes(heap, block + all);
        if (!more || is_used(heap, block + all)) break;
        write(heap, block + all + 8, 0); /* nobody takes it for a header any more */
        all += more;
    }
    if (all != bytes) write_header(heap, block, all, 0);
    return all;
}

static void take(const Heap *heap, uint64_t block, uint64_t bytes, uint64_t wanted) {
    uint64_t left = bytes - wanted;
    if (left > HEADER) write_header(heap, block + wanted, left, 0);
    write_header(heap, block, left > HEADER ? wanted : bytes, USED);
    uint64_t next = block + (left > HEADER ? wanted : bytes);
    write(heap, heap->rover, next < heap->end ? next : heap->first);
}

/* The first free block from `block` to below `end` that is large enough; 0. */
static uint64_t find(const Heap *heap, uint64_t block, uint64_t end, uint64_t wanted) {
    while (block < end) {
        uint64_t bytes = block_bytes(heap, block);
        if (!bytes) return 0;
        if (!is_used(heap, block)) {
            bytes = joined(heap, block, bytes);
            if (bytes >= wanted) {
                take(heap, block, bytes, wanted);
                return block + HEADER;
            }
        }
        block += bytes;
    }
    return 0;
}

uint64_t heap_alloc(MemoryView *view, uint64_t start, uint64_t bytes, uint64_t wanted) {
    if (!start || !wanted || wanted > bytes) return 0;
    Heap heap = heap_at(view, start, bytes);
    uint64_t block = read(&heap, heap.rover);
    wanted = (wanted + HEADER - 1) / HEADER * HEADER + HEADER;
    if (!block_bytes(&heap, block)) block = heap.first; /* it was joined to the one before */
    uint64_t found = find(&heap, block, heap.end, wanted);
    return found ? found : find(&heap, heap.first, heap.end, wanted);
}

void heap_free(MemoryView *view, uint64_t start, uint64_t bytes, uint64_t address) {
    if (!start || address < start + 2 * HEADER) return;
    Heap heap = heap_at(view, start, bytes);
    uint64_t block = address - HEADER, size = block_bytes(&heap, block);
    if (size && is_used(&heap, block)) write_header(&heap, block, size, 0);
}
