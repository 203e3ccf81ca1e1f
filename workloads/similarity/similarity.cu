// How alike documents are, as the cosine of the angle between their rows of features, for pairs of documents; one pair
// per thread. The second document changes with the lane: each load of four floats reads 32 rows, a row's length apart,
// and eight loads use up a line.
#include "../cuda.h"

struct Score {
    int first, second;
    float cosine;
};

// Pair i is of document i / width of the first ones with document i % width of the second ones. Where its score goes
// stands in a directory.
extern "C" __global__ void similarity_score(const float4 *documents, const int *directory, Score *scores,
                                            int pairs, int width, int second_begin, int dimensions) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    int first = pair / width, second = second_begin + pair % width;
    const float4 *a = &documents[first * (dimensions / 4)], *b = &documents[second * (dimensions / 4)];

    float product = 0, square_a = 0, square_b = 0;
#pragma unroll 1
    for (int i = 0; i < dimensions / 4; i++) {
        float4 x = a[i], y = b[i];
        product = fmaf(x.x, y.x, fmaf(x.y, y.y, fmaf(x.z, y.z, fmaf(x.w, y.w, product))));
        square_a = fmaf(x.x, x.x, fmaf(x.y, x.y, fmaf(x.z, x.z, fmaf(x.w, x.w, square_a))));
        square_b = fmaf(y.x, y.x, fmaf(y.y, y.y, fmaf(y.z, y.z, fmaf(y.w, y.w, square_b))));
    }
    Score *to = &scores[directory[pair]];
    to->first = first;
    to->second = second;
    to->cosine = product / (__builtin_sqrtf(square_a) * __builtin_sqrtf(square_b));
}
