/* Sets of ports, a bit for each, in words of 64. */
#ifndef WW_MEM_PORT_SET_H
#define WW_MEM_PORT_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { MAX_PORTS = 1024, PORTS_IN_WORD = 64, PORT_WORDS = MAX_PORTS / PORTS_IN_WORD };

typedef struct {
    const uint64_t *word;
    uint32_t words;
} PortSet;

static inline uint32_t words_for_ports(uint32_t ports) {
    return (ports + PORTS_IN_WORD - 1) / PORTS_IN_WORD;
}

/* The first member of a word at or after the pointer, or else the first. */
static inline uint32_t first_at_or_after(uint64_t set, uint32_t pointer) {
    uint64_t at_or_after = set & ~0ull << pointer;
    return (uint32_t)__builtin_ctzll(at_or_after ? at_or_after : set);
}

static inline bool port_in(PortSet set, uint32_t port) {
    return set.word[port / PORTS_IN_WORD] >> port % PORTS_IN_WORD & 1;
}
static inline void port_remove(uint64_t *word, uint32_t port) {
    word[port / PORTS_IN_WORD] &= ~(1ull << port % PORTS_IN_WORD);
}
static inline void port_add(uint64_t *word, uint32_t port) {
    word[port / PORTS_IN_WORD] |= 1ull << port % PORTS_IN_WORD;
}

static inline bool ports_any(PortSet set) {
    uint64_t any = 0;
    for (uint32_t w = 0; w < set.words; w++)
        any |= set.word[w];
    return any;
}

static inline uint32_t ports_count(PortSet set) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < set.words; w++)
        count += (uint32_t)__builtin_popcountll(set.word[w]);
    return count;
}

/* The first member at or after the pointer, round the end; the set has one. */
static inline uint32_t ports_first_from(PortSet set, uint32_t pointer) {
    uint32_t w = pointer / PORTS_IN_WORD;
    uint64_t word = set.word[w] & ~0ull << pointer % PORTS_IN_WORD;
    while (!word) {
        w = w + 1 == set.words ? 0 : w + 1;
        word = set.word[w];
    }
    return w * PORTS_IN_WORD + (uint32_t)__builtin_ctzll(word);
}

#endif
