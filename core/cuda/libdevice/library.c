// The library as two translation units: REAL_BITS=32 is the functions of float, REAL_BITS=64 those of double and of
// integers.
#include "bessel.c"
#include "error_function.c"
#include "exponential.c"
#include "gamma.c"
#include "logarithm.c"
#include "power.c"
#include "remainder.c"
#include "roots.c"
#include "rounding.c"
#include "trigonometry.c"

#if REAL_BITS == 64
#include "arithmetic.c"
#include "conversion.c"
#include "integer.c"
#include "packed.c"
#endif
