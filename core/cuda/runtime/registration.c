/* What programs register before main(): fat binaries, and what in them stands behind which of their own functions and
 * variables. Nothing is sent yet: a program may never ask for it. */
#include "core/cuda/runtime/mistakes.h"
#include "core/cuda/runtime/pointer_table.h"
#include "core/cuda/runtime/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { ENTRY_FUNCTION, ENTRY_VARIABLE, ENTRY_MANAGED, ENTRY_MANAGED_COPY, ENTRY_TEXTURE } EntryKind;

typedef struct Entry {
    struct Entry *next_managed, *next_texture;
    const void *host;
    WarpModule *module;
    uint32_t part; /* of the module that registers it; 0: nobody says */
    char *name;
    WarpFunction *function;
    EntryKind kind;
    bool normalized_float, is_ambiguous, is_told; /* that it is not there */
} Entry;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static PointerTable entries; /* by `host`, each in memory of its own, which goes with the process */
/* In the order of registration, so that each run asks for the same in the same order. */
static Entry *first_managed, **next_managed = &first_managed;
static Entry *textures;
static uint32_t current_part; /* while it registers what it has */

static bool is_managed(const Entry *entry) {
    return entry->kind == ENTRY_MANAGED || entry->kind == ENTRY_MANAGED_COPY;
}

static Entry *insert(const void *host, const Entry *what) {
    Entry *entry = malloc(sizeof *entry);
    if (!entry) abort();
    *entry = *what;
    entry->host = host;
    pointer_table_put(&entries, host, entry);
    return entry;
}

/* A static reference has its name alone, also where files are linked to each other: clang gives only variables and kernels
 * one of their own then. */
static void note_texture(Entry *entry) {
    for (Entry *other = textures; other; other = other->next_texture)
        if (other->module == entry->module && other->host != entry->host && !strcmp(other->name, entry->name))
            other->is_ambiguous = entry->is_ambiguous = true;
    entry->next_texture = textures;
    textures = entry;
}

/* A kernel is found by its own handle, too: newer programs ask for that first. */
static Entry *add(void **handle, const void *host, const char *name, EntryKind kind) {
    WarpModule *module = (WarpModule *)handle;
    Entry what = {.module = module, .part = current_part, .name = strdup(name), .kind = kind};
    pthread_mutex_lock(&guard);
    if (kind == ENTRY_FUNCTION) {
        what.function = warp_function(module, name);
        what.function->symbol = host;
        insert(what.function, &what);
    }
    Entry *entry = insert(host, &what);
    if (is_managed(entry)) {
        *next_managed = entry;
        next_managed = &entry->next_managed;
    }
    if (kind == ENTRY_TEXTURE) note_texture(entry);
    pthread_mutex_unlock(&guard);
    return entry;
}

static Entry *find(const void *host, EntryKind kind, EntryKind or_kind) {
    if (!host) return NULL;
    pthread_mutex_lock(&guard);
    Entry *entry = pointer_table_get(&entries, host);
    pthread_mutex_unlock(&guard);
    return entry && (entry->kind == kind || entry->kind == or_kind) ? entry : NULL;
}

WarpFunction *runtime_function(const void *function) {
    const Entry *entry = find(function, ENTRY_FUNCTION, ENTRY_FUNCTION);
    return entry ? entry->function : warp_known_function(function);
}

/* A managed variable is its own address in the program. */
static int managed_symbol(const void *symbol, uint64_t *address, uint64_t *bytes) {
    const WarpRange *range = warp_range((uint64_t)symbol);
    if (!range || range->start != (uint64_t)symbol) return CUDA_INVALID_SYMBOL;
    if (range->kind != RANGE_VARIABLE && range->kind != RANGE_MANAGED_COPY) return CUDA_INVALID_SYMBOL;
    *address = range->start;
    *bytes = range->bytes;
    return CUDA_OK;
}

/* clang's PTX has no variables with internal linkage that nothing in it uses, but for static ones that are not const. */
static void tell_missing(Entry *entry) {
    if (entry->is_told) return;
    entry->is_told = true;
    fprintf(
        stderr,
        "warpwright: variable %s: no kernel uses it, and clang leaves out variables of the device that are "
        "const, or in an unnamed namespace, unless a kernel does\n",
        entry->name);
}

int runtime_symbol(const void *symbol, uint64_t *address, uint64_t *bytes) {
    Entry *entry = find(symbol, ENTRY_VARIABLE, ENTRY_MANAGED);
    if (!entry) {
        int unknown = managed_symbol(symbol, address, bytes);
        if (unknown) warp_tell_symbol(symbol);
        return unknown;
    }
    int problem = warp_variable(entry->module, entry->part, entry->name, address, bytes);
    if (problem == CUDA_INVALID_SYMBOL) tell_missing(entry);
    return problem;
}

bool runtime_texture(const void *reference, WarpModule **module, const char **name, bool *normalized_float) {
    const Entry *entry = find(reference, ENTRY_TEXTURE, ENTRY_TEXTURE);
    if (!entry) return false;
    if (entry->is_ambiguous) {
        fprintf(
            stderr,
            "warpwright: texture reference %s: several files of a program with -rdc=true have a static one "
            "of this name; each needs a name of its own\n",
            entry->name);
        return false;
    }
    *module = entry->module;
    *name = entry->name;
    *normalized_float = entry->normalized_float;
    return true;
}

/* --- What compiled programs call ---------------------------------------------------------------- */

/* Of version 2 are programs with relocatable device code: `parts` are the images that were linked. */
typedef struct {
    uint32_t magic, version;
    const void *image;
    const void *const *parts; /* up to a NULL */
} FatBinaryWrapper;

void **__cudaRegisterFatBinary(void *fatbin) {
    const FatBinaryWrapper *wrapper = fatbin;
    if (wrapper->version < 2 || !wrapper->parts || !*wrapper->parts)
        return (void **)warp_module_new(wrapper->image, warp_image_bytes(wrapper->image));
    WarpModule *module = warp_module_new(NULL, 0);
    for (const void *const *part = wrapper->parts; *part; part++)
        warp_module_link(module, *part);
    return (void **)module;
}

/* What `warpwright nvcc` links into programs with relocatable device code calls it for each of their parts, before
 * main(). `*group` is the module of all of them, NULL before the first. */
void __cudaLinkFatBinary(void ***group, void *fatbin, void (*register_globals)(void **));
void __cudaLinkFatBinary(void ***group, void *fatbin, void (*register_globals)(void **)) {
    if (!*group) *group = (void **)warp_module_new(NULL, 0);
    current_part = warp_module_link((WarpModule *)*group, ((const FatBinaryWrapper *)fatbin)->image);
    register_globals(*group);
    current_part = 0;
}

/* The end of the program or of a library: whatever it had goes with the process. */
void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                            void *thread, void *block, void *block_extent, void *grid_extent, int *warp);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int thread_limit,
                            void *thread, void *block, void *block_extent, void *grid_extent, int *warp) {
    (void)device, (void)thread_limit, (void)thread, (void)block, (void)block_extent, (void)grid_extent,
        (void)warp;
    add(handle, host, name, ENTRY_FUNCTION);
}

/* Where parts of the program keep the managed variables that `warpwright nvcc` compiled. */
typedef struct ManagedSection {
    struct ManagedSection *next;
    const char *start, *stop;
} ManagedSection;

static ManagedSection *managed_sections;

static bool is_managed_copy(const char *host) {
    const ManagedSection *section = managed_sections;
    while (section && (host < section->start || host >= section->stop))
        section = section->next;
    return section;
}

/* Copies are compared at each launch, so that a library that has some stays when the program unloads it. */
static void keep_library(const void *address) {
    Dl_info library;
    if (dladdr(address, &library)) dlopen(library.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    dlerror();
}

/* Each file of a program calls it, before it registers anything. */
void __cudaManagedSection(const char *start, const char *stop);
void __cudaManagedSection(const char *start, const char *stop) {
    if (is_managed_copy(start)) return;
    ManagedSection *section = malloc(sizeof *section);
    if (!section) abort();
    *section = (ManagedSection){managed_sections, start, stop};
    managed_sections = section;
    keep_library(start);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                       int is_constant, int is_global);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                       int is_constant, int is_global) {
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    add(handle, host, name, is_managed_copy(host) ? ENTRY_MANAGED_COPY : ENTRY_VARIABLE);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int is_extern,
                              size_t bytes, int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int is_extern,
                              size_t bytes, int is_constant, int is_global) {
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    add(handle, host, name, ENTRY_MANAGED);
}

void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                           int dimensions, int normalized, int is_extern);
void __cudaRegisterTexture(void **handle, const void *host, const void **device, const char *name,
                           int dimensions, int normalized, int is_extern) {
    (void)device, (void)dimensions, (void)is_extern;
    add(handle, host, name, ENTRY_TEXTURE)->normalized_float = normalized != 0;
}

void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                           int dimensions, int is_extern);
void __cudaRegisterSurface(void **handle, const void *host, const void **device, const char *name,
                           int dimensions, int is_extern) {
    (void)device, (void)dimensions, (void)is_extern;
    add(handle, host, name, ENTRY_TEXTURE);
}

/* Managed variables of the program are pointers to where both sides find them, or copies. */
static int place_managed_entry(const Entry *entry) {
    uint64_t address, bytes;
    int problem = warp_variable(entry->module, entry->part, entry->name, &address, &bytes);
    if (problem) return problem;
    if (entry->kind == ENTRY_MANAGED_COPY)
        return warp_note_managed_copy((uint64_t)entry->host, address, bytes);
    *(void **)(uintptr_t)entry->host = (void *)address;
    return warp_note_variable(address, bytes, true);
}

int runtime_place_managed(const WarpModule *module) {
    int problem = CUDA_OK;
    pthread_mutex_lock(&guard); /* a library that is loaded meanwhile would move them */
    for (const Entry *entry = first_managed; entry && !problem; entry = entry->next_managed)
        if (!module || entry->module == module) problem = place_managed_entry(entry);
    pthread_mutex_unlock(&guard);
    return problem;
}

/* Compiled programs call it before they look at a managed variable. */
char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle) {
    int problem = warp_enter();
    if (!problem) problem = runtime_place_managed((const WarpModule *)handle);
    return runtime_leave(problem) == cudaSuccess;
}

static bool has_managed_copies(const WarpModule *module) {
    bool has = false;
    pthread_mutex_lock(&guard);
    for (const Entry *entry = first_managed; entry && !has; entry = entry->next_managed)
        has = entry->kind == ENTRY_MANAGED_COPY && entry->module == module;
    pthread_mutex_unlock(&guard);
    return has;
}

/* Copies have the initial values from the device: the program may read them before it calls anything. */
void __cudaRegisterFatBinaryEnd(void **handle) {
    if (has_managed_copies((const WarpModule *)handle)) __cudaInitModule(handle);
}
