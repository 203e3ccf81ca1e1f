/* clang includes this file last, with dim3 and uint3 as macros: what builds on all that it has declared. */
#undef dim3
#undef uint3
#include "warpwright/device_functions.h"
