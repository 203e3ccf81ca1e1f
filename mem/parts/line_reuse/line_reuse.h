/* Whose data a cache's hits find (Khairy et al., section 3.1): each hit is classed by who touched the line
 * before. */
#ifndef WW_MEM_LINE_REUSE_H
#define WW_MEM_LINE_REUSE_H

#include "core/sim/object.h"

extern const Class line_reuse_class;

#endif
