#include "mem/protocol/xor_masks.h"

#include "core/sim/base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t xor_masks_read(uint64_t masks[], uint32_t most, const char *text, const char *path,
                        const char *parameter, const char *what) {
    uint32_t count = 0;
    for (const char *at = text; *at;) {
        char *end;
        at += strspn(at, " ");
        bool number = *at >= '0' && *at <= '9'; /* no sign */
        errno = 0;
        uint64_t mask = strtoull(at, &end, 0);
        end += strspn(end, " ");
        if (!number || errno || mask == 0 || (*end && *end != ','))
            user_error("%s.%s: expected a mask of address bits for each %s bit, bit 0 first "
                       "(\"0x80,0x100\"), got '%s'",
                       path, parameter, what, text);
        if (count == most) user_error("%s.%s: expected up to %u masks, got more", path, parameter, most);
        masks[count++] = mask;
        at = *end ? end + 1 : end;
    }
    return count;
}

/* Gauss's elimination: each bit finds a mask that has it, which leaves the others. */
bool xor_masks_tell_apart(const uint64_t masks[], uint32_t count, uint64_t own) {
    uint64_t rows[64];
    uint32_t found = 0;
    if (count > 64 || (uint32_t)__builtin_popcountll(own) != count) return false;
    for (uint32_t i = 0; i < count; i++)
        rows[i] = masks[i] & own;
    for (; own; own &= own - 1, found++) {
        uint64_t bit = own & -own, row;
        uint32_t has = found;
        while (has < count && !(rows[has] & bit))
            has++;
        if (has == count) return false;
        row = rows[has];
        rows[has] = rows[found];
        for (uint32_t i = found + 1; i < count; i++)
            rows[i] ^= rows[i] & bit ? row : 0;
    }
    return true;
}

/* Each row lacks the highest bits of those before it, so one pass takes these from a mask; it is the XOR of the masks
 * `made_of`. */
uint32_t xor_masks_find_dependent(const uint64_t masks[], uint32_t count, uint64_t *of) {
    uint64_t rows[64], made_of[64];
    ensure(count <= 64);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = masks[i];
        made_of[i] = 0;
        for (uint32_t k = 0; k < i; k++) {
            if ((rows[i] ^ rows[k]) >= rows[i]) continue;
            rows[i] ^= rows[k];
            made_of[i] ^= made_of[k] | 1ull << k;
        }
        *of = made_of[i];
        if (!rows[i]) return i;
    }
    return count;
}
