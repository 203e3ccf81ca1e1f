/* How the selectors of a video instruction, `d.h1, a.b3, -b`, are written as one number, which stands behind the
 * operands: the parser makes it, the handler reads it. */
#ifndef WW_PTX_VIDEO_H
#define WW_PTX_VIDEO_H

#include <stdint.h>

/* Of a scalar instruction each operand has a VideoPart. Of a SIMD instruction d has the mask of its elements, a and b
 * have the number of the element of {b, a} that each of theirs is, 3 bits each. */
typedef enum {
    PART_WORD,
    PART_B0,
    PART_B1,
    PART_B2,
    PART_B3,
    PART_H0,
    PART_H1,
} VideoPart;

enum {
    VIDEO_D_MASK = 0xf,
    VIDEO_A_SHIFT = 4,
    VIDEO_B_SHIFT = 16,
    VIDEO_SOURCE_MASK = 0xfff,
    VIDEO_NEGATES_PRODUCT = 1 << 28, /* vmad */
    VIDEO_NEGATES_SUM = 1 << 29,     /* vmad: c */
};

#endif
