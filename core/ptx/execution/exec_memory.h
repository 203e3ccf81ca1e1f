/* The kinds of loads and stores: X(kind, type in memory, registers). Each has one handler per space. */
#ifndef WW_PTX_EXEC_MEMORY_H
#define WW_PTX_EXEC_MEMORY_H

#include "core/ptx/execution/exec_internal.h"

#define LOAD_KINDS(X)                                                                                        \
    X(u8, uint8_t, LaneU32)                                                                                  \
    X(s8, int8_t, LaneS32)                                                                                   \
    X(u16, uint16_t, LaneU32)                                                                                \
    X(s16, int16_t, LaneS32)                                                                                 \
    X(b32, uint32_t, LaneU32)                                                                                \
    X(b64, uint64_t, LaneU64)                                                                                \
    X(u8_wide, uint8_t, LaneU64)                                                                             \
    X(s8_wide, int8_t, LaneS64)                                                                              \
    X(u16_wide, uint16_t, LaneU64)                                                                           \
    X(s16_wide, int16_t, LaneS64)                                                                            \
    X(u32_wide, uint32_t, LaneU64)                                                                           \
    X(s32_wide, int32_t, LaneS64)

#define STORE_KINDS(X)                                                                                       \
    X(b8, uint8_t, LaneU32)                                                                                  \
    X(b16, uint16_t, LaneU32)                                                                                \
    X(b32, uint32_t, LaneU32)                                                                                \
    X(b64, uint64_t, LaneU64)                                                                                \
    X(b8_wide, uint8_t, LaneU64)                                                                             \
    X(b16_wide, uint16_t, LaneU64)                                                                           \
    X(b32_wide, uint32_t, LaneU64)

#define IS_WORD(MEMORY, SLOT) (sizeof(MEMORY) == 4 && sizeof(SLOT) == 4)

/* What is left of an access of the active lanes to local memory once their addresses in it are formed and those of the others
 * filled: its checks, and the elements. Generic accesses end there, too. */
#define DECLARE_LOCAL_LOAD(kind, MEMORY, SLOT) void local_load_##kind(const Inst *inst, ExecContext *context);
#define DECLARE_LOCAL_STORE(kind, MEMORY, SLOT)                                                              \
    void local_store_##kind(const Inst *inst, ExecContext *context);
LOAD_KINDS(DECLARE_LOCAL_LOAD)
STORE_KINDS(DECLARE_LOCAL_STORE)

#endif
