/* The rows that the classes of caches have in common: events, parameters, state, statistics. */
#ifndef WW_MEM_CACHE_ROWS_H
#define WW_MEM_CACHE_ROWS_H

#include "mem/cache/cache.h"

/* Way -1: the request is in no line. */
#define CACHE_ACCESS_ARGUMENTS "sm, warp, address, pc, write, class, set, way"

/* clang-format off */
#define CACHE_EVENT_ROWS(bypass_question)                                                                                     \
    [CACHE_HIT] = {"hit", CACHE_ACCESS_ARGUMENTS, NULL, "A request found all its sectors"},                \
    [CACHE_MISS] = {"miss", CACHE_ACCESS_ARGUMENTS, NULL,                                                  \
                    "A request found a sector neither there nor in flight; set and way: of the line that it took"},       \
    [CACHE_MERGE] = {"merge", CACHE_ACCESS_ARGUMENTS, NULL, "A request waits for sectors in flight"},      \
    [CACHE_EVICT] = {"evict", "sm, warp, address, class, set, way, dirty, pc, uses", NULL,                                             \
                     "A line was replaced; sm and warp: of the request that had reserved it; class: likewise, or of its last user where insertion_position or retention_priority is set; pc and uses: of the line, as line_pc and line_uses had them, 0 without line_history"},        \
    [CACHE_FILL] = {"fill", "sm, warp, address, hit, set, way, pc, class", NULL,                                                 \
                    "What a warp had fetched has come; hit: the cache below had it"},                        \
    [CACHE_RESERVATION_FAIL] = {"reservation_fail", "sm, warp, address, cause, pc, write, class", NULL,                       \
                                "A request stops at the tags for want of, by cause, 1: a line, 2: an MSHR, " \
                                "3: a place in its line's MSHR, 4: the miss queue"},                         \
    [CACHE_ASK_BYPASS] = {"bypass", "sm, warp, address, pc, class", &yes_or_no, bypass_question},    \
    [CACHE_ASK_VICTIM] = {"victim", "set, ways, lru, sm, warp, address, pc, class", &cache_victim_question,                                                  \
                          "The set is full: which of these ways, a set of bits, shall be replaced by the line of this request? lru: that which the cache would choose. The answer -1: none, and the request passes the cache by, unless it is an atomic"}, \
    [CACHE_ASK_INSERTION] = {"insertion", "set, last, sm, warp, address, pc, write, class, prefetch, gone, dirty, uses", &cache_insertion_question, \
                             "The line of this request enters the set: where, from 0 to last, from which lines go first? With replacement lru: so many places below the most recently used; with srrip and its like: the prediction; with others last is 0. gone: the address of the line that it replaces, -1 for none; dirty, uses: of that line, as evict has them"}, \
    [CACHE_ASK_PROMOTION] = {"promotion", "set, last, at, way, sm, warp, address, pc, write, class", &cache_promotion_question, \
                             "This request hits its line, or merges: where, from 0 to last as for insertion, shall the line stand now? at: where it stood; without an answer it goes to 0"}
/* clang-format on */

#define STREAM_ROWS(T, stream, n, d)                                                                         \
    STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_HIT], n "_hits", "accesses", d " that hit"),     \
        STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_MISS], n "_misses", "accesses",              \
                   d " that missed"),                                                                        \
        STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_MERGE], n "_merges", "accesses",             \
                   d " to sectors in flight"),                                                               \
        STAT_NAMED(T, cache.stats.stream_results[stream][RESULT_BYPASS], n "_bypasses", "accesses",          \
                   d " that bypassed")

#define STALL_ROWS(T, stall, n, d)                                                                           \
    STAT_NAMED(T, cache.stats.stall_events[stall - 1], n "s", "events", "Requests stopped at the tags: " d), \
        STAT_NAMED(T, cache.stats.stall_cycles[stall - 1], n "_cycles", "cycles", "Cycles so stopped")

/* clang-format off */
#define CHOICE_ROW(T, m, n, def, words, d, ...)                                                              \
    {.kind = FIELD_PARAM, .type = TYPE_U32, .name = n, .initial = def, .unit = "choice", .choices = words,   \
     .doc = d, FIELD_AT(T, m), __VA_ARGS__}

#define CACHE_ENABLED_ROW(T)                                                                                 \
    {.kind = FIELD_PARAM, .type = TYPE_U32, .name = "enabled", .initial = "true", .unit = "flag",            \
     .flag = true, .knob = true,                                                                             \
     .doc = "false: everything bypasses, only the tags are kept up to date", FIELD_AT(T, enabled)}

#define CACHE_PARAMETER_ROWS(T)                                                                              \
    PARAM_NAMED(T, cache.parameters.size, "size", REQUIRED, "bytes", "Capacity", .converts = true),          \
    PARAM_NAMED(T, cache.parameters.ways, "ways", REQUIRED, "lines", "Lines per set", .min = 1, .max = 1 << 24, \
                .converts = true),                                                                           \
    PARAM_NAMED(T, cache.parameters.line, "line", "128", "bytes", "Line size: 32, 64 or 128 B"),             \
    PARAM_NAMED(T, cache.parameters.sectors, "sectors", "1", "sectors",                                      \
                "Parts of a line that are fetched alone, at least 32 B each"),                               \
    CHOICE_ROW(T, cache.parameters.index, "index", "linear", "linear|xor",                                   \
               "Set index: line number modulo sets, or parities of address bits", .converts = true),         \
    PARAM_NAMED(T, cache.parameters.index_masks, "index_masks", "", "masks",                                 \
                "For xor: a mask of address bits per index bit, bit 0 first: \"0x80,0x100\"",                \
                .converts = true),                                                                           \
    CHOICE_ROW(T, cache.parameters.allocate, "allocate", "miss", "miss|fill",                                \
               "When a read that missed takes a line; writes that allocate do so at once"),                  \
    PARAM_NAMED(T, cache.parameters.mshrs, "mshrs", REQUIRED, "entries", "Lines with fills in flight",       \
                .min = 1, .max = 65536, .converts = true),                                                   \
    PARAM_NAMED(T, cache.parameters.merges, "merges", "8", "requests",                                       \
                "Requests that one MSHR can hold, the first included", .min = 1, .max = 4096,                \
                .converts = true),                                                                           \
    PARAM_NAMED(T, cache.parameters.miss_queue, "miss_queue", "8", "messages", "Queue for the memory side",  \
                .min = 2, .max = 65536, .converts = true),                                                   \
    PARAM_NAMED(T, cache.parameters.insertion_position, "insertion_position", "", "ways",                                \
                "How far below the most recently used the lines of each class enter, class 0 first: "        \
                "\"0,15,7\"; 0 unless named, 255: at the least", .timing = true),                                            \
    PARAM_NAMED(T, cache.parameters.retention_priority, "retention_priority", "", "ranks",                                 \
                "Lines of a class with less are replaced before those with more, class 0 first; 0 unless named", .timing = true), \
    PARAM_NAMED(T, cache.parameters.retention_uses, "retention_uses", "0", "uses",                           \
                "So many uses of the cache is a step of retention_priority worth; 0: more than any number",  \
                .max = 1ull << 40, .timing = true),                                                          \
    REPLACEMENT_PARAMETER_ROWS(T, cache.replacement)

#define CACHE_STATE_ROWS(T)                                                                                  \
    TAG_ARRAY_STATE_ROWS(T, cache.tags),                                                                     \
    {.kind = FIELD_STATE, .type = TYPE_U32, .name = "lines_used", .unit = "lines",                           \
     .doc = "Of a fully associative cache with more than 64 ways: lines that were ever used",                \
     FIELD_AT(T, cache.tags.hash.fresh)},                                                                    \
    REPLACEMENT_STATE_ROWS(T, cache.replacement),                                                            \
    MSHR_ROWS(T, cache.mshr),                                                                                \
    STATE_ARRAY(T, cache.written, cache.tags.shape.lines, "Bytes written in each line"),                     \
    STATE_ARRAY(T, cache.pipeline.message, cache.pipeline.slots, "Requests in front of the tags"),           \
    STATE_ARRAY(T, cache.pipeline.ready, cache.pipeline.slots, "When each reaches the tags"),                \
    STATE(T, cache.pipeline.slots, "Size of that ring"),                                                     \
    DERIVED(T, cache.pipeline.limit, "Requests it may hold"),                                                \
    STATE(T, cache.pipeline.first, "Oldest request in it"),                                                  \
    STATE(T, cache.pipeline.count, "Requests in it"),                                                        \
    STATE_ARRAY(T, cache.misses.message, cache.misses.slots, "Messages for the memory side"),                \
    STATE_ARRAY(T, cache.misses.sectors, cache.misses.slots, "Sectors that each still has to fetch"),        \
    STATE(T, cache.misses.slots, "Size of that ring"),                                                       \
    DERIVED(T, cache.misses.limit, "Messages it may hold"),                                                  \
    STATE(T, cache.misses.first, "Oldest message in it"),                                                    \
    STATE(T, cache.misses.count, "Messages in it"),                                                          \
    DERIVED(T, cache.period, "Ticks per cycle"),                                                             \
    DERIVED(T, cache.pipeline_ticks, "Ticks from accepting a request to the tags"),                          \
    DERIVED(T, cache.port_mask, "Width of the data port - 1"),                                               \
    DERIVED(T, cache.port_shift, "log2 of the width of the data port"),                                      \
    STATE(T, cache.data_busy_until, "When the data array is free"),                                          \
    STATE(T, cache.stall, "Why the request at the tags waits"),                                              \
    STATE(T, cache.stall_since, "Cycle up to which that is counted"),                                        \
    STATE(T, cache.put_aside, "Requests that came to the tags and wait elsewhere"),                                      \
    STATE(T, cache.ahead.requests, "Accesses that did not come by the link"),                                \
    STATE(T, cache.ahead.answers, "Hits whose answer did not go by the link"),                               \
    STATE(T, cache.ahead.inside, "Such accesses that are not at the tags yet"),                              \
    HOST(T, cache.ahead.owner, "Who keeps them"),                                                            \
    HOST(T, cache.failed, "What the request at the tags is blocked on"),                                 \
    HOST(T, cache.accepts_from, "When the next request may be accepted, where that is ahead of time"),   \
    HOST(T, cache.observers, "Parts that see what it does"),                                                 \
    HOST(T, cache.fronts, "What stands in front of the tags"),                                               \
    HOST(T, cache.last_front, "Of these the nearest to the tags that offers requests"),                      \
    HOST(T, cache.attached, "Of these the objects of their own")

#define CACHE_STAT_ROWS(T)                                                                                   \
    STAT_NAMED(T, cache.stats.accesses, "accesses", "accesses", "Requests accepted"),                        \
    STAT_NAMED(T, cache.stats.results[RESULT_HIT], "hits", "accesses", "All sectors were there"),            \
    STAT_NAMED(T, cache.stats.results[RESULT_MISS], "misses", "accesses",                                    \
               "A sector was neither there nor in flight"),                                                  \
    STAT_NAMED(T, cache.stats.results[RESULT_MERGE], "merges", "accesses", "What was not there was in flight"), \
    STAT_NAMED(T, cache.stats.results[RESULT_BYPASS], "bypasses", "accesses",                                \
               "Sent on without asking the tags for data"),                                                  \
    STREAM_ROWS(T, STREAM_READ, "read", "Reads of global, constant, texture memory and code"),               \
    STREAM_ROWS(T, STREAM_WRITE, "write", "Writes of global memory"),                                        \
    STREAM_ROWS(T, STREAM_LOCAL_READ, "local_read", "Reads of local memory"),                                \
    STREAM_ROWS(T, STREAM_LOCAL_WRITE, "local_write", "Writes of local memory"),                             \
    STREAM_ROWS(T, STREAM_ATOMIC, "atomic", "Atomics"),                                                      \
    STALL_ROWS(T, STALL_LINE, "line_fail", "every way of the set was reserved"),                             \
    STALL_ROWS(T, STALL_MSHR_ENTRY, "mshr_entry_fail", "no MSHR was free"),                                  \
    STALL_ROWS(T, STALL_MSHR_MERGE, "mshr_merge_fail", "the line's MSHR was full"),                          \
    STALL_ROWS(T, STALL_MISS_QUEUE, "miss_queue_fail", "the miss queue was full"),                           \
    STALL_ROWS(T, STALL_BYPASSED, "bypassed_stall", "too many bypassed requests were in flight"),                 \
    STALL_ROWS(T, STALL_RESPONSE, "response_stall", "the response link was taken"),                          \
    STALL_ROWS(T, STALL_DATA_PORT, "data_port_stall", "the data array was busy"),                            \
    STALL_ROWS(T, STALL_REFUSED, "refused_stall", "a policy refuses the warp's misses"),                     \
    STALL_ROWS(T, STALL_QUEUE_FULL, "reexecution_full_stall", "the re-execution queue was full"),            \
    STALL_ROWS(T, STALL_ORDER, "reexecution_order_stall", "their warp has an older instruction in it"),      \
    STAT_NAMED(T, cache.stats.evictions, "evictions", "lines", "Lines replaced"),                            \
    STAT_NAMED(T, cache.tags.protected_evictions, "protected_evictions", "lines",                                                \
               "Replacements that spared the least recently used line, for its class"),                      \
    STAT_NAMED(T, cache.tags.low_priority_insertions, "low_priority_insertions", "lines",                                                    \
               "Lines that did not enter as the most recently used, for their class"),                       \
    STAT_NAMED(T, cache.stats.write_backs, "write_backs", "messages", "Dirty lines written back"),           \
    STAT_NAMED(T, cache.stats.fetches, "fetches", "messages", "Lines or sectors asked for below"),           \
    STAT_NAMED(T, cache.stats.fills, "fills", "messages", "Lines or sectors that came"),                     \
    STAT_NAMED(T, cache.stats.prefetch_reads, "prefetch_reads", "accesses",                                  \
               "Of the accesses, fetches that a cache above sent ahead of demand"),                          \
    STAT_NAMED(T, cache.stats.data_port_cycles, "data_port_cycles", "cycles",                                \
               "The data array's port moved what hit or was written back; of an L1: what was written"),      \
    FORMULA("miss_rate", cache_miss_rate, "fraction",                                                        \
            "misses / (hits + misses + merges), all streams, bypasses left out"),                            \
    FORMULA("miss_or_merge_rate", cache_miss_or_merge_rate, "fraction",                                      \
            "(misses + merges) / (hits + misses + merges)"),                                                 \
    FORMULA("read_miss_rate", cache_read_miss_rate, "fraction", "As miss_rate, of the stream `read` alone")

#define CACHE_ROWS(T)                                                                                        \
    BASE(T),                                                                                                 \
    PORT(T, cpu, memory_protocol, ROLE_RESPONDER, "From the processor side"),                                \
    PORT(T, mem, memory_protocol, ROLE_REQUESTER, "To the memory side"),                                     \
    CACHE_PARAMETER_ROWS(T), CACHE_STATE_ROWS(T), CACHE_STAT_ROWS(T)
/* clang-format on */

#define CACHE_CONVERTED_ROWS                                                                                 \
    "cache.tags.tag", "cache.tags.line", "cache.written", "cache.tags.used", "cache.tags.hash.bucket",       \
        "cache.tags.hash.links", REPLACEMENT_ARRAYS

#endif
