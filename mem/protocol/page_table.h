/* Where pages lie: in which channel, and in which frame of it. A hash table; pages are added one by one and stay. Plain data. */
#ifndef WW_MEM_PAGE_TABLE_H
#define WW_MEM_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t tag; /* 1 + number of the page; 0: none */
    uint32_t channel, frame;
} Page;

typedef struct {
    Page *slot;               /* slots: a power of two, half of them free; the first free one ends a search */
    uint32_t *frames;         /* per channel: so many have a page                                           */
    uint32_t slots, channels; /* both 0: there are no pages */
    uint64_t used;
} PageTable;

enum { PAGE_SLOTS_AT_FIRST = 1024 };

/* NULL: it lies nowhere yet. */
const Page *page_table_find(const PageTable *table, uint64_t number);
/* Gives a page that is not there the next frame of the channel. */
void page_table_add(PageTable *table, uint64_t number, uint32_t channel);
/* Could it have been made by the above? */
bool page_table_is_sound(const PageTable *table);

#endif
