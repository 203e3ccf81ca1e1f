/* A name that thrust includes, without use of it: cudaOccupancy* in cuda_runtime.h answer for the simulated machine. */
#include "cuda_runtime.h"
