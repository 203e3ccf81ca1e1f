/* Parts that policies compose into a machine stand below the object that feeds them. */
#ifndef WW_MEM_PART_H
#define WW_MEM_PART_H

#include "core/sim/sim.h"

/* The part of this class below the object, or NULL. */
static inline SimObject *part_of(const SimObject *object, const Class *class) {
    const Sim *sim = object->sim;
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->parent == object && sim->objects[i]->class == class) return sim->objects[i];
    return NULL;
}

/* For parts that do nothing but be called. */
static inline uint64_t part_sleeps(SimObject *object, uint64_t now) {
    (void)object, (void)now;
    return NEVER;
}

#endif
