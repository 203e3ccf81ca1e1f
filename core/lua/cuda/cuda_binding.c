/* CUDA programs as Lua's host program sees them: their questions and answers, and the device memory that they
 * share with the simulator. */
#include "core/lua/bindings.h"
#include "core/lua/cuda/channel.h"
#include "core/lua/cuda/unpack.h"
#include "core/lua/device/checkpoint.h"
#include "core/lua/host/signals.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char channel_type[] = "warpwright.channel";

typedef struct {
    Channel channel;
    int memory; /* file of the device memory */
} ChannelRef;

static ChannelRef *channel_at(lua_State *L, int index) {
    return luaL_checkudata(L, index, channel_type);
}

/* The words of a list at index 1, ends with NULL; they stay on the stack. */
static char **words_of(lua_State *L) {
    lua_Integer count = luaL_len(L, 1);
    luaL_checkstack(L, (int)count + 8, "too many arguments");
    char **words = lua_newuserdatauv(L, ((size_t)count + 1) * sizeof *words, 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, 1, i + 1);
        words[i] = (char *)(uintptr_t)luaL_checkstring(L, -1);
    }
    words[count] = NULL;
    return words;
}

static bool client_has_gone(void *channel) {
    return channel_client_has_gone(channel);
}

/* core.cuda_start(list of words, folder of libraries, gpu, folder, folder of results or nil) -> channel to the program,
 * which runs in the former folder and is told of the latter. The memory of the GPU, in which nothing is allocated yet,
 * becomes one that the program can map. */
static int l_cuda_start(lua_State *L) {
    ChannelFolders folders = {.libraries = luaL_checkstring(L, 2),
                              .program = luaL_checkstring(L, 4),
                              .results = luaL_optstring(L, 5, NULL)};
    Machine *machine = gpu_at(L, 3);
    lua_settop(L, 5);
    ChannelRef *ref = lua_newuserdatauv(L, sizeof *ref, 0);
    *ref = (ChannelRef){.channel = {.listening = -1, .client = -1, .program_end = -1, .client_end = -1}};
    luaL_setmetatable(L, channel_type);
    ref->memory = device_memory_share(gpu_memory(machine->gpu));
    channel_start(&ref->channel, words_of(L), &folders);
    lua_settop(L, 6);
    lua_pushvalue(L, 6);
    lua_setiuservalue(L, 3, GPU_CALLER);
    machine->caller = &ref->channel;
    machine->caller_has_gone = client_has_gone;
    return 1;
}

/* A signal that came while the program computes. */
static void look_at_signals(lua_State *L, Machine *machine) {
    int signal = signals_take();
    if (!signal) return;
    call_checkpoint_function(L, machine, signal_name(signal));
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    machine->stopped = signal_name(signal);
    user_error("the CUDA program has not ended: %s", machine->stopped);
}

/* core.cuda_receive(gpu, channel) -> operation, payload; nil, "left": who was connected is gone; nil, "ended":
 * the program has ended */
static int l_cuda_receive(lua_State *L) {
    ChannelRef *ref = channel_at(L, 2);
    uint32_t what = 0, bytes = 0;
    const uint8_t *payload = NULL;
    ChannelEvent event;
    do {
        look_at_signals(L, gpu_at(L, 1));
        event = channel_receive(&ref->channel, &what, &payload, &bytes);
    } while (event == CHANNEL_QUIET);
    if (event == CHANNEL_MESSAGE) {
        lua_pushinteger(L, what);
        lua_pushlstring(L, (const char *)payload, bytes);
        return 2;
    }
    lua_pushnil(L);
    lua_pushstring(L, event == CHANNEL_LEFT ? "left" : "ended");
    return 2;
}

static int answer(lua_State *L, ChannelRef *ref, int file) {
    size_t bytes;
    lua_Integer what = luaL_checkinteger(L, 2);
    const char *payload = luaL_optlstring(L, 3, "", &bytes);
    if (lua_isnoneornil(L, 3)) bytes = 0;
    channel_answer(&ref->channel, (uint32_t)what, payload, (uint32_t)bytes, file);
    return 0;
}

/* core.cuda_answer(channel, 0 or an error code, payload) */
static int l_cuda_answer(lua_State *L) {
    return answer(L, channel_at(L, 1), -1);
}

/* core.cuda_welcome(channel, 0, payload): the same, with the file of the device memory */
static int l_cuda_welcome(lua_State *L) {
    ChannelRef *ref = channel_at(L, 1);
    return answer(L, ref, ref->memory);
}

/* core.cuda_drop(channel): who is connected is not spoken to any more. */
static int l_cuda_drop(lua_State *L) {
    channel_drop_client(&channel_at(L, 1)->channel);
    return 0;
}

/* core.cuda_end(channel) -> exit status of the program, or nil and the signal that killed it. Ends it where it
 * has not ended. */
static int l_cuda_end(lua_State *L) {
    Channel *channel = &channel_at(L, 1)->channel;
    channel_close(channel);
    if (WIFEXITED(channel->status)) {
        lua_pushinteger(L, WEXITSTATUS(channel->status));
        return 1;
    }
    lua_pushnil(L);
    lua_pushinteger(L, WTERMSIG(channel->status));
    return 2;
}

static int l_channel_close(lua_State *L) {
    channel_close(&channel_at(L, 1)->channel);
    return 0;
}

/* The range at indices 2 and 3; false when no allocation covers it. */
static bool range_at(lua_State *L, Machine *machine, uint64_t *address, uint64_t *bytes) {
    *address = (uint64_t)luaL_checkinteger(L, 2);
    *bytes = (uint64_t)luaL_checkinteger(L, 3);
    return *bytes == 0 || device_covers(gpu_memory(machine->gpu), *address, *bytes);
}

/* core.cuda_wrote(gpu, address, bytes) -> false when they are not those of an allocation: the program has
 * written there, through its own mapping. */
static int l_cuda_wrote(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    uint64_t address, bytes;
    bool good = range_at(L, machine, &address, &bytes);
    if (good && bytes) {
        uint64_t digest = machine->log.is_off
                              ? 0
                              : hash_bytes(address, device_bytes(gpu_memory(machine->gpu), address, bytes),
                                           bytes);
        host_log_call(&machine->log, digest, "write %lu bytes at 0x%lx", bytes, address);
        gpu_wrote(machine->gpu, address, bytes);
        host_log_answer(&machine->log, NULL, 0);
        after_host_call(L, machine);
    }
    lua_pushboolean(L, good);
    return 1;
}

/* core.cuda_reads(gpu, address, bytes) -> false as above: what the program will read there is what it read
 * before, when it is started again. The bytes are put back where it looks for them: where no kernel wrote they
 * are the same, and where one did, the checkpoint has the pages. */
static int l_cuda_reads(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    uint64_t address, bytes;
    bool good = range_at(L, machine, &address, &bytes);
    if (good && bytes && !machine->log.is_off) {
        uint8_t *at = device_bytes(gpu_memory(machine->gpu), address, bytes);
        host_log_call(&machine->log, 0, "read %lu bytes at 0x%lx", bytes, address);
        if (host_log_take(&machine->log, at, bytes))
            after_host_call(L, machine);
        else
            host_log_answer(&machine->log, at, bytes);
    }
    lua_pushboolean(L, good);
    return 1;
}

/* core.keep_host_log(gpu, whether calls are noted, without which no checkpoint can be made) */
static int l_keep_host_log(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    machine->log.is_off = !lua_toboolean(L, 2);
    return 0;
}

/* core.memory(gpu) -> base, capacity, bytes allocated */
static int l_memory(lua_State *L) {
    const DeviceMemory *memory = gpu_memory(gpu_at(L, 1)->gpu);
    lua_pushinteger(L, (lua_Integer)DEVICE_MEMORY_BASE);
    lua_pushinteger(L, (lua_Integer)device_capacity(memory));
    lua_pushinteger(L, (lua_Integer)device_bytes_live(memory));
    return 3;
}

/* core.unpack(bytes, "lz4" or "zstd", size) -> string of that size, or nil: they are damaged */
static int l_unpack(lua_State *L) {
    static const char *const kinds[] = {"lz4", "zstd", NULL};
    enum { MOST_BYTES = 1 << 30 };
    size_t count;
    luaL_Buffer buffer;
    const uint8_t *bytes = (const uint8_t *)luaL_checklstring(L, 1, &count);
    int kind = luaL_checkoption(L, 2, NULL, kinds);
    lua_Integer size = luaL_checkinteger(L, 3);
    if (size < 0 || size > MOST_BYTES || (uint64_t)size / 1024 > (count + 1) * 64) return 0;
    uint8_t *to = (uint8_t *)luaL_buffinitsize(L, &buffer, (size_t)size);
    bool good = kind == 0 ? unpack_lz4(bytes, count, to, (size_t)size)
                          : unpack_zstd(bytes, count, to, (size_t)size);
    if (!good) return 0;
    luaL_pushresultsize(&buffer, (size_t)size);
    return 1;
}

void cuda_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"cuda_start", l_cuda_start},
        {"cuda_receive", l_cuda_receive},
        {"cuda_answer", l_cuda_answer},
        {"cuda_welcome", l_cuda_welcome},
        {"cuda_drop", l_cuda_drop},
        {"cuda_end", l_cuda_end},
        {"cuda_wrote", l_cuda_wrote},
        {"cuda_reads", l_cuda_reads},
        {"keep_host_log", l_keep_host_log},
        {"memory", l_memory},
        {"unpack", l_unpack},
        {NULL, NULL},
    };
    static const luaL_Reg metamethods[] = {
        {"__gc", l_channel_close}, {"__close", l_channel_close}, {NULL, NULL}};
    define_type(L, channel_type, metamethods, NULL);
    luaL_setfuncs(L, functions, 0);
}
