// Adds two vectors in pieces, each in a stream of its own: copy in, add, copy out. Events time the whole.
#include "check.h"

#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 1 << 16, pieces = 4, threads = 256;
    const int piece = (n + pieces - 1) / pieces;
    float *a, *b, *c;
    CHECK(cudaMallocHost(&a, n * sizeof *a));
    CHECK(cudaMallocHost(&b, n * sizeof *b));
    CHECK(cudaMallocHost(&c, n * sizeof *c));
    for (int i = 0; i < n; i++) {
        a[i] = 0.5f * i;
        b[i] = 1.0f / (i + 1);
    }

    std::vector<cudaStream_t> stream(pieces);
    std::vector<float *> buffer(pieces);
    for (int p = 0; p < pieces; p++) {
        CHECK(cudaStreamCreate(&stream[p]));
        CHECK(cudaMalloc(&buffer[p], 3 * piece * sizeof(float)));
    }
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(begin));
    for (int p = 0; p < pieces; p++) {
        int first = p * piece, count = first + piece < n ? piece : n - first;
        float *da = buffer[p], *db = da + piece, *dc = db + piece;
        CHECK(cudaMemcpyAsync(da, a + first, count * sizeof(float), cudaMemcpyHostToDevice, stream[p]));
        CHECK(cudaMemcpyAsync(db, b + first, count * sizeof(float), cudaMemcpyHostToDevice, stream[p]));
        add<<<(count + threads - 1) / threads, threads, 0, stream[p]>>>(da, db, dc, count);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpyAsync(c + first, dc, count * sizeof(float), cudaMemcpyDeviceToHost, stream[p]));
    }
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("%d elements in %d streams: %.3f ms\n", n, pieces, milliseconds);

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    for (int p = 0; p < pieces; p++) {
        CHECK(cudaFree(buffer[p]));
        CHECK(cudaStreamDestroy(stream[p]));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFreeHost(a));
    CHECK(cudaFreeHost(b));
    CHECK(cudaFreeHost(c));
    return report("vecadd_streams", wrong);
}
