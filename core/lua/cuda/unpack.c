#include "core/lua/cuda/unpack.h"

#include <string.h>
#include <zstd.h>

typedef struct {
    const uint8_t *at, *end;
} Input;

enum { LONG_LENGTH = 15, LEAST_MATCH = 4 };

/* The four bits of a token, and what follows them where they are all set. */
static bool read_length(Input *input, unsigned bits, size_t most, size_t *length) {
    *length = bits;
    if (bits < LONG_LENGTH) return true;
    uint8_t more;
    do {
        if (input->at == input->end || *length > most) return false;
        more = *input->at++;
        *length += more;
    } while (more == UINT8_MAX);
    return true;
}

/* A match may overlap what it makes: a byte after the other. */
static bool copy_match(Input *input, unsigned bits, uint8_t *bytes, size_t size, size_t *made) {
    size_t length;
    if (input->end - input->at < 2) return false;
    size_t back = (size_t)input->at[0] | (size_t)input->at[1] << 8;
    input->at += 2;
    if (back == 0 || back > *made || !read_length(input, bits, size, &length)) return false;
    length += LEAST_MATCH;
    if (length > size - *made) return false;
    for (; length; length--, ++*made)
        bytes[*made] = bytes[*made - back];
    return true;
}

bool unpack_lz4(const uint8_t *block, size_t count, uint8_t *bytes, size_t size) {
    Input input = {block, block + count};
    size_t made = 0, length;
    while (input.at < input.end) {
        unsigned token = *input.at++;
        if (!read_length(&input, token >> 4, size, &length)) return false;
        if (length > (size_t)(input.end - input.at) || length > size - made) return false;
        if (length) memcpy(bytes + made, input.at, length);
        input.at += length;
        made += length;
        if (input.at == input.end) break; /* the last sequence has no match */
        if (!copy_match(&input, token & LONG_LENGTH, bytes, size, &made)) return false;
    }
    return made == size;
}

bool unpack_zstd(const uint8_t *frame, size_t count, uint8_t *bytes, size_t size) {
    return ZSTD_decompress(bytes, size, frame, count) == size;
}
