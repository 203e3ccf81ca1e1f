/* A name that programs include. */
#include "cuda_fp16.h"
