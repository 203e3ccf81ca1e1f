/* The name that somebody meant who misspelt it. */
#ifndef WW_SIM_NEAR_NAME_H
#define WW_SIM_NEAR_NAME_H

#include <stddef.h>

typedef struct {
    const char *misspelt;
    const char *name; /* the nearest of those tried; NULL: none is near */
    size_t distance;  /* its own, or the smallest that is no longer near */
} NearName;

NearName near_name(const char *misspelt);
void near_name_try(NearName *near, const char *candidate);

#endif
