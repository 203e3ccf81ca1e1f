/* The conservation of answers: every answer that an object awaits is on its way exactly once, as the request, its
 * answer, or what somebody keeps of the request meanwhile. They are held against each other by walking
 * through the whole machine: each message on a link, and each request inside an object, leads back to who has
 * asked.
 */
#ifndef WW_SIM_ANSWERS_H
#define WW_SIM_ANSWERS_H

#include "core/sim/sim.h"

/* Panics when an answer is on its way that nobody awaits, or one is awaited that is not. */
void answers_check(const Sim *sim);

#endif
