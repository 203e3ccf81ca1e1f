/* The device's heap: blocks side by side, each with a header. The free ones are the nodes of a treap, ordered by
 * size and address, so that what a request costs the host hardly depends on how many blocks there are. Kernels can
 * damage it: headers and links that make no sense are as if they were not there. */
#include "core/ptx/execution/system.h"

/* A header is the block's size, with USED, and its mark, with the size of the block before it in units of HEADER
 * bytes. Behind the header, a free block has its links. */
enum { MARK = 8, HEADER = 16, LEFT = 16, RIGHT = 24, USED = 1, ROOT = 8 };

#define LARGEST_HEAP ((uint64_t)HEADER << 32)

typedef struct {
    MemoryView *view;
    uint64_t first, end; /* of the blocks */
    uint64_t root;       /* address of the link to the treap's root */
} Heap;

typedef struct {
    uint64_t start, bytes; /* bytes, header included; 0: there is no block */
    bool is_used;
} Block;

static uint64_t read(const Heap *heap, uint64_t address) {
    uint64_t value = 0;
    view_load(heap->view, address, 8, &value);
    return value;
}

/* At once: reads search the log, which would grow with each request of the quantum. */
static void write(const Heap *heap, uint64_t address, uint64_t value) {
    view_store(heap->view, address, 8, value);
    view_commit(heap->view);
}

static uint64_t mark_of(const Heap *heap, uint64_t start) {
    return (0x77706865 ^ (start - heap->first) / HEADER) << 32;
}

static Block block_at(const Heap *heap, uint64_t start) {
    if (start < heap->first || start >= heap->end || start % HEADER) return (Block){0};
    uint64_t word = read(heap, start), bytes = word & ~(uint64_t)(HEADER - 1);
    bool sound = read(heap, start + MARK) >> 32 == mark_of(heap, start) >> 32 && bytes > HEADER &&
                 bytes <= heap->end - start;
    return sound ? (Block){start, bytes, word & USED} : (Block){0};
}

static Block block_before(const Heap *heap, uint64_t start) {
    uint64_t bytes = (read(heap, start + MARK) & UINT32_MAX) * HEADER;
    Block before = bytes <= start - heap->first ? block_at(heap, start - bytes) : (Block){0};
    return before.bytes == bytes ? before : (Block){0};
}

/* The block behind it is to know its size. */
static void write_header(const Heap *heap, Block block) {
    uint64_t before = read(heap, block.start + MARK) & UINT32_MAX;
    write(heap, block.start, block.bytes | block.is_used);
    write(heap, block.start + MARK, mark_of(heap, block.start) | before);
    if (block.start + block.bytes < heap->end) {
        uint64_t mark = block.start + block.bytes + MARK;
        write(heap, mark, (read(heap, mark) & ~(uint64_t)UINT32_MAX) | block.bytes / HEADER);
    }
}

/* ---- the treap of free blocks ---- */

/* Above its children's. As each address has its own, walks along damaged links end, too. */
static uint64_t priority(Block block) {
    return block.start * 0x9e3779b97f4a7c15ull;
}

static bool is_below(Block a, Block b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.start < b.start;
}

static Block free_block_at(const Heap *heap, uint64_t link) {
    Block block = block_at(heap, read(heap, link));
    return block.is_used ? (Block){0} : block;
}

static Block root_of(const Heap *heap) {
    return free_block_at(heap, heap->root);
}

static Block child_of(const Heap *heap, Block parent, uint64_t side) {
    Block child = free_block_at(heap, parent.start + side);
    return child.bytes && priority(child) < priority(parent) ? child : (Block){0};
}

static void insert(const Heap *heap, Block block) {
    uint64_t link = heap->root, left = block.start + LEFT, right = block.start + RIGHT;
    Block node = root_of(heap);
    while (node.bytes && priority(node) > priority(block)) {
        uint64_t side = is_below(block, node) ? LEFT : RIGHT;
        link = node.start + side;
        node = child_of(heap, node, side);
    }
    write(heap, link, block.start);
    while (node.bytes) { /* the subtree is divided among the two sides of the block */
        uint64_t side = is_below(block, node) ? LEFT : RIGHT;
        uint64_t *end = side == LEFT ? &right : &left;
        write(heap, *end, node.start);
        *end = node.start + side;
        node = child_of(heap, node, side);
    }
    write(heap, left, 0);
    write(heap, right, 0);
}

/* False when it is not in the treap. */
static bool take_out(const Heap *heap, Block block) {
    uint64_t link = heap->root;
    Block node = root_of(heap);
    while (node.bytes && node.start != block.start) {
        uint64_t side = is_below(block, node) ? LEFT : RIGHT;
        link = node.start + side;
        node = child_of(heap, node, side);
    }
    if (!node.bytes) return false;
    Block left = child_of(heap, block, LEFT), right = child_of(heap, block, RIGHT);
    while (left.bytes && right.bytes) {
        bool is_left = priority(left) > priority(right);
        Block *upper = is_left ? &left : &right;
        uint64_t side = is_left ? RIGHT : LEFT;
        write(heap, link, upper->start);
        link = upper->start + side;
        *upper = child_of(heap, *upper, side);
    }
    write(heap, link, left.bytes ? left.start : right.start);
    return true;
}

/* The smallest one that is large enough, the first of those. */
static Block find(const Heap *heap, uint64_t bytes) {
    Block found = {0}, node = root_of(heap);
    while (node.bytes) {
        bool fits = node.bytes >= bytes;
        if (fits) found = node;
        node = child_of(heap, node, fits ? LEFT : RIGHT);
    }
    return found;
}

/* ---- requests ---- */

static Heap heap_at(MemoryView *view, uint64_t start, uint64_t bytes) {
    if (bytes > LARGEST_HEAP) bytes = LARGEST_HEAP;
    Heap heap = {view, start + HEADER, start + bytes / HEADER * HEADER, start + ROOT};
    if (bytes >= 4 * HEADER && !read(&heap, start)) {
        Block all = {heap.first, heap.end - heap.first, false};
        write(&heap, start, 1);
        write_header(&heap, all);
        insert(&heap, all);
    }
    return heap;
}

uint64_t heap_alloc(MemoryView *view, uint64_t start, uint64_t bytes, uint64_t wanted) {
    if (!start || !wanted || wanted > bytes) return 0;
    Heap heap = heap_at(view, start, bytes);
    wanted = (wanted + HEADER - 1) / HEADER * HEADER + HEADER;
    Block block = find(&heap, wanted);
    if (!block.bytes || !take_out(&heap, block)) return 0;
    uint64_t left = block.bytes - wanted;
    if (left > HEADER) {
        Block rest = {block.start + wanted, left, false};
        write_header(&heap, rest);
        insert(&heap, rest);
        block.bytes = wanted;
    }
    block.is_used = true;
    write_header(&heap, block);
    return block.start + HEADER;
}

/* Two blocks side by side; nobody takes the second's header for one any more. */
static Block joined(const Heap *heap, Block first, Block second) {
    write(heap, second.start + MARK, 0);
    return (Block){first.start, first.bytes + second.bytes, false};
}

void heap_free(MemoryView *view, uint64_t start, uint64_t bytes, uint64_t address) {
    if (!start || address < start + 2 * HEADER) return;
    Heap heap = heap_at(view, start, bytes);
    Block block = block_at(&heap, address - HEADER);
    if (!block.is_used) return;
    Block before = block_before(&heap, block.start), behind = block_at(&heap, block.start + block.bytes);
    block.is_used = false;
    if (behind.bytes && !behind.is_used && take_out(&heap, behind)) block = joined(&heap, block, behind);
    if (before.bytes && !before.is_used && take_out(&heap, before)) block = joined(&heap, before, block);
    write_header(&heap, block);
    insert(&heap, block);
}
