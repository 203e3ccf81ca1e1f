/* clang includes this file last, with dim3 and uint3 as macros: what builds on all that it has declared. */
#undef dim3
#undef uint3
#undef __shfl
#undef __shfl_up
#undef __shfl_down
#undef __shfl_xor
#undef __shfl_sync
#undef __shfl_up_sync
#undef __shfl_down_sync
#undef __shfl_xor_sync
#include "warpwright/device_functions.h"
