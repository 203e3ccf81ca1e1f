/* All of CUDA's types. */
#ifndef WARPWRIGHT_BUILTIN_TYPES_H
#define WARPWRIGHT_BUILTIN_TYPES_H

#include "driver_types.h"
#include "surface_types.h"
#include "texture_types.h"
#include "vector_types.h"

#endif
