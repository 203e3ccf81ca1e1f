// Sorts keys with their values, and sums by a transform, with thrust.
#include "check.h"

#include <algorithm>
#include <vector>

#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

struct Square {
    __host__ __device__ long long operator()(int x) const { return (long long)x * x; }
};

int main(int argc, char **argv) {
    const int n = argc > 1 ? std::atoi(argv[1]) : 5000;
    thrust::host_vector<int> keys(n), values(n);
    unsigned state = 7;
    for (int i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        keys[i] = (int)(state >> 12) % 1000 - 500;
        values[i] = i;
    }
    thrust::device_vector<int> device_keys = keys, device_values = values;
    thrust::stable_sort_by_key(device_keys.begin(), device_keys.end(), device_values.begin());
    long long squares = thrust::transform_reduce(device_keys.begin(), device_keys.end(), Square(), 0ll,
                                                 thrust::plus<long long>());
    thrust::host_vector<int> sorted = device_keys, order = device_values;

    std::vector<int> want(n);
    long long want_squares = 0;
    for (int i = 0; i < n; i++) {
        want[i] = i;
        want_squares += (long long)keys[i] * keys[i];
    }
    std::stable_sort(want.begin(), want.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    int wrong = squares != want_squares;
    for (int i = 0; i < n; i++)
        wrong += order[i] != want[i] || sorted[i] != keys[want[i]];
    return report("sort", wrong);
}
