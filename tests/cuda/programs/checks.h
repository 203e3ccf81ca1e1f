/* What programs check themselves with: CHECK(condition) counts; finish() says how many held, and which did not. */
#pragma once

#include <stdio.h>
#include <string.h>

static int checked, failed;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        checked++;                                                                                           \
        if (!(condition) && ++failed <= 20) printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
    } while (0)

static int finish(const char *name) {
    printf("%s: %d checks, %d failed\n", name, checked, failed);
    return failed != 0;
}
