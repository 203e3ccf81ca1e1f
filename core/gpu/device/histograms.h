/* What --histograms counts: how long loads took, by where their data came from, and over time how many requests stood
 * in queues and how many warps were resident. It looks on, at the ticks of the objects and at what answers the L1s
 * get; each object counts for itself, so that no order and no thread can change a sum. A run without it pays
 * nothing. */
#ifndef WW_GPU_HISTOGRAMS_H
#define WW_GPU_HISTOGRAMS_H

#include "core/sim/base/histogram.h"
#include "core/sim/checkpoint/buffer.h"
#include "core/sim/sim.h"

typedef struct Histograms Histograms;

/* Looks on from now on, at an elaborated machine. */
Histograms *histograms_new(Sim *sim);
void histograms_free(Histograms *histograms);

/* One of them: the object's, under its name. */
typedef struct {
    const SimObject *object;
    const char *name, *unit;
    const Histogram *histogram;
} NamedHistogram;

/* In the order of the objects; lengths of queues count each cycle up to now. Returns how many there are; those from
 * `capacity` on are left out. Between quanta. */
uint32_t histograms_list(Histograms *histograms, NamedHistogram *list, uint32_t capacity);

/* For checkpoints, between quanta. */
void histograms_save(Histograms *histograms, Buffer *buffer);
/* After the machine has its saved state. False when the bytes are of another machine, or damaged. */
bool histograms_load(Histograms *histograms, Reader *reader);
/* They are empty, and count from now on. */
void histograms_restart(Histograms *histograms);

#endif
