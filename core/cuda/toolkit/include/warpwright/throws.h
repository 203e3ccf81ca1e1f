/* What functions of the standard library call where they throw: device code, which cannot, stops. */
#ifndef WARPWRIGHT_THROWS_H
#define WARPWRIGHT_THROWS_H

#define WARPWRIGHT_THROWS(name, parameters)                                                                  \
    __attribute__((device, noreturn)) inline void name parameters {                                          \
        __builtin_trap();                                                                                    \
        __builtin_unreachable();                                                                             \
    }

namespace std {
WARPWRIGHT_THROWS(__throw_bad_alloc, (void))
WARPWRIGHT_THROWS(__throw_bad_function_call, ())
WARPWRIGHT_THROWS(__throw_bad_optional_access, ())
WARPWRIGHT_THROWS(__throw_bad_variant_access, (const char *))
WARPWRIGHT_THROWS(__throw_bad_variant_access, (bool))
WARPWRIGHT_THROWS(__throw_domain_error, (const char *))
WARPWRIGHT_THROWS(__throw_invalid_argument, (const char *))
WARPWRIGHT_THROWS(__throw_length_error, (const char *))
WARPWRIGHT_THROWS(__throw_logic_error, (const char *))
WARPWRIGHT_THROWS(__throw_out_of_range, (const char *))
WARPWRIGHT_THROWS(__throw_overflow_error, (const char *))
WARPWRIGHT_THROWS(__throw_range_error, (const char *))
WARPWRIGHT_THROWS(__throw_runtime_error, (const char *))
template <class... Arguments> WARPWRIGHT_THROWS(__throw_out_of_range_fmt, (const char *, Arguments...))
} // namespace std

#undef WARPWRIGHT_THROWS

#endif
