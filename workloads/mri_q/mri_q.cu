// A step of the reconstruction of a magnetic resonance image: for each voxel a sum over samples in the space of
// frequencies, of a sine and a cosine each. One voxel per thread; the samples are in constant memory, where all lanes
// read the same one.
#include "../cuda.h"

#define SAMPLES 1024 // of a launch at most

__constant__ float4 samples[SAMPLES]; // frequencies in x, y and z, and magnitude

extern "C" __global__ void where_is_samples(unsigned long *answer) {
    *answer = (unsigned long)samples;
}

extern "C" __global__ void mri_q(const float *voxel_x, const float *voxel_y, const float *voxel_z,
                                 float *real, float *imaginary, int voxels, int count) {
    int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) return;
    float x = voxel_x[voxel], y = voxel_y[voxel], z = voxel_z[voxel];
    float sum_real = real[voxel], sum_imaginary = imaginary[voxel];
#pragma unroll 2
    for (int k = 0; k < count; k++) {
        float4 sample = samples[k];
        float phase = 6.2831853072f * (sample.x * x + sample.y * y + sample.z * z);
        sum_real += sample.w * __cosf(phase);
        sum_imaginary += sample.w * __sinf(phase);
    }
    real[voxel] = sum_real;
    imaginary[voxel] = sum_imaginary;
}
