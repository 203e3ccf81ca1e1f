#include "core/cuda/runtime/handles.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct {
    const void *handle; /* NULL: free */
    HandleKind kind;
} Slot;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static Slot *slots; /* open addressing, a power of two, at most half full */
static size_t count, capacity;

static size_t place_of(const void *handle) {
    return (size_t)((uintptr_t)handle * 0x9e3779b97f4a7c15ull >> 20) & (capacity - 1);
}

static size_t next_place(size_t at) {
    return (at + 1) & (capacity - 1);
}

/* Where it is, or where it would be. */
static Slot *slot_of(const void *handle) {
    size_t at = place_of(handle);
    while (slots[at].handle && slots[at].handle != handle)
        at = next_place(at);
    return &slots[at];
}

static void grow(void) {
    Slot *before = slots;
    size_t old_capacity = capacity;
    capacity = capacity ? 2 * capacity : 256;
    slots = calloc(capacity, sizeof *slots);
    if (!slots) abort();
    for (size_t i = 0; i < old_capacity; i++)
        if (before[i].handle) *slot_of(before[i].handle) = before[i];
    free(before);
}

void warp_handle_add(const void *handle, HandleKind kind) {
    pthread_mutex_lock(&guard);
    if (2 * (count + 1) > capacity) grow();
    Slot *slot = slot_of(handle);
    if (!slot->handle) count++;
    *slot = (Slot){handle, kind};
    pthread_mutex_unlock(&guard);
}

/* Those behind the hole that are not where they belong are put there anew: no search may end before them. */
static void clear(Slot *slot) {
    size_t at = (size_t)(slot - slots);
    *slot = (Slot){0};
    count--;
    for (at = next_place(at); slots[at].handle; at = next_place(at)) {
        Slot moved = slots[at];
        slots[at] = (Slot){0};
        *slot_of(moved.handle) = moved;
    }
}

void warp_handle_remove(const void *handle) {
    pthread_mutex_lock(&guard);
    Slot *slot = capacity ? slot_of(handle) : NULL;
    if (slot && slot->handle) clear(slot);
    pthread_mutex_unlock(&guard);
}

void *warp_handle(const void *handle, HandleKind kind) {
    if (!handle) return NULL;
    pthread_mutex_lock(&guard);
    bool is_known = capacity && slot_of(handle)->kind == kind;
    pthread_mutex_unlock(&guard);
    return is_known ? (void *)(uintptr_t)handle : NULL;
}

void warp_handles_free(HandleKind kind) {
    pthread_mutex_lock(&guard);
    for (size_t i = 0; i < capacity;) {
        void *handle = (void *)(uintptr_t)slots[i].handle;
        bool is_of_kind = handle && slots[i].kind == kind;
        if (is_of_kind) clear(&slots[i]); /* another may stand there now */
        if (is_of_kind)
            free(handle);
        else
            i++;
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
