/* clang includes this file, twice, after its device functions: ends what crt/host_runtime.h began. */
#if CUDA_VERSION == 9010
#pragma pop_macro("CUDA_VERSION")
#endif
