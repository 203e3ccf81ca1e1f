// Pages in the order of their views. A map writes the views and the url of each page to places of their own, and
// where these are to a directory, which is then sorted: lanes compare directory entries that stand side by side,
// and for each of them gather a key that may be anywhere.
#include "../bitonic.h"
#include "../cuda.h"

struct Page {
    int views, url;
};

// Where the key and the value of a record are, in bytes, and how long they are.
struct __attribute__((aligned(16))) Record {
    int key, key_length, value, value_length;
};

extern "C" __global__ void rank_map(const Page *pages, const int *place, char *keys, char *values,
                                    Record *directory, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    Page page = pages[i];
    int at = place[i] * 4;
    *(int *)&keys[at] = page.views;
    *(int *)&values[at] = page.url;
    directory[i] = {at, 4, at, 4};
}

// Most views first.
struct After {
    const char *keys;
    __device__ bool operator()(const Record &a, const Record &b) const {
        return *(const int *)&keys[a.key] < *(const int *)&keys[b.key];
    }
};

extern "C" __global__ void rank_sort_step(const char *keys, Record *directory, int distance, int run) {
    bitonic_step(directory, distance, run, After{keys});
}

extern "C" __global__ void rank_sort_block(const char *keys, Record *directory, int first_run, int last_run) {
    __shared__ Record block[256];
    bitonic_block(directory, block, first_run, last_run, After{keys});
}
