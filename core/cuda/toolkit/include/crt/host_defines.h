/* A name that programs include. */
#include "../host_defines.h"
