/* Tells libcudart where the program's copies of managed variables are, before clang registers any variable. */
#ifndef WARPWRIGHT_MANAGED_VARIABLES_H
#define WARPWRIGHT_MANAGED_VARIABLES_H

#if defined(__CUDA__) && __CUDA_ARCH__ == 9999

extern "C" {
/* The linker's names for the bounds of a section; 0 where there is none. */
extern const char __start_warpwright_managed[] __attribute__((weak, visibility("hidden")));
extern const char __stop_warpwright_managed[] __attribute__((weak, visibility("hidden")));
void __cudaManagedSection(const char *start, const char *stop);
}

static __attribute__((constructor(101))) void __warpwright_managed_section() {
    if (__start_warpwright_managed)
        __cudaManagedSection(__start_warpwright_managed, __stop_warpwright_managed);
}

#endif
#endif
