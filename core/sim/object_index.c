#include "core/sim/object_index.h"

#include "core/sim/base/host_memory.h"
#include "core/sim/checkpoint/buffer.h"
#include "core/sim/object.h"

enum { PLACES_AT_FIRST = 64 };

/* Where it is, or where it would be put. */
static uint32_t place_of(const ObjectIndex *index, const char *path, size_t length) {
    uint32_t place = (uint32_t)hash_bytes(0, path, length);
    for (;; place++) {
        const SimObject *there = index->place[place &= index->places - 1];
        if (!there || (strncmp(there->path, path, length) == 0 && !there->path[length])) return place;
    }
}

static void grow(ObjectIndex *index) {
    ObjectIndex larger = {.places = index->places ? 2 * index->places : PLACES_AT_FIRST};
    larger.place = zeroed(larger.places, sizeof(SimObject *));
    for (uint32_t i = 0; i < index->places; i++)
        if (index->place[i]) object_index_add(&larger, index->place[i]);
    free(index->place);
    *index = larger;
}

void object_index_add(ObjectIndex *index, SimObject *object) {
    if (2 * index->count >= index->places) grow(index);
    index->place[place_of(index, object->path, strlen(object->path))] = object;
    index->count++;
}

SimObject *object_index_find(const ObjectIndex *index, const char *path, size_t length) {
    return index->count ? index->place[place_of(index, path, length)] : NULL;
}

void object_index_free(ObjectIndex *index) {
    free(index->place);
}
