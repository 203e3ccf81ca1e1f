/* A name that programs include. */
#include "cuda_fp8.h"
