/* What the files of libcudart share. The library has one source and a file for each version of CUDA: they differ in
 * CUDA_MAJOR, 11 to 13. */
#ifndef WW_CUDA_RUNTIME_H
#define WW_CUDA_RUNTIME_H

#include "core/cuda/runtime/arrays.h"
#include "core/cuda/runtime/work.h"
#include "core/cuda/toolkit/include/cuda_runtime_api.h"

#undef cudaGetDeviceProperties

/* Notes the error for cudaGetLastError(), and returns it. */
cudaError_t runtime_note(int problem);
/* The end of a call that began with warp_enter(). */
cudaError_t runtime_leave(int problem);

/* Of CUDA, as in 12040. */
int runtime_version(void);

/* The kernel behind a function of the program, or a handle of one; NULL for what is none. */
WarpFunction *runtime_function(const void *function);
/* Address and size of the variable behind one of the program. Between warp_enter() and warp_leave(). */
int runtime_symbol(const void *symbol, uint64_t *address, uint64_t *bytes);
/* Puts the managed variables of a module where the program finds them; NULL: of all. Between the same two. */
int runtime_place_managed(const WarpModule *module);
/* Copies as work. Those that return int: 0 or an error code; between warp_enter() and warp_leave(). */
int runtime_check_copy(const WorkCopy *copy);
int runtime_copy_of(WorkCopy *copy, const struct cudaMemcpy3DParms *p);
int runtime_symbol_copy(WorkCopy *copy, const void *symbol, const void *other, size_t count, size_t offset,
                        enum cudaMemcpyKind kind, bool to_symbol);
/* A copy of rows, in a stream or WARP_WAIT: a whole call. */
cudaError_t runtime_copy_rows(WarpPlace to, WarpPlace from, size_t width, size_t height,
                              enum cudaMemcpyKind kind, void *stream);
/* The module and name of the texture behind a reference of the program, and whether it reads normalised floats; false
 * for what is none. */
bool runtime_texture(const void *reference, WarpModule **module, const char **name, bool *normalized_float);

#endif
