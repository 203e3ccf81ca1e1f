/* A name that programs include. */
#include "../nvToolsExt.h"
