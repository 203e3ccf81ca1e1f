/* What device code calls of the C library where clang puts in no instructions of its own: std::string_view, std::array and
 * the like do for strings and comparisons. Before <cstring>, whose using-declarations take what is there. The functions that
 * programs name are templates, so that a program's own go first; what clang calls are the symbols. */
#ifndef WARPWRIGHT_C_LIBRARY_H
#define WARPWRIGHT_C_LIBRARY_H

#include <stddef.h>

#define WARPWRIGHT_FUNCTION(type, name, symbol, parameters, arguments)                                       \
    __attribute__((device, nothrow)) inline type __warpwright_##name parameters __asm__(symbol);             \
    template <class = void> __attribute__((device, nothrow)) inline type name parameters {                   \
        return __warpwright_##name arguments;                                                                \
    }                                                                                                        \
    __attribute__((device, nothrow)) inline type __warpwright_##name parameters

extern "C++" {
WARPWRIGHT_FUNCTION(size_t, strlen, "strlen", (const char *text), (text)) {
    size_t count = 0;
    while (text[count])
        count++;
    return count;
}

WARPWRIGHT_FUNCTION(int, memcmp, "memcmp", (const void *a, const void *b, size_t count), (a, b, count)) {
    const unsigned char *one = (const unsigned char *)a, *other = (const unsigned char *)b;
    for (size_t i = 0; i < count; i++)
        if (one[i] != other[i]) return one[i] < other[i] ? -1 : 1;
    return 0;
}

WARPWRIGHT_FUNCTION(int, strncmp, "strncmp", (const char *a, const char *b, size_t count), (a, b, count)) {
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
        if (!a[i]) break;
    }
    return 0;
}

WARPWRIGHT_FUNCTION(int, strcmp, "strcmp", (const char *a, const char *b), (a, b)) {
    return __warpwright_strncmp(a, b, (size_t)-1);
}

WARPWRIGHT_FUNCTION(void *, memmove, "memmove", (void *to, const void *from, size_t count),
                    (to, from, count)) {
    return __builtin_memmove(to, from, count);
}

WARPWRIGHT_FUNCTION(char *, strncpy, "strncpy", (char *to, const char *from, size_t count),
                    (to, from, count)) {
    size_t i = 0;
    for (; i < count && from[i]; i++)
        to[i] = from[i];
    for (; i < count; i++)
        to[i] = 0;
    return to;
}

WARPWRIGHT_FUNCTION(char *, strcpy, "strcpy", (char *to, const char *from), (to, from)) {
    for (size_t i = 0; (to[i] = from[i]) != 0; i++)
        ;
    return to;
}

WARPWRIGHT_FUNCTION(char *, strcat, "strcat", (char *to, const char *from), (to, from)) {
    __warpwright_strcpy(to + __warpwright_strlen(to), from);
    return to;
}

/* glibc has two of each in C++, for text that may be changed and for text that may not. */
#define WARPWRIGHT_SEARCHES(type, suffix)                                                                    \
    WARPWRIGHT_FUNCTION(type void *, memchr, "memchr" suffix, (type void *from, int value, size_t count),    \
                        (from, value, count)) {                                                              \
        type unsigned char *bytes = (type unsigned char *)from;                                              \
        for (size_t i = 0; i < count; i++)                                                                   \
            if (bytes[i] == (unsigned char)value) return bytes + i;                                          \
        return NULL;                                                                                         \
    }                                                                                                        \
    WARPWRIGHT_FUNCTION(type char *, strchr, "strchr" suffix, (type char *text, int value), (text, value)) { \
        while (*text != (char)value)                                                                         \
            if (!*text++) return NULL;                                                                       \
        return text;                                                                                         \
    }                                                                                                        \
    WARPWRIGHT_FUNCTION(type char *, strstr, "strstr" suffix, (type char *text, const char *part),           \
                        (text, part)) {                                                                      \
        for (size_t count = __warpwright_strlen(part); *text || !count; text++)                              \
            if (__warpwright_strncmp(text, part, count) == 0) return text;                                   \
        return NULL;                                                                                         \
    }

WARPWRIGHT_SEARCHES(const, "")
WARPWRIGHT_SEARCHES(, "_of_changeable")
}

#undef WARPWRIGHT_SEARCHES
#undef WARPWRIGHT_FUNCTION

#endif
