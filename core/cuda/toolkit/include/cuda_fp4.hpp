/* A name that programs include. */
#include "cuda_fp4.h"
