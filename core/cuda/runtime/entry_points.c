/* Functions of the driver API by name. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "core/cuda/runtime/driver.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { FOUND, NAME_NOT_FOUND };

/* Functions whose later versions write or read parameters that the earlier ones do not have, the latest first, and the
 * version of CUDA that each is from. Of all others _v2 does for every version. */
static const struct {
    const char *name;
    int from;
    const char *suffix;
} versions[] = {
    {"cuCtxCreate", 12050, "_v4"},
    {"cuCtxCreate", 11040, "_v3"},
    {"cuCtxCreate", 0, "_v2"},
    {"cuGetProcAddress", 12000, "_v2"},
    {"cuGetProcAddress", 0, ""},
    {"cuStreamGetCtx", 12050, "_v2"},
    {"cuStreamGetCtx", 0, ""},
    {"cuStreamBeginCapture", 10010, "_v2"},
    {"cuStreamBeginCapture", 0, ""},
    {"cuStreamGetCaptureInfo", 12030, "_v3"},
    {"cuStreamGetCaptureInfo", 11030, "_v2"},
    {"cuStreamGetCaptureInfo", 0, ""},
    {"cuStreamUpdateCaptureDependencies", 12030, "_v2"},
    {"cuStreamUpdateCaptureDependencies", 0, ""},
    {"cuGraphInstantiate", 12000, "WithFlags"},
    {"cuGraphExecUpdate", 12000, "_v2"},
    {"cuGraphExecUpdate", 0, ""},
    {"cuGraphAddKernelNode", 12000, "_v2"},
    {"cuGraphAddKernelNode", 0, ""},
    {"cuGraphKernelNodeGetParams", 12000, "_v2"},
    {"cuGraphKernelNodeGetParams", 0, ""},
    {"cuGraphKernelNodeSetParams", 12000, "_v2"},
    {"cuGraphKernelNodeSetParams", 0, ""},
    {"cuGraphExecKernelNodeSetParams", 12000, "_v2"},
    {"cuGraphExecKernelNodeSetParams", 0, ""},
    {"cuGraphGetEdges", 12030, "_v2"},
    {"cuGraphGetEdges", 0, ""},
    {"cuGraphNodeGetDependencies", 12030, "_v2"},
    {"cuGraphNodeGetDependencies", 0, ""},
    {"cuGraphNodeGetDependentNodes", 12030, "_v2"},
    {"cuGraphNodeGetDependentNodes", 0, ""},
    {"cuGraphAddDependencies", 12030, "_v2"},
    {"cuGraphAddDependencies", 0, ""},
    {"cuGraphRemoveDependencies", 12030, "_v2"},
    {"cuGraphRemoveDependencies", 0, ""},
    {"cuGraphAddNode", 12030, "_v2"},
    {"cuGraphAddNode", 0, ""},
};

static const char *suffix_of(const char *name, int version) {
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (!strcmp(versions[i].name, name) && version >= versions[i].from) return versions[i].suffix;
    return "_v2";
}

enum { PER_THREAD_DEFAULT_STREAM = 2 };

/* The function of that name, or the one that programs with a default stream for each thread call. */
static void *find(void *library, const char *name, const char *suffix, uint64_t flags) {
    static const char *const per_thread[] = {"_ptsz", "_ptds", ""};
    char whole[128];
    void *found = NULL;
    for (int i = flags & PER_THREAD_DEFAULT_STREAM ? 0 : 2; i < 3 && !found; i++) {
        snprintf(whole, sizeof whole, "%s%s%s", name, suffix, per_thread[i]);
        found = dlsym(library, whole);
    }
    return found;
}

void *warp_entry_point(const char *name, int version, uint64_t flags) {
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *found = NULL;
    if (!library) return NULL;
    /* dlsym() looks into the C library, too */
    if (!strncmp(name, "cu", 2) && isupper((unsigned char)name[2])) {
        found = find(library, name, suffix_of(name, version), flags);
        if (!found) found = find(library, name, "", flags);
    }
    dlclose(library);
    return found;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
    if (!name || !function) return CUDA_INVALID_VALUE;
    *function = warp_entry_point(name, version, flags);
    return *function ? CUDA_OK : CUDA_NOT_FOUND;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    CUresult problem = cuGetProcAddress(name, function, version, flags);
    if (problem == CUDA_INVALID_VALUE) return problem;
    if (status) *status = problem ? NAME_NOT_FOUND : FOUND;
    return CUDA_OK;
}

/* NVIDIA's own runtime asks for tables of functions without names. */
CUresult cuGetExportTable(const void **table, const void *id) {
    static bool is_told;
    (void)id;
    if (!is_told)
        fprintf(stderr,
                "warpwright: expected a program that is linked to the shared CUDA runtime, got one that has "
                "its own; link it with 'nvcc -cudart shared'\n");
    is_told = true;
    if (table) *table = NULL;
    return CUDA_NOT_SUPPORTED;
}
