// An inverted index of HTML texts: for each link where it stands, a hash of where it leads, and in which file it is. One
// line of text per thread, byte by byte: the lanes of a warp are about a hundred bytes apart, and each comes back to its
// own line of the cache a hundred times.
#include "../bitonic.h"
#include "../cuda.h"

typedef unsigned char byte;

// The machine that finds <a href="...">. Its state is how much of the beginning it has seen; most bytes find and leave it
// at 0. FOUND: the next byte is the first of the link's address.
#define FOUND 9

static inline __device__ int next_state(int state, int c) {
    if (state == 0) return c == '<';
    const unsigned long beginning = 0x3d66657268206131; // the bytes of 1a href=, the last one first
    int wanted = state == 8 ? '"' : (int)(beginning >> 8 * state & 0xff);
    return c == wanted ? state + 1 : c == '<';
}

// Pass 1: how many links each line has.
extern "C" __global__ void index_count(const byte *text, const int *start, int *count, int lines) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    int end = start[line + 1], links = 0, state = 0;
#pragma unroll 1
    for (int at = start[line]; at < end; at++) {
        state = next_state(state, text[at]);
        if (state == FOUND) {
            links++;
            state = 0;
        }
    }
    count[line] = links;
}

struct Link {
    int offset;
    unsigned hash;
};

// Pass 2: the same search; each link goes to its place.
extern "C" __global__ void index_emit(const byte *text, const int *start, const int *place, const int *file,
                                      Link *links, int *files, int lines) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    int end = start[line + 1], to = place[line], state = 0;
#pragma unroll 1
    for (int at = start[line]; at < end; at++) {
        state = next_state(state, text[at]);
        if (state != FOUND) continue;
        state = 0;
        unsigned hash = 5381;
#pragma unroll 1
        for (int i = at + 1; i < end && text[i] != '"'; i++)
            hash = hash * 33 + text[i];
        links[to].offset = at + 1;
        links[to].hash = hash;
        files[to] = file[line];
        to++;
    }
}

// A step of a bitonic sort by hash, of a power of two of links: each thread has two, `distance` apart.
extern "C" __global__ void index_sort(Link *links, int *files, int distance, int run) {
    Exchange at = exchange_of(blockIdx.x * blockDim.x + threadIdx.x, distance);
    Link a = links[at.low], b = links[at.high];
    bool ascending = (at.low & run) == 0;
    bool after = a.hash > b.hash || (a.hash == b.hash && a.offset > b.offset);
    if (after != ascending) return;
    links[at.low] = b;
    links[at.high] = a;
    int other = files[at.low];
    files[at.low] = files[at.high];
    files[at.high] = other;
}
