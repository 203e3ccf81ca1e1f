/* The version of CUDA whose names these headers have. */
#ifndef WARPWRIGHT_VERSION_H
#define WARPWRIGHT_VERSION_H

#define CUDA_VERSION   11080
#define CUDART_VERSION CUDA_VERSION

#endif
