// counting GRID BLOCK [GRID BLOCK]...: each launch adds 1 for each of its threads. Its exit status is 7 when the sum is right.
#include <cstdio>
#include <cstdlib>

__global__ void count(unsigned *sum) { atomicAdd(sum, 1); }

int main(int argc, char **argv) {
    unsigned *sum, found = 0, expected = 0;
    cudaMalloc(&sum, sizeof *sum);
    for (int i = 1; i + 1 < argc; i += 2) {
        int grid = atoi(argv[i]), block = atoi(argv[i + 1]);
        count<<<grid, block>>>(sum);
        expected += grid * block;
    }
    cudaError_t error = cudaMemcpy(&found, sum, sizeof found, cudaMemcpyDeviceToHost);
    printf("%s: %u of %u\n", cudaGetErrorName(error), found, expected);
    return found == expected && error == cudaSuccess ? 7 : 1;
}
