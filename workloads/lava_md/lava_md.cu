// Forces between particles in boxes of space, of those in the same box and in the boxes around it, in double precision.
// A CTA of 128 threads has one box, a thread one particle of it. The particles of each box around it go to shared
// memory, where all threads read the same one at a time.
#include "../cuda.h"
#include "../double_math.h"

#define THREADS 128
#define RECORD  28 // of a box: its first particle, count of the boxes around it, their numbers

struct Particle {
    double half_square, x, y, z; // half of the square of the distance from the origin, and place
};
struct Force {
    double potential, x, y, z;
};

// The potential of a charge at a distance d is that of a cloud, exp(-(sharpness d)^2).
extern "C" __global__ void lava_md(const int *boxes, const Particle *particles, const double *charges,
                                   Force *forces, int in_box, double sharpness) {
    __shared__ Particle home[THREADS], near[THREADS];
    __shared__ double near_charge[THREADS];
    const int *record = &boxes[blockIdx.x * RECORD];
    int thread = threadIdx.x, first = record[0], around = record[1];
    double scale = 2 * sharpness * sharpness;

    if (thread < in_box) home[thread] = particles[first + thread];
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k <= around; k++) {
        int from = k == 0 ? first : boxes[record[1 + k] * RECORD];
        if (thread < in_box) {
            near[thread] = particles[from + thread];
            near_charge[thread] = charges[from + thread];
        }
        __syncthreads();
        if (thread < in_box) {
            Particle own = home[thread];
            Force sum = {0, 0, 0, 0};
#pragma unroll 1
            for (int j = 0; j < in_box; j++) {
                double product = __builtin_fma(own.x, near[j].x,
                                               __builtin_fma(own.y, near[j].y, own.z * near[j].z));
                double half_square = own.half_square + near[j].half_square -
                                     product; // of the distance of the two
                double potential = near_charge[j] * exponential(-scale * half_square);
                double force = scale * potential;
                sum.potential += potential;
                sum.x = __builtin_fma(force, own.x - near[j].x, sum.x);
                sum.y = __builtin_fma(force, own.y - near[j].y, sum.y);
                sum.z = __builtin_fma(force, own.z - near[j].z, sum.z);
            }
            Force total = forces[first + thread];
            forces[first + thread] = {total.potential + sum.potential, total.x + sum.x, total.y + sum.y,
                                      total.z + sum.z};
        }
        __syncthreads();
    }
}
