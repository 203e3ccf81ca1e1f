#include "mem/protocol/class_table.h"

#include <stdlib.h>

void class_table_read(ClassTable *table, const SimObject *object, const char *parameter, const char *text,
                      uint32_t max) {
    uint32_t class_number = 0;
    for (const char *at = text; *at; class_number++) {
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        bool number = end != at && *at >= '0' && *at <= '9';
        if (!number || (*end && (*end != ',' || !end[1])) || value > max || class_number == CLASSES)
            user_error("%s.%s: expected up to %d whole numbers from 0 to %u, one for each class (\"0,1,1\"), "
                       "got '%s'",
                       object_path(object), parameter, CLASSES, max, text);
        table->of[class_number] = (uint8_t)value;
        at = *end ? end + 1 : end;
    }
}
