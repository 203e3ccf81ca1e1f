/* A name that programs include. */
#include "surface_types.h"
