// How often pages were viewed, from a log of lines "url\tip\tcookie\n": the lines are hashed byte by byte and
// sorted by their hashes, so that lines that are there twice stand together and count once; what is left is hashed
// by url and sorted again, and the lines of each url are counted. The lanes of a warp are about ninety bytes apart,
// and each comes back to its line.
#include "../bitonic.h"
#include "../cuda.h"

typedef unsigned char byte;

// A text of the log. Those that only fill up a sort have a hash and a length of all ones.
struct __attribute__((aligned(16))) Entry {
    int offset;
    unsigned length, hash;
    int views;
};

static inline __device__ unsigned hash_of(const byte *text, int begin, int end) {
    unsigned hash = 5381;
#pragma unroll 1
    for (int at = begin; at < end; at++)
        hash = hash * 33 + text[at];
    return hash;
}

// Map 1: an entry of each line, with the hash of all of it.
extern "C" __global__ void views_of_lines(const byte *log, const int *start, Entry *entries, int lines) {
    int line = blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= lines) return;
    int begin = start[line], end = start[line + 1];
    entries[line] = {begin, (unsigned)(end - begin), hash_of(log, begin, end), 1};
}

// By hashes, and where these are equal by lengths and bytes: less than 0 if a comes first, 0 if the texts are equal.
static inline __device__ int compare(const byte *log, const Entry &a, const Entry &b) {
    if (a.hash != b.hash) return a.hash < b.hash ? -1 : 1;
    if (a.length != b.length) return a.length < b.length ? -1 : 1;
    if (a.length == ~0u) return 0;
#pragma unroll 1
    for (unsigned i = 0; i < a.length; i++) {
        int difference = log[a.offset + i] - log[b.offset + i];
        if (difference != 0) return difference;
    }
    return 0;
}

struct After {
    const byte *log;
    __device__ bool operator()(const Entry &a, const Entry &b) const { return compare(log, a, b) > 0; }
};

extern "C" __global__ void views_sort_step(const byte *log, Entry *entries, int distance, int run) {
    bitonic_step(entries, distance, run, After{log});
}

extern "C" __global__ void views_sort_block(const byte *log, Entry *entries, int first_run, int last_run) {
    __shared__ Entry block[256];
    bitonic_block(entries, block, first_run, last_run, After{log});
}

// Reduce: which of the sorted entries differ from the one before.
extern "C" __global__ void views_is_first(const byte *log, const Entry *entries, int *is_first, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    is_first[i] = i == 0 || compare(log, entries[i - 1], entries[i]) != 0;
}

// Map 2: of each different line an entry of its url, at its place.
extern "C" __global__ void views_of_urls(const byte *log, const Entry *lines, const int *is_first,
                                         const int *place, Entry *entries, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count || !is_first[i]) return;
    int begin = lines[i].offset, url_end = begin;
#pragma unroll 1
    while (log[url_end] != '\t')
        url_end++;
    int ip_end = url_end + 1;
#pragma unroll 1
    while (log[ip_end] != '\t')
        ip_end++;
    entries[place[i]] = {begin, (unsigned)(url_end - begin), hash_of(log, begin, url_end), 1};
}

// Group: how many entries each url has; a group begins where its first entry is.
extern "C" __global__ void views_count(const Entry *entries, const int *group_start, Entry *groups,
                                       int count) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= count) return;
    int begin = group_start[group], end = group_start[group + 1], views = 0;
#pragma unroll 1
    for (int i = begin; i < end; i++)
        views += entries[i].views;
    groups[group] = {entries[begin].offset, entries[begin].length, entries[begin].hash, views};
}
