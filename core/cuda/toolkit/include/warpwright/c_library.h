/* What device code calls of the C library where clang puts in no instructions of its own: std::string_view, std::array and
 * the like do for strings and comparisons. Before <cstring>, whose using-declarations take what is there. */
#ifndef WARPWRIGHT_C_LIBRARY_H
#define WARPWRIGHT_C_LIBRARY_H

#include <stddef.h>

#define WARPWRIGHT_DEVICE __attribute__((device, pure, nothrow)) inline

extern "C" {
WARPWRIGHT_DEVICE size_t strlen(const char *text) {
    size_t count = 0;
    while (text[count])
        count++;
    return count;
}

WARPWRIGHT_DEVICE int memcmp(const void *a, const void *b, size_t count) {
    const unsigned char *one = (const unsigned char *)a, *other = (const unsigned char *)b;
    for (size_t i = 0; i < count; i++)
        if (one[i] != other[i]) return one[i] < other[i] ? -1 : 1;
    return 0;
}

WARPWRIGHT_DEVICE int strncmp(const char *a, const char *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
        if (!a[i]) break;
    }
    return 0;
}

WARPWRIGHT_DEVICE int strcmp(const char *a, const char *b) {
    return strncmp(a, b, (size_t)-1);
}

__attribute__((device, nothrow)) inline void *memmove(void *to, const void *from, size_t count) {
    return __builtin_memmove(to, from, count);
}

__attribute__((device, nothrow)) inline char *strncpy(char *to, const char *from, size_t count) {
    size_t i = 0;
    for (; i < count && from[i]; i++)
        to[i] = from[i];
    for (; i < count; i++)
        to[i] = 0;
    return to;
}

__attribute__((device, nothrow)) inline char *strcpy(char *to, const char *from) {
    for (size_t i = 0; (to[i] = from[i]) != 0; i++)
        ;
    return to;
}

__attribute__((device, nothrow)) inline char *strcat(char *to, const char *from) {
    strcpy(to + strlen(to), from);
    return to;
}
}

/* glibc has two of each in C++, under one symbol. */
#define WARPWRIGHT_SEARCHES(type, symbol)                                                                    \
    WARPWRIGHT_DEVICE type void *memchr(type void *from, int value, size_t count) __asm__(symbol);           \
    WARPWRIGHT_DEVICE type void *memchr(type void *from, int value, size_t count) {                          \
        type unsigned char *bytes = (type unsigned char *)from;                                              \
        for (size_t i = 0; i < count; i++)                                                                   \
            if (bytes[i] == (unsigned char)value) return bytes + i;                                          \
        return NULL;                                                                                         \
    }                                                                                                        \
    WARPWRIGHT_DEVICE type char *strchr(type char *text, int value) {                                        \
        while (*text != (char)value)                                                                         \
            if (!*text++) return NULL;                                                                       \
        return text;                                                                                         \
    }                                                                                                        \
    WARPWRIGHT_DEVICE type char *strstr(type char *text, const char *part) {                                 \
        for (size_t count = strlen(part); *text || !count; text++)                                           \
            if (strncmp(text, part, count) == 0) return text;                                                \
        return NULL;                                                                                         \
    }

extern "C++" {
WARPWRIGHT_SEARCHES(const, "memchr")
WARPWRIGHT_SEARCHES(, "__warpwright_memchr")
}

#undef WARPWRIGHT_SEARCHES
#undef WARPWRIGHT_DEVICE

#endif
