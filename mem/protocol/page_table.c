#include "mem/protocol/page_table.h"

#include "core/sim/checkpoint/snapshot.h"

#include <stdlib.h>

static uint32_t first_slot(const PageTable *table, uint64_t tag) {
    return (uint32_t)(tag * 0x9e3779b97f4a7c15ull >> 32) & (table->slots - 1);
}

/* That of the page, or where it would be put. */
static Page *slot_of(const PageTable *table, uint64_t tag) {
    uint32_t at = first_slot(table, tag);
    while (table->slot[at].tag && table->slot[at].tag != tag)
        at = (at + 1) & (table->slots - 1);
    return &table->slot[at];
}

const Page *page_table_find(const PageTable *table, uint64_t number) {
    const Page *page = slot_of(table, number + 1);
    return page->tag ? page : NULL;
}

static void grow(PageTable *table) {
    PageTable before = *table;
    table->slots *= 2;
    table->slot = array_grown(NULL, 0, table->slots, sizeof *table->slot);
    for (uint32_t i = 0; i < before.slots; i++)
        if (before.slot[i].tag) *slot_of(table, before.slot[i].tag) = before.slot[i];
    free(before.slot);
}

void page_table_add(PageTable *table, uint64_t number, uint32_t channel) {
    if (2 * (table->used + 1) > table->slots) grow(table);
    Page *page = slot_of(table, number + 1);
    debug_ensure(!page->tag);
    *page = (Page){number + 1, channel, table->frames[channel]++};
    table->used++;
}

bool page_table_is_sound(const PageTable *table) {
    uint64_t used = 0, frames = 0;
    bool sound = table->slots && (table->slots & (table->slots - 1)) == 0 && 2 * table->used <= table->slots;
    for (uint32_t i = 0; sound && i < table->slots; i++) {
        const Page *page = &table->slot[i];
        if (!page->tag) continue;
        used++;
        if (used > table->used) return false; /* else a search might not end */
        sound = page->channel < table->channels && page->frame < table->frames[page->channel];
    }
    for (uint32_t i = 0; sound && i < table->slots; i++)
        if (table->slot[i].tag) sound = slot_of(table, table->slot[i].tag) == &table->slot[i];
    for (uint32_t i = 0; i < table->channels; i++)
        frames += table->frames[i];
    return sound && used == table->used && frames == used;
}
