// Lanes that wait for other lanes of their warp: locks, flags, tickets, a chain; and what keeps them together afterwards.
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>

#define SEEN(x) (*(volatile int *)&(x)) // not kept in a register

__device__ void lock(int *word) {
    while (atomicCAS(word, 0, 1) != 0) {
    }
    __threadfence();
}
__device__ void unlock(int *word) {
    __threadfence();
    atomicExch(word, 0);
}

__device__ int word, counter;
__global__ void a_lock_for_all(int rounds) {
    for (int i = 0; i < rounds; i++) {
        lock(&word);
        SEEN(counter) = SEEN(counter) + 1;
        unlock(&word);
    }
}

// The loop stores how often each thread has tried in vain.
__global__ void a_lock_with_tries() {
    __shared__ int tries[64];
    tries[threadIdx.x] = 0;
    __syncthreads();
    for (bool got = false; !got;) {
        got = atomicCAS(&word, 0, 1) == 0;
        if (!got) SEEN(tries[threadIdx.x])++;
    }
    __threadfence();
    SEEN(counter) = SEEN(counter) + (tries[threadIdx.x] >= 0);
    unlock(&word);
    __syncthreads();
}

// The loop takes the lock and does the work.
__global__ void a_lock_and_a_barrier(int *out, int rounds) {
    __shared__ int word, sum;
    if (threadIdx.x == 0) word = sum = 0;
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        for (bool done = false; !done;) {
            if (atomicCAS(&word, 0, 1) != 0) continue;
            SEEN(sum) = SEEN(sum) + 1;
            unlock(&word);
            done = true;
        }
        __syncthreads();
        if (SEEN(sum) != (i + 1) * (int)blockDim.x) out[blockIdx.x] = 1;
        __syncthreads();
    }
}

// Each thread waits for the one before it.
__global__ void a_chain(int *out) {
    __shared__ int turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    while (SEEN(turn) != (int)threadIdx.x) {
    }
    SEEN(turn) = threadIdx.x + 1;
    int other = __shfl_xor_sync(~0u, (int)threadIdx.x, 31);
    out[threadIdx.x] = other + __popc(__ballot_sync(~0u, 1));
}

__global__ void even_lanes_wait_for_odd_ones(int *out) {
    __shared__ int box[32];
    box[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x % 2) {
        SEEN(box[threadIdx.x]) = threadIdx.x;
        return;
    }
    while (!SEEN(box[threadIdx.x + 1])) {
    }
    out[threadIdx.x] = SEEN(box[threadIdx.x + 1]);
}

struct Node {
    int key, next;
};
__global__ void lists_with_locks(int *locks, int *heads, Node *nodes, int lists, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i <= count; i += gridDim.x * blockDim.x) {
        int key = i * 7919 % 10007, list = key % lists;
        lock(&locks[list]);
        nodes[i].key = key;
        nodes[i].next = SEEN(heads[list]);
        SEEN(heads[list]) = i;
        unlock(&locks[list]);
    }
}

// Both locks of a thread are its neighbours' as well.
__global__ void two_locks(int *locks, int *values) {
    int a = threadIdx.x, b = (threadIdx.x + 1) % blockDim.x, first = min(a, b), second = max(a, b);
    for (int i = 0; i < 2; i++) {
        while (atomicCAS(&locks[first], 0, 1))
            __nanosleep(20);
        while (atomicCAS(&locks[second], 0, 1))
            __nanosleep(20);
        SEEN(values[a]) = SEEN(values[a]) + 1;
        SEEN(values[b]) = SEEN(values[b]) + 1;
        unlock(&locks[second]);
        unlock(&locks[first]);
    }
}

__device__ int next_ticket, served, sales;
__global__ void tickets() {
    int mine = atomicAdd(&next_ticket, 1);
    while (atomicAdd(&served, 0) != mine) {
    }
    SEEN(sales) = SEEN(sales) + 1;
    __threadfence();
    atomicAdd(&served, 1);
}

__device__ int recursive_word;
__device__ __noinline__ int add_locked(int *sum, int depth) {
    if (depth) return add_locked(sum, depth - 1) + 1;
    lock(&recursive_word);
    SEEN(*sum) = SEEN(*sum) + 1;
    unlock(&recursive_word);
    return 1;
}
__global__ void a_lock_at_the_end_of_calls(int *out) {
    out[1 + threadIdx.x] = add_locked(out, threadIdx.x % 4);
}

// Lane 0 of each warp waits long for another CTA; the others need not wait for it before they sleep at the barrier.
__device__ int flag;
__global__ void one_lane_waits_for_another_cta(int *out) {
    if (blockIdx.x == 1) {
        float x = threadIdx.x;
        for (int i = 0; i < 20000; i++)
            x = x * 1.0001f + 1;
        out[200] = 42 + (x < 0);
        __threadfence();
        SEEN(flag) = 1;
        return;
    }
    if (threadIdx.x % 32 == 0)
        while (!SEEN(flag)) {
        }
    __syncwarp();
    out[threadIdx.x] = SEEN(out[200]);
}

__device__ int group_word, in_groups;
__global__ void whoever_is_there(int *out) {
    namespace groups = cooperative_groups;
    if (threadIdx.x % 3 != 2) {
        lock(&group_word);
        unlock(&group_word);
        auto here = groups::coalesced_threads();
        atomicAdd(&in_groups, here.thread_rank() == 0 ? (int)here.size() : 0);
    }
    auto warp = groups::tiled_partition<32>(groups::this_thread_block());
    warp.sync();
    int sum = 1;
    for (int i = 16; i; i /= 2)
        sum += warp.shfl_xor(sum, i);
    out[threadIdx.x] = sum;
}

enum { WORDS = 4096 };
static int *device, host[WORDS], checks, failures;

static void check(const char *name, bool good) {
    checks++;
    if (good) return;
    failures++;
    printf("%s failed\n", name);
}

// What the kernel left; the next one finds zeros.
static const int *result() {
    if (cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess)
        check("cudaMemcpy", false);
    cudaMemset(device, 0, sizeof host);
    return host;
}

template <class Expected> static bool all(const int *words, int count, Expected expected) {
    for (int i = 0; i < count; i++)
        if (words[i] != expected(i)) return false;
    return true;
}

template <class Symbol> static int value_of(const Symbol &symbol) {
    int value = -1;
    cudaMemcpyFromSymbol(&value, symbol, sizeof value);
    return value;
}

static bool lists_are_whole(const int *words, int lists, int count) {
    const Node *nodes = (const Node *)(words + 2 * lists);
    int found = 0;
    for (int list = 0; list < lists; list++)
        for (int i = words[lists + list]; i && found <= count; i = nodes[i].next, found++)
            if (nodes[i].key % lists != list) return false;
    return found == count;
}

int main() {
    cudaMalloc(&device, sizeof host);
    cudaMemset(device, 0, sizeof host);
    a_lock_for_all<<<3, 64>>>(2);
    check("a_lock_for_all", value_of(counter) == 3 * 64 * 2);
    a_lock_with_tries<<<2, 64>>>();
    check("a_lock_with_tries", value_of(counter) == 3 * 64 * 2 + 2 * 64);
    a_lock_and_a_barrier<<<2, 96>>>(device, 2);
    check("a_lock_and_a_barrier", all(result(), 2, [](int) { return 0; }));
    a_chain<<<1, 64>>>(device);
    check("a_chain", all(result(), 64, [](int i) { return (i ^ 31) + 32; }));
    even_lanes_wait_for_odd_ones<<<1, 32>>>(device);
    check("even_lanes_wait_for_odd_ones", all(result(), 32, [](int i) { return i % 2 ? 0 : i + 1; }));
    lists_with_locks<<<2, 64>>>(device, device + 8, (Node *)(device + 16), 8, 500);
    check("lists_with_locks", lists_are_whole(result(), 8, 500));
    two_locks<<<1, 32>>>(device, device + 64);
    check("two_locks", all(result() + 64, 32, [](int) { return 4; }));
    tickets<<<2, 48>>>();
    check("tickets", value_of(sales) == 96);
    a_lock_at_the_end_of_calls<<<1, 64>>>(device);
    check("a_lock_at_the_end_of_calls",
          result()[0] == 64 && all(host + 1, 64, [](int i) { return 1 + i % 4; }));
    one_lane_waits_for_another_cta<<<2, 64>>>(device);
    check("one_lane_waits_for_another_cta", all(result(), 64, [](int) { return 42; }));
    whoever_is_there<<<1, 64>>>(device);
    check("whoever_is_there", all(result(), 64, [](int) { return 32; }) && value_of(in_groups) == 43);
    printf("waiting_lanes: %d checks, %d failed\n", checks, failures);
    return failures != 0;
}
