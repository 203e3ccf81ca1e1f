#include "core/cuda/runtime/pointer_table.h"

#include <stdint.h>
#include <stdlib.h>

static size_t place_of(const PointerTable *table, const void *key) {
    return (size_t)((uintptr_t)key * 0x9e3779b97f4a7c15ull >> 20) & (table->capacity - 1);
}

static size_t next_place(const PointerTable *table, size_t at) {
    return (at + 1) & (table->capacity - 1);
}

/* Where it is, or where it would be. */
static PointerSlot *slot_of(const PointerTable *table, const void *key) {
    size_t at = place_of(table, key);
    while (table->slots[at].key && table->slots[at].key != key)
        at = next_place(table, at);
    return &table->slots[at];
}

static void grow(PointerTable *table) {
    const PointerTable before = *table;
    table->capacity = before.capacity ? 2 * before.capacity : 256;
    table->slots = calloc(table->capacity, sizeof *table->slots);
    if (!table->slots) abort();
    for (size_t i = 0; i < before.capacity; i++)
        if (before.slots[i].key) *slot_of(table, before.slots[i].key) = before.slots[i];
    free(before.slots);
}

void pointer_table_put(PointerTable *table, const void *key, void *value) {
    if (2 * (table->count + 1) > table->capacity) grow(table);
    PointerSlot *slot = slot_of(table, key);
    table->count += !slot->key;
    *slot = (PointerSlot){key, value};
}

void *pointer_table_get(const PointerTable *table, const void *key) {
    return table->capacity ? slot_of(table, key)->value : NULL;
}

/* Those behind the hole that are not where they belong are put there anew: no search may end before them. */
void pointer_table_clear(PointerTable *table, size_t at) {
    table->slots[at] = (PointerSlot){0};
    table->count--;
    for (at = next_place(table, at); table->slots[at].key; at = next_place(table, at)) {
        PointerSlot moved = table->slots[at];
        table->slots[at] = (PointerSlot){0};
        *slot_of(table, moved.key) = moved;
    }
}

void pointer_table_remove(PointerTable *table, const void *key) {
    PointerSlot *slot = table->capacity ? slot_of(table, key) : NULL;
    if (slot && slot->key) pointer_table_clear(table, (size_t)(slot - table->slots));
}
