/* Small tables by MemMessage.class_number, the number that policies give to requests: what a cache or a
 * memory controller does for each class. */
#ifndef WW_MEM_CLASS_TABLE_H
#define WW_MEM_CLASS_TABLE_H

#include "core/sim/object.h"

/* Class numbers are 0 to CLASSES - 1; 0 unless a policy says otherwise. */
enum { CLASSES = 32 };

typedef struct {
    uint8_t of[CLASSES];
} ClassTable;

/* Reads "1,0,0": the values of classes 0, 1, 2; those left out keep what they have. A text that is none, or a
 * value above `max`, is a user error that names the object's parameter. */
void class_table_read(ClassTable *table, const SimObject *object, const char *parameter, const char *text,
                      uint32_t max);

static inline uint32_t class_value(const ClassTable *table, uint32_t class_number) {
    return table->of[class_number & (CLASSES - 1)];
}
/* Is the class a member of the set, one bit per class? */
static inline bool class_in(uint64_t set, uint32_t class_number) {
    return set >> (class_number & (CLASSES - 1)) & 1;
}

#endif
