/* What policies may call on every cache: rows for a class's table of methods. */
#ifndef WW_MEM_CACHE_METHODS_H
#define WW_MEM_CACHE_METHODS_H

#include "core/sim/method.h"
#include "mem/cache/cache.h"
#include "mem/protocol/class_table.h"

void cache_call_set_depth(SimObject *object, MethodCall *call);
void cache_call_set_keep(SimObject *object, MethodCall *call);
void cache_call_set_ways(SimObject *object, MethodCall *call);
/* The view of a line. */
void cache_call_sets(SimObject *object, MethodCall *call);
/* For the class, which knows the index: of an address that comes to this cache. */
void cache_call_set_of(SimObject *object, MethodCall *call, CacheIndex *index);
void cache_call_find(SimObject *object, MethodCall *call, CacheIndex *index);
void cache_call_line_sectors(SimObject *object, MethodCall *call);
void cache_call_line_valid(SimObject *object, MethodCall *call);
void cache_call_line_dirty(SimObject *object, MethodCall *call);
void cache_call_line_address(SimObject *object, MethodCall *call);
void cache_call_line_owner(SimObject *object, MethodCall *call);
void cache_call_line_class(SimObject *object, MethodCall *call);
void cache_call_line_pc(SimObject *object, MethodCall *call);
void cache_call_line_uses(SimObject *object, MethodCall *call);
/* Cleaning. */
void cache_call_dirty_ways(SimObject *object, MethodCall *call);
void cache_call_first_to_go(SimObject *object, MethodCall *call);
void cache_call_clean(SimObject *object, MethodCall *call);

#define SET_NUMBER WHOLE_NUMBER("set", .max = (1 << 24) - 1)
#define SET_AND_WAY                                                                                          \
    TAKES(SET_NUMBER, {.kind = VALUE_WHOLE,                                                                  \
                       .name = "way",                                                                        \
                       .below = "ways",                                                                      \
                       .below_at = offsetof(CacheObject, cache.tags.shape.ways)})
#define LINE_METHOD(n, f, d, ...) METHOD(n, f, d, SET_AND_WAY, RETURNS(__VA_ARGS__), MAY_BE_NIL)

#define ADDRESS WHOLE_NUMBER("address", .max = (1ll << MAX_ADDRESS_BITS) - 1)
/* METHODS_BY_ADDRESS(the class's set_of, its find) */
#define METHODS_BY_ADDRESS(s, f)                                                                             \
    METHOD("set_of", s, "The set of the address; nil: it does not come to this cache", TAKES(ADDRESS),       \
           RETURNS(WHOLE_NUMBER("set")), MAY_BE_NIL),                                                        \
        METHOD("find", f, "Where the line of the address is, also one in flight; nil: it has no way",        \
               TAKES(ADDRESS), RETURNS(WHOLE_NUMBER("set"), WHOLE_NUMBER("way")), MAY_BE_NIL)

#define CACHE_METHODS                                                                                        \
    METHOD("set_depth", cache_call_set_depth,                                                                \
           "Lines of the class enter so many places below the most recently used",                           \
           TAKES(WHOLE_NUMBER("class", .max = CLASSES - 1), WHOLE_NUMBER("places", .max = UINT8_MAX))),      \
        METHOD("set_keep", cache_call_set_keep, "Lines of classes with a lower rank are replaced first",     \
               TAKES(WHOLE_NUMBER("class", .max = CLASSES - 1), WHOLE_NUMBER("rank", .max = UINT8_MAX))),    \
        METHOD("set_ways", cache_call_set_ways,                                                              \
               "Class or SM `number`, as partition_by says, takes lines in these ways from now on",          \
               TAKES(WHOLE_NUMBER("number", .max = UINT16_MAX), SET_OF("ways", "ways"))),                    \
        METHOD("sets", cache_call_sets, "How many sets, and ways of each",                                   \
               RETURNS(WHOLE_NUMBER("sets"), WHOLE_NUMBER("ways"))),                                         \
        METHOD("line_valid", cache_call_line_valid, "Has this way of the set a line with data?",             \
               SET_AND_WAY, RETURNS(FLAG_VALUE("valid"))),                                                   \
        METHOD("line_dirty", cache_call_line_dirty, "Must it be written back?", SET_AND_WAY,                 \
               RETURNS(FLAG_VALUE("dirty"))),                                                                \
        LINE_METHOD("line_sectors", cache_call_line_sectors,                                                 \
                    "Sectors of the line, bit 0 the first, that are there, in flight, and to be "            \
                    "written back; nil: the way is free",                                                    \
                    SET_OF("sectors", "valid"), SET_OF("sectors", "in_flight"), SET_OF("sectors", "dirty")), \
        LINE_METHOD("line_address", cache_call_line_address,                                                 \
                    "Address of the line, also of one in flight; nil: the way is free",                      \
                    WHOLE_NUMBER("address")),                                                                \
        LINE_METHOD("line_owner", cache_call_line_owner, "The warp that had the line brought; nil: none",    \
                    WHOLE_NUMBER("sm"), WHOLE_NUMBER("warp")),                                               \
        LINE_METHOD("line_class", cache_call_line_class, "Class of the line; nil: the way is free",          \
                    WHOLE_NUMBER("class")),                                                                  \
        LINE_METHOD(                                                                                         \
            "line_pc", cache_call_line_pc,                                                                   \
            "PC of the request that took the line, where line_history is true; nil: the way is free",        \
            WHOLE_NUMBER("pc")),                                                                             \
        LINE_METHOD(                                                                                         \
            "line_uses", cache_call_line_uses,                                                               \
            "Hits and merges of the line since then, where line_history is true; nil: the way is free",      \
            WHOLE_NUMBER("uses")),                                                                           \
        METHOD("dirty_ways", cache_call_dirty_ways,                                                          \
               "Ways of the set whose lines must be written back and have no sector in flight",              \
               TAKES(SET_NUMBER), RETURNS(SET_OF("ways", "ways"))),                                          \
        METHOD("first_to_go", cache_call_first_to_go,                                                        \
               "Of these ways of the set the one whose line would be replaced first; nil: none has a line "  \
               "without a sector in flight",                                                                 \
               TAKES(SET_NUMBER, SET_OF("ways", "ways")), RETURNS(WHOLE_NUMBER("way")), MAY_BE_NIL),         \
        METHOD("clean", cache_call_clean,                                                                    \
               "Writes the line back as its replacement in this cycle would, and keeps it; false: it is "    \
               "not among dirty_ways, or the miss queue has no room. Not in a question",                     \
               SET_AND_WAY, RETURNS(FLAG_VALUE("cleaned")))

#endif
