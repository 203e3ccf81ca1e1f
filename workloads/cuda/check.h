// What the programs of this folder share: an error of the runtime ends the program, and so does a wrong result.
#ifndef CHECK_H
#define CHECK_H

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        cudaError_t status = (call);                                                                         \
        if (status != cudaSuccess) {                                                                         \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status));  \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static inline int report(const char *program, int wrong) {
    if (wrong)
        std::printf("%s: FAILED, %d results are wrong\n", program, wrong);
    else
        std::printf("%s: passed\n", program);
    return wrong ? 1 : 0;
}

#endif
