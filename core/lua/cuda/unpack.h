/* The payloads of fat binaries, which come from programs: any bytes do no harm. */
#ifndef WW_LUA_UNPACK_H
#define WW_LUA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An LZ4 block of `count` bytes that becomes exactly `size` bytes; false when it does not. */
bool unpack_lz4(const uint8_t *block, size_t count, uint8_t *bytes, size_t size);
/* The same of a zstd frame. */
bool unpack_zstd(const uint8_t *frame, size_t count, uint8_t *bytes, size_t size);

#endif
