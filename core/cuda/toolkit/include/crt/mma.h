/* A name that programs include. */
#include "../mma.h"
