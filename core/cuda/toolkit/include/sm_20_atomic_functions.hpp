/* clang includes this file by name. What CUDA declares here is in warpwright/device_functions.h. */
