/* What device code has without an #include, beyond what clang declares. */
#ifndef WARPWRIGHT_DEVICE_FUNCTIONS_H
#define WARPWRIGHT_DEVICE_FUNCTIONS_H

#include "../surface_functions.h"
#include "atomics.h"
#include "cached_accesses.h"
#include "device_math.h"
#include "shuffles.h"
#include "synchronization.h"

#endif
