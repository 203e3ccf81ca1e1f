// The mark phase of a garbage collector, level by level. An object has its mark, its number of references, the
// references and then whatever else it holds. Each thread takes an object of the list and marks what it refers to;
// who marks an object first adds it to the list. Each lane comes back to the lines of its object reference by
// reference; the marks are anywhere.
#include "../cuda.h"

struct Object {
    int mark, count;
    int references[]; // offsets in the heap
};

// Of the list's objects those from `first` on; `tail` is where it ends.
extern "C" __global__ void gc_mark(char *heap, int *list, int first, int count, int *tail) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const Object *object = (const Object *)&heap[list[first + i]];
    int references = object->count;
#pragma unroll 1
    for (int r = 0; r < references; r++) {
        int target = object->references[r];
        if (atomicExch(&((Object *)&heap[target])->mark, 1) == 0) list[atomicAdd(tail, 1)] = target;
    }
}
