/* A name that programs include. */
#include "texture_types.h"
