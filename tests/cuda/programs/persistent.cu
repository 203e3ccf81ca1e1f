/* A persistent kernel takes work from a queue until the program, which sees in registered memory that all is done, tells it to
 * end there; beside it kernels whose CTAs meet. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

enum { QUEENS = 6, SOLUTIONS = 4, ROOM = 4096, NUMBERS = 5000 };

/* Queens in the first rows of a board, as the columns and diagonals that they hold. */
struct Item {
    unsigned columns, left, right;
    int rows; /* -1: not there yet */
};

struct Queue {
    Item items[ROOM];
    unsigned head, tail, open, solutions;
};

__device__ static void put(Queue *queue, Item item) {
    atomicAdd(&queue->open, 1);
    volatile Item *to = &queue->items[atomicAdd(&queue->tail, 1)];
    to->columns = item.columns;
    to->left = item.left;
    to->right = item.right;
    __threadfence();
    to->rows = item.rows;
}

__device__ static bool take(Queue *queue, Item *item) {
    unsigned head = *(volatile unsigned *)&queue->head;
    if (head == *(volatile unsigned *)&queue->tail || atomicCAS(&queue->head, head, head + 1) != head)
        return false;
    volatile Item *from = &queue->items[head];
    while (from->rows < 0)
        ;
    __threadfence();
    *item = {from->columns, from->left, from->right, from->rows};
    return true;
}

__global__ void works(Queue *queue, volatile int *stop, volatile int *done) {
    __shared__ Item item;
    __shared__ bool has_item, ends;
    for (;;) {
        __syncthreads();
        if (!threadIdx.x) {
            has_item = take(queue, &item);
            ends = !has_item && *stop;
        }
        __syncthreads();
        if (ends) return;
        if (!has_item) continue;
        unsigned bit = 1u << threadIdx.x, taken = item.columns | item.left | item.right;
        if (threadIdx.x < QUEENS && !(taken & bit)) {
            if (item.rows + 1 < QUEENS)
                put(queue,
                    {item.columns | bit, (item.left | bit) << 1, (item.right | bit) >> 1, item.rows + 1});
            else
                atomicAdd(&queue->solutions, 1);
        }
        __syncthreads();
        __threadfence();
        if (!threadIdx.x && atomicSub(&queue->open, 1) == 1) *done = 1;
    }
}

/* How many are multiples of 3, and how many of these stand in front of each CTA's. */
__global__ void counts(const int *numbers, int *of_ctas, int *before, int *all) {
    cg::grid_group grid = cg::this_grid();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int each = NUMBERS / gridDim.x, count = 0;
    for (int i = blockIdx.x * each + threadIdx.x; i < (blockIdx.x + 1) * each; i += blockDim.x)
        count += numbers[i] % 3 == 0;
    count = cg::reduce(warp, count, cg::plus<int>());
    if (!warp.thread_rank()) atomicAdd(&of_ctas[blockIdx.x], count);
    grid.sync();
    if (threadIdx.x) return;
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) {
        if (i == blockIdx.x) before[i] = sum;
        sum += of_ctas[i];
    }
    if (!blockIdx.x) *all = sum;
}

template <class T> static T *allocate(size_t count, int byte) {
    T *a = 0;
    cudaMalloc(&a, count * sizeof *a);
    cudaMemset(a, byte, count * sizeof *a);
    return a;
}

static bool counts_beside(cudaStream_t stream, const int *numbers) {
    enum { CTAS = 20 };
    int *of_ctas = allocate<int>(CTAS, 0), *before = allocate<int>(CTAS, 0), *all = allocate<int>(1, 0),
        got = 0;
    void *params[] = {&numbers, &of_ctas, &before, &all};
    cudaLaunchCooperativeKernel((void *)counts, dim3(CTAS), dim3(64), params, 0, stream);
    cudaMemcpyAsync(&got, all, sizeof got, cudaMemcpyDeviceToHost, stream);
    int last = 0, of_last = 0;
    cudaMemcpyAsync(&last, before + CTAS - 1, sizeof last, cudaMemcpyDeviceToHost, stream);
    cudaMemcpyAsync(&of_last, of_ctas + CTAS - 1, sizeof of_last, cudaMemcpyDeviceToHost, stream);
    return cudaStreamSynchronize(stream) == cudaSuccess && got == (NUMBERS + 2) / 3 && last + of_last == got;
}

int main() {
    const unsigned counters[] = {0, 1, 1, 0};
    const Item empty = {};
    int *flags = (int *)aligned_alloc(4096, 8192), numbers[NUMBERS], *device_flags, queries = 0;
    unsigned solutions = 0;
    cudaStream_t one, other;
    memset(flags, 0, 8192);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaHostRegister(flags, 8192, cudaHostRegisterMapped);
    cudaHostGetDevicePointer(&device_flags, flags, 0);
    Queue *queue = allocate<Queue>(1, 0xff);
    int *device_numbers = allocate<int>(NUMBERS, 0);
    cudaMemcpy(device_numbers, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaMemcpy(&queue->head, counters, sizeof counters, cudaMemcpyHostToDevice);
    cudaMemcpy(queue->items, &empty, sizeof empty, cudaMemcpyHostToDevice);
    works<<<4, 32, 0, one>>>(queue, device_flags, device_flags + 1000);
    bool good = true;
    for (int i = 0; i < 3; i++)
        good &= counts_beside(other, device_numbers);
    while (!((volatile int *)flags)[1000] && good) {
        good &= cudaStreamQuery(one) == cudaErrorNotReady && queries < 1000;
        queries++;
    }
    flags[0] = 1;
    good &= cudaStreamSynchronize(one) == cudaSuccess;
    cudaMemcpy(&solutions, &queue->solutions, sizeof solutions, cudaMemcpyDeviceToHost);
    printf("persistent: %u solutions, %d queries, %s\n", solutions, queries, good ? "good" : "wrong");
    return good && solutions == SOLUTIONS ? 0 : 1;
}
