/* A name that programs include. What CUDA declares here is in vector_functions.h. */
#include "vector_functions.h"
