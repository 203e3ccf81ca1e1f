/* From the statements of a kernel to its decoded instructions. */
#ifndef WW_PTX_DECODE_H
#define WW_PTX_DECODE_H

#include "core/ptx/front_end/parser.h"

/* Fills module->kernels[index] from parser->kernel. A kernel with unsupported statements is left unfinished:
 * they are collected in the parser. */
void decode_kernel(Parser *parser, const Entry *entry, uint32_t index);

#endif
