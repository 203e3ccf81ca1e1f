#include "core/sim/base/near_name.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t smallest(size_t a, size_t b, size_t c) {
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many characters of `a` must be inserted, deleted, replaced or exchanged with their neighbour to make
 * `b`; both of up to LONGEST. */
static size_t edit_distance(const char *a, const char *b) {
    size_t to[LONGEST + 1][LONGEST + 1], rows = strlen(a), columns = strlen(b);
    for (size_t i = 0; i <= rows; i++)
        to[i][0] = i;
    for (size_t j = 0; j <= columns; j++)
        to[0][j] = j;
    for (size_t i = 1; i <= rows; i++)
        for (size_t j = 1; j <= columns; j++) {
            bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            size_t replaced = to[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            to[i][j] = smallest(replaced, to[i - 1][j] + 1, to[i][j - 1] + 1);
            if (exchanged && to[i - 2][j - 2] + 1 < to[i][j]) to[i][j] = to[i - 2][j - 2] + 1;
        }
    return to[rows][columns];
}

NearName near_name(const char *misspelt) {
    size_t length = strlen(misspelt);
    return (NearName){misspelt, NULL, length < 3 ? 1 : length < 6 ? 2 : length / 3 + 1};
}

void near_name_try(NearName *near, const char *candidate) {
    if (strlen(candidate) > LONGEST || strlen(near->misspelt) > LONGEST) return;
    size_t distance = edit_distance(near->misspelt, candidate);
    if (distance >= near->distance) return;
    near->name = candidate;
    near->distance = distance;
}
