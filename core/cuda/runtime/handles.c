#include "core/cuda/runtime/handles.h"

#include "core/cuda/runtime/pointer_table.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static PointerTable kinds; /* by handle: its kind, as a pointer */

void warp_handle_add(const void *handle, HandleKind kind) {
    pthread_mutex_lock(&guard);
    pointer_table_put(&kinds, handle, (void *)(uintptr_t)kind);
    pthread_mutex_unlock(&guard);
}

void warp_handle_remove(const void *handle) {
    pthread_mutex_lock(&guard);
    pointer_table_remove(&kinds, handle);
    pthread_mutex_unlock(&guard);
}

void *warp_handle(const void *handle, HandleKind kind) {
    if (!handle) return NULL;
    pthread_mutex_lock(&guard);
    bool is_known = (uintptr_t)pointer_table_get(&kinds, handle) == kind;
    pthread_mutex_unlock(&guard);
    return is_known ? (void *)(uintptr_t)handle : NULL;
}

void warp_handles_free(HandleKind kind, void (*end)(void *handle)) {
    pthread_mutex_lock(&guard);
    for (size_t i = 0; i < kinds.capacity;) {
        void *handle = (void *)(uintptr_t)kinds.slots[i].key;
        if (handle && (uintptr_t)kinds.slots[i].value == kind) {
            pointer_table_clear(&kinds, i); /* another may stand there now */
            if (end) end(handle);
            free(handle);
        } else {
            i++;
        }
    }
    pthread_mutex_unlock(&guard);
}

/* A child gets a table in which nobody is at work. */
static void lock_for_fork(void) {
    pthread_mutex_lock(&guard);
}
static void unlock_behind_fork(void) {
    pthread_mutex_unlock(&guard);
}
static void __attribute__((constructor)) prepare_for_forks(void) {
    pthread_atfork(lock_for_fork, unlock_behind_fork, unlock_behind_fork);
}
