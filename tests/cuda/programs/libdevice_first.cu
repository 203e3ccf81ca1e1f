// A few functions of the device library under the names that clang's headers call.
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))

extern "C" {
__device__ float __nv_sqrtf(float);
__device__ float __nv_expf(float);
__device__ float __nv_powf(float, float);
__device__ double __nv_sin(double);

__global__ void first(const float *x, float *y, const double *z, double *w)
{
    y[0] = __nv_sqrtf(x[0]);
    y[1] = __nv_expf(x[1]);
    y[2] = __nv_powf(x[2], x[3]);
    w[0] = __nv_sin(z[0]);
    w[1] = __nv_sin(z[1]);
}
}
