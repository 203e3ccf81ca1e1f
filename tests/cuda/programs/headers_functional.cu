/* nvstd::function, and pointers with access properties. */
#include "checks.h"

#include <cuda/annotated_ptr>
#include <nvfunctional>

__host__ __device__ static int thrice(int x) { return 3 * x; }

struct Large {
    int words[20];
    __host__ __device__ int operator()(int i) const { return words[i]; }
};

struct Counted {
    int *alive;
    __host__ __device__ explicit Counted(int *alive) : alive(alive) { ++*alive; }
    __host__ __device__ Counted(const Counted &other) : alive(other.alive) { ++*alive; }
    __host__ __device__ ~Counted() { --*alive; }
    __host__ __device__ int operator()(int x) const { return x + *alive; }
};

typedef nvstd::function<int(int)> Function;

__host__ __device__ static int apply(Function f, int x) { return f(x); }

struct Called {
    int values[10], alive, nulls;
};

__host__ __device__ static void call_all(int factor, Called *c) {
    c->alive = 0;
    Function empty, multiply = [factor](int x) { return factor * x; };
    c->nulls = !empty && empty == nullptr && multiply != nullptr && !Function((int (*)(int)) nullptr) && !Function(empty);
    c->values[0] = apply(multiply, 7);
    c->values[1] = apply(thrice, 5);
    Large large;
    for (int i = 0; i < 20; i++)
        large.words[i] = i * i;
    Function squares = large, copy = squares;
    large.words[4] = 0;
    c->values[2] = apply(copy, 4);
    copy = multiply;
    c->values[3] = copy(2) + squares(3);
    swap(copy, squares);
    c->values[4] = copy(9) * 1000 + squares(1);
    {
        Function counted = Counted(&c->alive);
        Function other = counted;
        c->values[5] = c->alive;
        c->values[6] = apply(other, 100);
        other = nullptr;
        c->values[7] = c->alive;
        Function moved = (Function &&)counted;
        c->values[8] = c->alive * 10 + !counted;
    }
    nvstd::function<void(int &)> doubled = [](int &x) { x *= 2; };
    c->values[9] = 21;
    doubled(c->values[9]);
}
static void check_calls(const Called &c) {
    const int expected[10] = {35, 15, 16, 19, 81005, 2, 103, 1, 11, 42};
    for (int i = 0; i < 10; i++)
        CHECK(c.values[i] == expected[i]);
    CHECK(c.alive == 0 && c.nulls == 1);
}
__global__ void call_there(Called *c) { call_all(5, c); }

using streaming = cuda::access_property::streaming;
using persisting = cuda::access_property::persisting;

__global__ void annotated(cuda::annotated_ptr<const int, persisting> in, cuda::annotated_ptr<int, streaming> out,
                          cuda::annotated_ptr<int, cuda::access_property> chosen) {
    __shared__ int tile[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        cuda::apply_access_property(in.get(), 64 * sizeof(int), persisting{});
    }
    __syncthreads();
    cuda::annotated_ptr<int, cuda::access_property::shared> shared(tile + threadIdx.x);
    cuda::memcpy_async(tile + threadIdx.x, cuda::annotated_ptr<const int, persisting>(in.get() + threadIdx.x), sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[threadIdx.x] = *shared + in[threadIdx.x] + *chosen;
    int *plain = cuda::associate_access_property(out.get(), cuda::access_property(persisting{}, 0.5f, streaming{}));
    plain[threadIdx.x] += 1000;
    cuda::discard_memory(chosen.get() + 32, 128);
}

int main() {
    Called *there, here;
    int *in, *out;
    CHECK(cudaMallocManaged(&there, sizeof *there) == cudaSuccess);
    CHECK(cudaMallocManaged(&in, 256) == cudaSuccess && cudaMallocManaged(&out, 256) == cudaSuccess);
    call_all(5, &here);
    check_calls(here);
    call_there<<<1, 1>>>(there);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    check_calls(*there);
    try {
        Function()(1);
        CHECK(!"an empty function was called");
    } catch (const std::bad_function_call &) {
    }
    for (int i = 0; i < 64; i++)
        in[i] = i;
    cuda::annotated_ptr<int, cuda::access_property> begin(in), chosen(in + 5, streaming{});
    annotated<<<1, 64>>>(cuda::annotated_ptr<int, persisting>(in), cuda::annotated_ptr<int, streaming>(out), chosen);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 64; i++)
        CHECK(out[i] == 2 * i + 5 + 1000);
    CHECK(chosen && *chosen == 5 && chosen[2] == 7 && chosen - begin == 5);
    CHECK(sizeof(cuda::annotated_ptr<int, streaming>) == sizeof(int *));
    CHECK((cudaAccessProperty)persisting{} == cudaAccessPropertyPersisting);
    CHECK((uint64_t)chosen.__property() == (uint64_t)cuda::access_property(streaming{}));
    return finish("functional");
}
