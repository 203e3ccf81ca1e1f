/* Managed variables of several sizes, which the host and kernels change in turn. */
#include <stdio.h>

__managed__ int a = 1, b = 2, c = 3, d = 4;
__managed__ double table[1000];
__managed__ short e = 5, f = 6, g = 7;

__global__ void step(int i) {
    a += b;
    b += c;
    c += d;
    d += e + f + g;
    table[i * 100] = a + table[999];
}

__managed__ int flag;

__global__ void waits() {
    while (!*(volatile int *)&flag)
        ;
    c = flag;
}

/* One kernel goes on until the program writes a variable; another one, and the program, change others beside it. */
static bool in_flight() {
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    waits<<<1, 1, 0, one>>>();
    step<<<1, 1, 0, other>>>(5);
    cudaStreamSynchronize(other);
    bool good = a == 414 && table[500] == 522 && cudaStreamQuery(one) == cudaErrorNotReady;
    d = 1;
    flag = 9;
    cudaStreamSynchronize(one);
    return good && c == 9 && d == 1 && a == 414;
}

int main() {
    for (int i = 0; i < 5; i++) {
        step<<<1, 1>>>(i);
        cudaDeviceSynchronize();
        table[999] = d + i;
        e++;
    }
    printf("managed: %d %d %d %d %g\n", a, b, c, d, table[400]);
    if (a != 172 || b != 242 || table[400] != 257) return 1;
    return in_flight() ? 0 : 2;
}
