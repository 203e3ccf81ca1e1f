/* Class `UtilityMonitor`, of a cache: how many hits each SM, or each class of requests, would have with any
 * number of ways to itself (UMON-DSS: Qureshi & Patt, MICRO 2006, section 3). For each of them it keeps an
 * auxiliary tag directory of some sampled sets, under LRU, and a counter of hits for each place in the order
 * of use. A cache with LRU has the stack property: a hit at place n, counted from 0, needs n + 1 ways.
 *
 * Of an L1, writes and atomics that go on below and take no line are left out. */
#ifndef WW_MEM_UTILITY_MONITOR_H
#define WW_MEM_UTILITY_MONITOR_H

#include "core/sim/object.h"

extern const Class utility_monitor_class;

#endif
