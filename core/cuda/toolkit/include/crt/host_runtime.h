/* clang includes this file before its device functions. For CUDA from 9.2 on it writes functions of packed words as
 * video instructions, which are slow on all GPUs but the first that had them; before, it takes the device library's. */
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 9010
