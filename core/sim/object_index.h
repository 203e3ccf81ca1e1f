/* The objects of a machine by their paths: a machine with hundreds of SMs is built, and looked at by its configuration and
 * policies, by name. */
#ifndef WW_SIM_OBJECT_INDEX_H
#define WW_SIM_OBJECT_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct SimObject;

typedef struct {
    struct SimObject **place; /* by hash of the path; NULL: free */
    uint32_t places, count;   /* places: 0, or a power of two    */
} ObjectIndex;

/* Its path must be new. */
void object_index_add(ObjectIndex *index, struct SimObject *object);
/* The object whose path is these characters, or NULL. */
struct SimObject *object_index_find(const ObjectIndex *index, const char *path, size_t length);
void object_index_free(ObjectIndex *index);

#endif
