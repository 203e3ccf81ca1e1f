/* clang includes this file before its own shuffles, of which warpwright/shuffles.h has others. */
#define __shfl           __warpwright_unused__shfl
#define __shfl_up        __warpwright_unused__shfl_up
#define __shfl_down      __warpwright_unused__shfl_down
#define __shfl_xor       __warpwright_unused__shfl_xor
#define __shfl_sync      __warpwright_unused__shfl_sync
#define __shfl_up_sync   __warpwright_unused__shfl_up_sync
#define __shfl_down_sync __warpwright_unused__shfl_down_sync
#define __shfl_xor_sync  __warpwright_unused__shfl_xor_sync
