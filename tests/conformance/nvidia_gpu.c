#include "tests/conformance/nvidia_gpu.h"

#include <dlfcn.h>
#include <lauxlib.h>
#include <stdint.h>
#include <stdio.h>

/* Of the CUDA driver API, whose types and numbers are fixed: what is called here. */
typedef int Status;
typedef void *Handle;
typedef uint64_t Address;

enum {
    ATTRIBUTE_SMS = 16,
    JIT_ERROR_LOG = 5,
    JIT_ERROR_LOG_SIZE = 6,
    MAX_ARGS = 256,
    LOG_SIZE = 4096,
};

static struct {
    Status (*init)(unsigned flags);
    Status (*device_get)(int *device, int number);
    Status (*device_name)(char *name, int size, int device);
    Status (*device_attribute)(int *value, int attribute, int device);
    Status (*context_create)(Handle *context, unsigned flags, int device);
    Status (*context_destroy)(Handle context);
    Status (*synchronize)(void);
    Status (*memory_alloc)(Address *address, size_t bytes);
    Status (*memory_free)(Address address);
    Status (*copy_to_device)(Address to, const void *from, size_t bytes);
    Status (*copy_to_host)(void *to, Address from, size_t bytes);
    Status (*fill)(Address to, unsigned char byte, size_t count);
    Status (*module_load)(Handle *module, const void *text, unsigned count, int *options, void **values);
    Status (*module_unload)(Handle module);
    Status (*module_function)(Handle *function, Handle module, const char *name);
    Status (*launch)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                     unsigned block_y, unsigned block_z, unsigned shared, Handle stream, void **args,
                     void **extra);
    Status (*error_name)(Status status, const char **name);
} driver;

static Handle context;
static int device;

static const struct {
    const char *symbol;
    void *at;
} symbols[] = {
    {"cuInit", &driver.init},
    {"cuDeviceGet", &driver.device_get},
    {"cuDeviceGetName", &driver.device_name},
    {"cuDeviceGetAttribute", &driver.device_attribute},
    {"cuCtxCreate_v2", &driver.context_create},
    {"cuCtxDestroy_v2", &driver.context_destroy},
    {"cuCtxSynchronize", &driver.synchronize},
    {"cuMemAlloc_v2", &driver.memory_alloc},
    {"cuMemFree_v2", &driver.memory_free},
    {"cuMemcpyHtoD_v2", &driver.copy_to_device},
    {"cuMemcpyDtoH_v2", &driver.copy_to_host},
    {"cuMemsetD8_v2", &driver.fill},
    {"cuModuleLoadDataEx", &driver.module_load},
    {"cuModuleUnload", &driver.module_unload},
    {"cuModuleGetFunction", &driver.module_function},
    {"cuLaunchKernel", &driver.launch},
    {"cuGetErrorName", &driver.error_name},
};

static const char *name_of(Status status) {
    const char *name = NULL;
    return driver.error_name(status, &name) == 0 && name ? name : "an unknown error";
}

static void check(lua_State *L, Status status, const char *what) {
    if (status != 0) luaL_error(L, "%s: %s", what, name_of(status));
}

static int no_gpu(lua_State *L, const char *reason) {
    lua_pushnil(L);
    lua_pushstring(L, reason);
    return 2;
}

static int open(lua_State *L) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return no_gpu(L, dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *(void **)symbols[i].at = dlsym(library, symbols[i].symbol);
        if (!*(void **)symbols[i].at) return no_gpu(L, dlerror());
    }
    Status status = driver.init(0);
    if (status == 0) status = driver.device_get(&device, 0);
    if (status == 0) status = driver.context_create(&context, 0, device);
    if (status != 0) return no_gpu(L, name_of(status));
    char name[96] = "";
    int sms = 0;
    check(L, driver.device_name(name, sizeof name, device), "the GPU's name");
    check(L, driver.device_attribute(&sms, ATTRIBUTE_SMS, device), "the number of its SMs");
    lua_pushstring(L, name);
    lua_pushinteger(L, sms);
    return 2;
}

static int memory_alloc(lua_State *L) {
    Address address;
    check(L, driver.memory_alloc(&address, (size_t)luaL_checkinteger(L, 1)), "alloc");
    lua_pushinteger(L, (lua_Integer)address);
    return 1;
}

/* What a fault has taken away is freed. */
static int memory_free(lua_State *L) {
    driver.memory_free((Address)luaL_checkinteger(L, 1));
    return 0;
}

static int copy_to_device(lua_State *L) {
    size_t size;
    const char *bytes = luaL_checklstring(L, 2, &size);
    if (size > 0) check(L, driver.copy_to_device((Address)luaL_checkinteger(L, 1), bytes, size), "write");
    return 0;
}

static int copy_to_host(lua_State *L) {
    size_t size = (size_t)luaL_checkinteger(L, 2);
    luaL_Buffer buffer;
    char *bytes = luaL_buffinitsize(L, &buffer, size);
    if (size > 0) check(L, driver.copy_to_host(bytes, (Address)luaL_checkinteger(L, 1), size), "read");
    luaL_pushresultsize(&buffer, size);
    return 1;
}

static int fill(lua_State *L) {
    check(L,
          driver.fill((Address)luaL_checkinteger(L, 1), (unsigned char)luaL_checkinteger(L, 2),
                      (size_t)luaL_checkinteger(L, 3)),
          "fill");
    return 0;
}

static int module_load(lua_State *L) {
    static char log[LOG_SIZE];
    int options[] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    Handle module = NULL;
    *log = '\0';
    Status status = driver.module_load(&module, luaL_checkstring(L, 1), 2, options, values);
    if (status == 0) {
        lua_pushlightuserdata(L, module);
        return 1;
    }
    lua_pushnil(L);
    lua_pushfstring(L, "%s %s", name_of(status), log);
    return 2;
}

static int module_unload(lua_State *L) {
    driver.module_unload(lua_touserdata(L, 1));
    return 0;
}

/* A context in which a kernel has failed is of no use any more. */
static void renew_context(lua_State *L) {
    driver.context_destroy(context);
    check(L, driver.context_create(&context, 0, device), "the GPU behind a fault");
}

static int launch(lua_State *L) {
    uint64_t values[MAX_ARGS];
    void *args[MAX_ARGS];
    unsigned shape[6];
    lua_Integer count = luaL_len(L, 5);
    luaL_argcheck(L, count <= MAX_ARGS, 5, "too many");
    for (int i = 0; i < count; i++) {
        lua_rawgeti(L, 5, i + 1);
        values[i] = (uint64_t)luaL_checkinteger(L, -1);
        args[i] = &values[i];
        lua_pop(L, 1);
    }
    for (int i = 0; i < 6; i++) {
        lua_rawgeti(L, 3, i + 1);
        shape[i] = (unsigned)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    Handle function = NULL;
    check(L, driver.module_function(&function, lua_touserdata(L, 1), luaL_checkstring(L, 2)),
          lua_tostring(L, 2));
    Status status = driver.launch(function, shape[0], shape[1], shape[2], shape[3], shape[4], shape[5],
                                  (unsigned)luaL_checkinteger(L, 4), NULL, args, NULL);
    if (status == 0) status = driver.synchronize();
    if (status == 0) return 0;
    lua_pushstring(L, name_of(status));
    renew_context(L);
    return 1;
}

int nvidia_gpu_open_module(lua_State *L) {
    static const luaL_Reg functions[] = {{"open", open},         {"alloc", memory_alloc},
                                         {"free", memory_free},  {"write", copy_to_device},
                                         {"read", copy_to_host}, {"fill", fill},
                                         {"load", module_load},  {"unload", module_unload},
                                         {"launch", launch},     {NULL, NULL}};
    luaL_newlib(L, functions);
    return 1;
}
