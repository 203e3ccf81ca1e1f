#include "mem/cache/cache_methods.h"

#include "mem/protocol/caches.h"

void cache_call_set_depth(SimObject *object, MethodCall *call) {
    cache_set_depth(object, (uint32_t)call->argument[0].whole, (uint32_t)call->argument[1].whole);
}

void cache_call_set_keep(SimObject *object, MethodCall *call) {
    cache_set_keep(object, (uint32_t)call->argument[0].whole, (uint32_t)call->argument[1].whole);
}
