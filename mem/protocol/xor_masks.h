/* Numbers of which each bit is the parity of address bits, as GPUs hash addresses: a mask for each of their bits. Plain data. */
#ifndef WW_MEM_XOR_MASKS_H
#define WW_MEM_XOR_MASKS_H

#include <stdbool.h>
#include <stdint.h>

/* Reads "0x2080,0x4100", bit 0 first; returns how many. More than `most`, or another text, is a user error that names
 * path.parameter and calls them masks for `what` bits. */
uint32_t xor_masks_read(uint64_t masks[], uint32_t most, const char *text, const char *path,
                        const char *parameter, const char *what);
/* Do the bits under `own`, of which there are as many as masks, follow from the number and all other bits? */
bool xor_masks_tell_apart(const uint64_t masks[], uint32_t count, uint64_t own);
/* The first mask that is the XOR of some before it, up to 64 masks; then `of` has a bit for each of these. `count`: none is,
 * and every number has addresses. */
uint32_t xor_masks_find_dependent(const uint64_t masks[], uint32_t count, uint64_t *of);

static inline uint32_t xor_masks_apply(const uint64_t masks[], uint32_t count, uint64_t address) {
    uint32_t number = 0;
    for (uint32_t i = 0; i < count; i++)
        number |= (uint32_t)__builtin_parityll(address & masks[i]) << i;
    return number;
}

#endif
