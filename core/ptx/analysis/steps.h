/* How much work it was to load modules, for tests that bound it: a time would depend on what else the host
 * does. Counted is what could grow faster than the text. */
#ifndef WW_PTX_STEPS_H
#define WW_PTX_STEPS_H

#include <stdint.h>

extern _Thread_local uint64_t ptx_steps;

#endif
