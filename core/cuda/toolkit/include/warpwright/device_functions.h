/* What device code has without an #include, beyond what clang declares. */
#ifndef WARPWRIGHT_DEVICE_FUNCTIONS_H
#define WARPWRIGHT_DEVICE_FUNCTIONS_H

#include "synchronization.h"

#endif
