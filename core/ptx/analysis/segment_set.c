#include "core/ptx/analysis/segment_set.h"

#include "core/ptx/analysis/steps.h"

static uint32_t new_node(SegmentPool *pool, LiveSegment segment) {
    pool->nodes = arena_grow(pool->arena, pool->nodes, sizeof *pool->nodes, pool->count, &pool->capacity);
    if (pool->count == 0) return pool->count++, new_node(pool, segment); /* number 0 stays empty */
    pool->nodes[pool->count] = (SegmentNode){segment, (uint32_t)random_next(&pool->random), 0, 0};
    return pool->count++;
}

void segments_add(SegmentPool *pool, SegmentSet *set, LiveSegment segment) {
    uint32_t added = new_node(pool, segment), *link = set;
    SegmentNode *nodes = pool->nodes, *node = &nodes[added];
    for (; *link && nodes[*link].priority >= node->priority; ptx_steps++)
        link = segment.start < nodes[*link].segment.start ? &nodes[*link].left : &nodes[*link].right;
    /* What hung here is parted: what lies before the new segment, and what lies behind it. */
    uint32_t rest = *link, *before = &node->left, *behind = &node->right;
    *link = added;
    for (; rest; ptx_steps++) {
        bool is_before = nodes[rest].segment.start < segment.start;
        uint32_t **side = is_before ? &before : &behind;
        **side = rest;
        *side = is_before ? &nodes[rest].right : &nodes[rest].left;
        rest = **side;
    }
    *before = *behind = 0;
}

const LiveSegment *segments_from(const SegmentPool *pool, SegmentSet set, uint32_t position) {
    const LiveSegment *found = NULL;
    for (uint32_t at = set; at; ptx_steps++) {
        const SegmentNode *node = &pool->nodes[at];
        bool reaches = node->segment.end >= position;
        if (reaches) found = &node->segment;
        at = reaches ? node->left : node->right;
    }
    return found;
}

bool segments_overlap(const SegmentPool *pool, SegmentSet *set, const LiveSegment *wanted, uint32_t count) {
    for (uint32_t i = 0; *set && i < count; i++) {
        const LiveSegment *next = segments_from(pool, *set, wanted[i].start);
        if (!next && i == 0) *set = 0;
        if (!next) return false;
        if (next->start <= wanted[i].end) return true;
    }
    return false;
}
