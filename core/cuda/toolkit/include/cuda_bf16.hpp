/* A name that programs include. */
#include "cuda_bf16.h"
