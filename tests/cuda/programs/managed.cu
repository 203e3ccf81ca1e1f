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

int main() {
    for (int i = 0; i < 5; i++) {
        step<<<1, 1>>>(i);
        cudaDeviceSynchronize();
        table[999] = d + i;
        e++;
    }
    printf("managed: %d %d %d %d %g\n", a, b, c, d, table[400]);
    return a == 172 && b == 242 && table[400] == 257 ? 0 : 1;
}
