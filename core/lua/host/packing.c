/* Texts as zstd frames, for files that nobody reads by eye. */
#include "core/lua/bindings.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { LEVEL = 9 };

/* core.pack(text) -> a frame */
static int l_pack(lua_State *L) {
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    luaL_Buffer buffer;
    raise_user_errors_in(L);
    size_t room = ZSTD_compressBound(length);
    char *frame = luaL_buffinitsize(L, &buffer, room);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ensure_memory(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1); /* a changed bit is damage, not another number */
    size_t bytes = ZSTD_compress2(context, frame, room, text, length);
    ZSTD_freeCCtx(context);
    ensure_memory(ZSTD_getErrorCode(bytes) != ZSTD_error_memory_allocation);
    ensure(!ZSTD_isError(bytes));
    luaL_pushresultsize(&buffer, bytes);
    return 1;
}

/* core.unpacked(frame, most bytes) -> text, or nil: it is damaged, or longer */
static int l_unpacked(lua_State *L) {
    size_t length;
    const char *frame = luaL_checklstring(L, 1, &length);
    unsigned long long most = (unsigned long long)luaL_checkinteger(L, 2),
                       bytes = ZSTD_getFrameContentSize(frame, length);
    luaL_Buffer buffer;
    if (bytes == ZSTD_CONTENTSIZE_ERROR || bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes > most) return 0;
    char *text = luaL_buffinitsize(L, &buffer, (size_t)bytes);
    size_t got = ZSTD_decompress(text, (size_t)bytes, frame, length);
    if (ZSTD_isError(got) || got != bytes) return 0;
    luaL_pushresultsize(&buffer, got);
    return 1;
}

void packing_open(lua_State *L) {
    static const luaL_Reg functions[] = {{"pack", l_pack}, {"unpacked", l_unpacked}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
