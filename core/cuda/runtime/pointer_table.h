/* A table from pointers to pointers: open addressing. All zero is an empty one. Who shares it among threads locks it. */
#ifndef WW_CUDA_POINTER_TABLE_H
#define WW_CUDA_POINTER_TABLE_H

#include <stddef.h>

typedef struct {
    const void *key; /* NULL: free */
    void *value;
} PointerSlot;

typedef struct {
    PointerSlot *slots;
    size_t count, capacity; /* a power of two, at most half full */
} PointerTable;

/* What was there under this key, which is not NULL, is replaced. */
void pointer_table_put(PointerTable *table, const void *key, void *value);
/* NULL: there is none. */
void *pointer_table_get(const PointerTable *table, const void *key);
void pointer_table_remove(PointerTable *table, const void *key);
/* Frees slot number `at`, which is in use. Another may stand there then, one that stood behind it. */
void pointer_table_clear(PointerTable *table, size_t at);

#endif
