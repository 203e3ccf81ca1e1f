/* The handles that programs hold: pointers to what the library has made and not ended yet. A program may give any
 * number as a handle, so nothing is read at one before it is found here. At all times: the table has a lock of its own,
 * and calls nothing. */
#ifndef WW_CUDA_HANDLES_H
#define WW_CUDA_HANDLES_H

#include <stdbool.h>

typedef enum {
    HANDLE_NONE,
    HANDLE_STREAM,
    HANDLE_EVENT,
    HANDLE_GRAPH,
    HANDLE_NODE,
    HANDLE_EXEC,
    HANDLE_POOL,
    HANDLE_MODULE,
    HANDLE_FUNCTION,
    HANDLE_LINK,
    HANDLE_ARRAY,
    HANDLE_CONTEXT,
    HANDLE_CHUNK,
    HANDLE_REFERENCE,
} HandleKind;

void warp_handle_add(const void *handle, HandleKind kind);
void warp_handle_remove(const void *handle);
/* The handle, if it is one of this kind; otherwise NULL. */
void *warp_handle(const void *handle, HandleKind kind);
/* Removes all of a kind, and frees what they point to, and before that what `end`, unless it is NULL, frees of each. */
void warp_handles_free(HandleKind kind, void (*end)(void *handle));

#endif
