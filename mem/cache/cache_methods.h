/* What policies may call on every cache: rows for a class's table of methods. */
#ifndef WW_MEM_CACHE_METHODS_H
#define WW_MEM_CACHE_METHODS_H

#include "core/sim/method.h"
#include "mem/protocol/class_table.h"

void cache_call_set_depth(SimObject *object, MethodCall *call);
void cache_call_set_keep(SimObject *object, MethodCall *call);

#define CACHE_METHODS                                                                                        \
    METHOD("set_depth", cache_call_set_depth,                                                                \
           "Lines of the class enter so many places below the most recently used",                           \
           TAKES(WHOLE_NUMBER("class", .max = CLASSES - 1), WHOLE_NUMBER("places", .max = UINT8_MAX))),      \
        METHOD("set_keep", cache_call_set_keep, "Lines of classes with a lower rank are replaced first",     \
               TAKES(WHOLE_NUMBER("class", .max = CLASSES - 1), WHOLE_NUMBER("rank", .max = UINT8_MAX)))

#endif
