/* The words of CUDA C++ that declare where a function or variable lives. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDAAPI
#define CUDART_CB
#define CUDA_CB
#ifdef __cplusplus
#define __dv(value) = value
#else
#define __dv(value)
#endif
#define __specialization_static static
#define __cudart_builtin__
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __builtin_align__(n) __attribute__((aligned(n)))

/* The standard library writes __attribute__((__noinline__)); as a macro, __noinline__ would nest there. clang has
 * it as a keyword of CUDA only from release 15 on. The wrapper around the standard headers is in cuda_runtime.h. */
#define __inline_hint__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __no_return__   __attribute__((noreturn))
#define __align__(n)    __attribute__((aligned(n)))

#if defined(__CUDACC__) || defined(__CUDA__) || defined(__CUDA_LIBDEVICE__)
#define __host__   __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
/* clang puts other constants of the device there, too; by its name the driver tells which are to be. */
#define __constant__ __attribute__((annotate("__constant__"))) __attribute__((constant))
#ifdef __cplusplus
/* clang 14 takes two bounds; the third, of CTAs in a cluster, is left out. Functions count the bounds, since a macro would
 * take the comma of a template's parameters for one between bounds. A second bound of 0 is none. */
template <class T, class... More>
__attribute__((host, device)) constexpr T __warpwright_first_bound(T bound, More...) {
    return bound;
}
template <class T> __attribute__((host, device)) constexpr int __warpwright_second_bound(T) {
    return 0;
}
template <class T, class U, class... More>
__attribute__((host, device)) constexpr U __warpwright_second_bound(T, U bound, More...) {
    return bound;
}
#define __launch_bounds__(...)                                                                               \
    __attribute__((                                                                                          \
        launch_bounds(__warpwright_first_bound(__VA_ARGS__), __warpwright_second_bound(__VA_ARGS__))))
#else
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
/* clang has no managed variables, but one of each side: libcudart copies between the two. While clang reads this for
 * the host, __CUDA_ARCH__ is 9999. */
#if __CUDA_ARCH__ == 9999
#define __managed__ __device__ __attribute__((section("warpwright_managed")))
#else
#define __managed__ __device__
#endif
#define __grid_constant__
#define __cluster_dims__(...)
#define __maxnreg__(n)
#else
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#endif

#endif
