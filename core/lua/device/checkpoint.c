#include "core/lua/device/checkpoint.h"

#include "core/gpu/device/histograms.h"
#include "core/gpu/device/kernel_counts.h"
#include "core/gpu/device/profile.h"
#include "core/lua/bindings.h"
#include "core/lua/component/lua_objects.h"
#include "core/lua/device/in_flight.h"
#include "core/lua/host/signals.h"
#include "core/lua/policy/policy.h"
#include "core/sim/checkpoint/checkpoint_file.h"

#include <stdlib.h>
#include <string.h>

enum { WHY_BYTES = 1024 };

/* Sections that are there when there is something in them. */
#define HISTOGRAMS    "histograms"
#define PROFILE       "profile"
#define KERNEL_COUNTS "kernel counts"

/* The state that a machine gets once its host program has caught up. */
struct Resume {
    CheckpointFile *file;
    char *path;
    bool allow_changes, other_policy;
    Buffer notes; /* lines */
};

/* --- Saving ---------------------------------------------------------------------------------- */

void require_caught_up(const Machine *machine, const char *what) {
    if (!machine->resume || !machine->resume->file) return;
    if (machine->host_program == PROGRAM_RUNS || gpu_launch_count(machine->gpu))
        user_error(
            "%s: expected a call behind the checkpoint %s, got one of a host program that has not caught up "
            "with it; sim:counters { ... } can be read",
            what, machine->resume->path);
    user_error("%s: expected a host program that has caught up with checkpoint %s; sim:run { until_cycle "
               "= 1 } does it",
               what, machine->resume->path);
}

/* A fault leaves a machine in the middle of a quantum. */
static void require_state(const Machine *machine, const char *what) {
    if (machine->sim->faulted)
        user_error("%s: machine %s was stopped by an error and cannot go on", what, machine->sim->name);
    require_caught_up(machine, what);
}

enum { MAX_SECTIONS = 8 };

static void save_observers(const Gpu *gpu, CheckpointSection *sections, uint32_t *count) {
    if (gpu_histograms(gpu)) {
        sections[*count] = (CheckpointSection){HISTOGRAMS, {0}};
        histograms_save(gpu_histograms(gpu), &sections[(*count)++].bytes);
    }
    if (gpu_profile(gpu)) {
        sections[*count] = (CheckpointSection){PROFILE, {0}};
        profile_save(gpu_profile(gpu), &sections[(*count)++].bytes);
    }
    if (gpu_kernel_counts(gpu)) {
        sections[*count] = (CheckpointSection){KERNEL_COUNTS, {0}};
        kernel_counts_save(gpu_kernel_counts(gpu), &sections[(*count)++].bytes);
    }
}

/* core.write_checkpoint(gpu, path, text) -> true, or false, why not, and whether nobody asked for any. The machine is at a
 * quantum boundary. */
static int l_write_checkpoint(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    require_state(machine, "checkpoint");
    if (!host_program_waits(machine)) host_log_forget_failed_call(&machine->log);
    const char *path = luaL_checkstring(L, 2);
    size_t length;
    const char *text = luaL_checklstring(L, 3, &length);
    char why[WHY_BYTES];
    if (machine->log.is_off) {
        lua_pushboolean(L, false);
        lua_pushliteral(L, "this run was not asked for checkpoints, and keeps no log of the host program");
        lua_pushboolean(L, true);
        return 3;
    }
    CheckpointSection sections[MAX_SECTIONS] = {
        {"run", {0}}, {"host", {0}}, {"gpu", {0}}, {"memory", {0}}, {"policy", {0}}};
    uint32_t count = 5;
    if (gpu_has_memcheck(machine->gpu)) {
        lua_pushboolean(L, false);
        lua_pushliteral(L, "expected a run without memcheck: no checkpoint holds what it knows");
        return 2;
    }
    if (!lua_objects_can_be_saved(machine->sim, why, sizeof why) ||
        !policies_save(machine, &sections[4].bytes, why, sizeof why)) {
        lua_pushboolean(L, false);
        lua_pushstring(L, why);
        return 2;
    }
    buffer_append(&sections[0].bytes, text, length);
    host_log_save(&machine->log, &sections[1].bytes);
    gpu_save(machine->gpu, &sections[2].bytes);
    device_memory_save(gpu_memory(machine->gpu), &sections[3].bytes);
    save_observers(machine->gpu, sections, &count);
    bool good = checkpoint_file_write(path, sections, count, why, sizeof why);
    for (uint32_t i = 0; i < count; i++)
        buffer_free(&sections[i].bytes);
    lua_pushboolean(L, good);
    if (good) return 1;
    lua_pushstring(L, why);
    return 2;
}

void call_checkpoint_function(lua_State *L, Machine *machine, const char *why) {
    machine->checkpoint_cycle = NEVER;
    if (lua_getiuservalue(L, 1, GPU_CHECKPOINT_FUNCTION) != LUA_TFUNCTION) {
        lua_pop(L, 1);
        return;
    }
    lua_pushstring(L, why);
    lua_pushinteger(L, (lua_Integer)gpu_cycle(machine->gpu));
    lua_call(L, 2, 1);
    gpu_at(L, 1); /* which may be closed by now */
    if (lua_isinteger(L, -1)) machine->checkpoint_cycle = (uint64_t)lua_tointeger(L, -1);
    lua_pop(L, 1);
}

/* core.on_checkpoint(gpu, function(why, cycle) -> next cycle or nil, first cycle or nil) */
static int l_on_checkpoint(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    luaL_checktype(L, 2, LUA_TFUNCTION);
    machine->checkpoint_cycle = lua_isinteger(L, 3) ? (uint64_t)lua_tointeger(L, 3) : NEVER;
    lua_pushvalue(L, 2);
    lua_setiuservalue(L, 1, GPU_CHECKPOINT_FUNCTION);
    return 0;
}

/* core.tell_launch_ends(gpu): calls the checkpoint function with "launch" whenever a kernel has ended, before
 * gpu:launches() has it. */
static int l_tell_launch_ends(lua_State *L) {
    gpu_at(L, 1)->tells_launch_ends = true;
    return 0;
}

/* core.pause_at_ctas(gpu, ctas): calls it with "ctas", once, when so many CTAs of a kernel are done; 0: never */
static int l_pause_at_ctas(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    lua_Integer ctas = luaL_checkinteger(L, 2);
    gpu_pause_at_ctas(machine->gpu, ctas > 0 ? (uint64_t)ctas : 0);
    return 0;
}

/* core.checkpoint_timer(seconds): calls the checkpoint function every so often, with "time"; 0: never */
static int l_checkpoint_timer(lua_State *L) {
    signals_every((uint64_t)luaL_checkinteger(L, 1));
    return 0;
}

/* --- Taking over ----------------------------------------------------------------------------- */

static CheckpointFile *open_file(const char *path) {
    char why[WHY_BYTES];
    CheckpointFile *file = checkpoint_file_open(path, why, sizeof why);
    if (!file) user_error("checkpoint %s: %s", path, why);
    return file;
}

static Reader section_reader(CheckpointFile *file, const char *path, const char *name) {
    char why[WHY_BYTES];
    const Buffer *section = checkpoint_file_section(file, name, why, sizeof why);
    if (!section) user_error("checkpoint %s: %s", path, why);
    return (Reader){.bytes = section->bytes, .count = section->count};
}

static void add_note(void *context, const char *line) {
    Buffer *notes = context;
    buffer_append(notes, line, strlen(line));
    buffer_append(notes, "\n", 1);
}

static bool has_section(const CheckpointFile *file, const char *name) {
    for (uint32_t i = 0; i < checkpoint_file_count(file); i++)
        if (strcmp(checkpoint_file_name(file, i), name) == 0) return true;
    return false;
}

/* Of a run without, they begin where it goes on. */
static void restore_histograms(Histograms *histograms, struct Resume *resume) {
    if (!has_section(resume->file, HISTOGRAMS)) {
        histograms_restart(histograms);
        return;
    }
    Reader reader = section_reader(resume->file, resume->path, HISTOGRAMS);
    if (!histograms_load(histograms, &reader))
        user_error("checkpoint %s: expected the histograms of this machine, got others or damaged ones",
                   resume->path);
}

static const Kernel *kernel_at(const void *gpu, uint64_t code_address) {
    return gpu_kernel_at(gpu, code_address);
}

/* Likewise. */
static void restore_profile(const Gpu *gpu, struct Resume *resume) {
    if (!has_section(resume->file, PROFILE)) {
        profile_restart(gpu_profile(gpu));
        return;
    }
    Reader reader = section_reader(resume->file, resume->path, PROFILE);
    if (!profile_load(gpu_profile(gpu), &reader, kernel_at, gpu))
        user_error("checkpoint %s: expected the profile of this machine, got another or a damaged one",
                   resume->path);
}

/* Likewise. */
static void restore_kernel_counts(KernelCounts *counts, struct Resume *resume) {
    if (!has_section(resume->file, KERNEL_COUNTS)) {
        kernel_counts_restart(counts);
        return;
    }
    Reader reader = section_reader(resume->file, resume->path, KERNEL_COUNTS);
    if (!kernel_counts_load(counts, &reader))
        user_error("checkpoint %s: expected counts by kernel of this machine, got another's or damaged ones",
                   resume->path);
}

void restore_checkpoint(lua_State *L, Machine *machine) {
    struct Resume *resume = machine->resume;
    char why[WHY_BYTES];
    ensure(resume && resume->file);
    SnapshotChanges changes = {resume->allow_changes, resume->other_policy, add_note, &resume->notes};
    Reader gpu = section_reader(resume->file, resume->path, "gpu"),
           memory = section_reader(resume->file, resume->path, "memory");
    if (!gpu_load(machine->gpu, &gpu, &changes, why, sizeof why) ||
        !device_memory_load(gpu_memory(machine->gpu), &memory, why, sizeof why))
        user_error("checkpoint %s: %s", resume->path, why);
    if (!resume->other_policy) {
        Reader policy = section_reader(resume->file, resume->path, "policy");
        if (!policies_load(machine, &policy, why, sizeof why))
            user_error("checkpoint %s: %s", resume->path, why);
    }
    if (gpu_histograms(machine->gpu)) restore_histograms(gpu_histograms(machine->gpu), resume);
    if (gpu_profile(machine->gpu)) restore_profile(machine->gpu, resume);
    if (gpu_kernel_counts(machine->gpu)) restore_kernel_counts(gpu_kernel_counts(machine->gpu), resume);
    checkpoint_file_close(resume->file);
    resume->file = NULL;
    call_checkpoint_function(L, machine, "resumed");
}

void after_host_call(lua_State *L, Machine *machine) {
    if (machine->resume && machine->resume->file && !host_log_replaying(&machine->log))
        restore_checkpoint(L, machine);
}

void checkpoint_free(Machine *machine) {
    struct Resume *resume = machine->resume;
    host_log_free(&machine->log);
    if (!resume) return;
    if (resume->file) checkpoint_file_close(resume->file);
    buffer_free(&resume->notes);
    free(resume->path);
    free(resume);
    machine->resume = NULL;
}

/* core.resume(gpu, path, allow changes, another policy): the host program that follows is a repetition. Under
 * another policy, what the one before remembered and set is dropped. */
static int l_resume(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    const char *path = luaL_checkstring(L, 2);
    char why[WHY_BYTES];
    if (gpu_has_memcheck(machine->gpu))
        user_error("resume: expected a run without memcheck: no checkpoint holds what it knows");
    if (machine->resume || machine->log.count)
        user_error("resume: expected a new machine, got one that has run");
    machine->resume = calloc(1, sizeof *machine->resume);
    ensure_memory(machine->resume);
    machine->resume->path = strdup(path);
    machine->resume->allow_changes = lua_toboolean(L, 3);
    machine->resume->other_policy = lua_toboolean(L, 4);
    machine->resume->file = open_file(path);
    Reader host = section_reader(machine->resume->file, path, "host");
    if (!host_log_load(&machine->log, &host, why, sizeof why)) user_error("checkpoint %s: %s", path, why);
    after_host_call(L, machine);
    return 0;
}

static void print_note(void *context, const char *line) {
    lua_State *L = context;
    lua_pushstring(L, line);
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* The machine takes the place of another, which is done with, under this handle. What was there stays:
 * scripts may hold its objects. */
static void take_place(Machine *machine, Machine *with) {
    Machine *before = malloc(sizeof *before);
    ensure_memory(before);
    *before = (Machine){.sim = machine->sim,
                        .policies = machine->policies,
                        .policy_count = machine->policy_count,
                        .before = machine->before};
    machine->before = before;
    machine->sim = with->sim;
    machine->policies = NULL;
    machine->policy_count = 0;
    with->sim = NULL;
}

/* core.move(gpu, machine): the GPU goes on on the other machine, which has no GPU and no policies yet, and is in Lua from
 * then on what the present one was; core.take_state() is to follow. */
static int l_move(lua_State *L) {
    Machine *machine = gpu_at(L, 1), *to = machine_at(L, 2);
    require_state(machine, "change");
    if (gpu_has_memcheck(machine->gpu)) user_error("change: expected a run without memcheck");
    if (gpu_profile(machine->gpu)) user_error("change: expected a run without profile");
    if (gpu_histograms(machine->gpu)) user_error("change: expected a run without histograms");
    if (to->sim->elaborated || to->gpu)
        user_error("change: expected a new machine, got %s, which has run", to->sim->name);
    take_place(machine, to);
    machine->sim->faulted = 1;
    gpu_move(machine->gpu, machine->sim);
    machine->sim->faulted = 0;
    return 0;
}

static bool copy_state(Machine *machine, const SnapshotChanges *changes, char *why, size_t why_size) {
    Buffer state = {0}, policies = {0};
    sim_save(machine->before->sim, &state);
    bool good = sim_load(machine->sim, &(Reader){.bytes = state.bytes, .count = state.count}, changes, why,
                         why_size);
    if (good && !changes->reset_knobs)
        good = policies_save(machine->before, &policies, why, why_size) &&
               policies_load(machine, &(Reader){.bytes = policies.bytes, .count = policies.count}, why,
                             why_size);
    buffer_free(&state);
    buffer_free(&policies);
    return good;
}

/* core.take_state(gpu, another policy) -> list of what changed. Its machine goes on in the state of the one whose place it
 * took. As in a resume, policies that go on are at work already: start() must set nothing over what they had set. After
 * an error the machine cannot go on. */
static int l_take_state(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    char why[WHY_BYTES];
    if (!machine->before)
        user_error("machine %s: expected one that took the place of another", machine->sim->name);
    lua_newtable(L);
    SnapshotChanges changes = {true, lua_toboolean(L, 2), print_note, L};
    machine->sim->faulted = 1;
    if (!copy_state(machine, &changes, why, sizeof why)) user_error("change: %s", why);
    if (gpu_kernel_counts(machine->gpu)) kernel_counts_know_residents(gpu_kernel_counts(machine->gpu));
    machine->sim->faulted = 0;
    return 1;
}

/* core.end_of_host_program(gpu): what is asked of the GPU afterwards, by another one, say, is not asked by
 * this one. */
static int l_end_of_host_program(lua_State *L) {
    Machine *machine = gpu_at(L, 1);
    require_none_in_flight(machine, "end of the host program");
    host_log_end_program(&machine->log);
    after_host_call(L, machine);
    return 0;
}

/* core.resume_notes(gpu) -> what changed, a line each */
static int l_resume_notes(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    const Buffer *notes = machine->resume ? &machine->resume->notes : NULL;
    lua_pushlstring(L, notes && notes->count ? (const char *)notes->bytes : "", notes ? notes->count : 0);
    return 1;
}

/* --- Looking inside -------------------------------------------------------------------------- */

/* core.checkpoint_text(path) -> the text given to core.write_checkpoint() */
static int l_checkpoint_text(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    char why[WHY_BYTES];
    raise_user_errors_in(L);
    CheckpointFile *file = open_file(path);
    const Buffer *run = checkpoint_file_section(file, "run", why, sizeof why);
    if (run) lua_pushlstring(L, (const char *)run->bytes, run->count);
    checkpoint_file_close(file);
    if (!run) user_error("checkpoint %s: %s", path, why);
    return 1;
}

static void push_sections(lua_State *L, const CheckpointFile *file) {
    lua_newtable(L);
    for (uint32_t i = 0; i < checkpoint_file_count(file); i++) {
        lua_newtable(L);
        lua_pushstring(L, checkpoint_file_name(file, i));
        lua_setfield(L, -2, "name");
        lua_pushinteger(L, (lua_Integer)checkpoint_file_bytes(file, i));
        lua_setfield(L, -2, "bytes");
        lua_pushinteger(L, (lua_Integer)checkpoint_file_stored_bytes(file, i));
        lua_setfield(L, -2, "stored");
        lua_rawseti(L, -2, i + 1);
    }
}

static void push_part(void *context, const char *path, const char *class, uint64_t bytes) {
    lua_State *L = context;
    lua_newtable(L);
    lua_pushstring(L, path);
    lua_setfield(L, -2, "path");
    lua_pushstring(L, class);
    lua_setfield(L, -2, "class");
    lua_pushinteger(L, (lua_Integer)bytes);
    lua_setfield(L, -2, "bytes");
    lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

static bool push_calls(lua_State *L, Reader host, char *why, size_t why_size) {
    HostLog log = {0};
    bool good = host_log_load(&log, &host, why, why_size);
    lua_newtable(L);
    for (uint32_t i = 0; good && i < log.count; i++) {
        lua_pushfstring(L, "%s%s", log.calls[i].text, log.calls[i].answered ? "" : " (running)");
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "calls");
    host_log_free(&log);
    return good;
}

static bool push_parts(lua_State *L, Reader gpu, char *why, size_t why_size) {
    uint64_t now;
    lua_newtable(L);
    bool good = gpu_list(&gpu, &now, push_part, L, why, why_size);
    lua_setfield(L, -2, "parts");
    return good;
}

/* All that a resume reads is read, as far as that goes without the machine. */
static bool push_inspection(lua_State *L, CheckpointFile *file, char *why, size_t why_size) {
    enum { RUN, HOST, GPU, MEMORY, POLICY, COUNT };
    static const char *const names[COUNT] = {"run", "host", "gpu", "memory", "policy"};
    Reader readers[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const Buffer *section = checkpoint_file_section(file, names[i], why, why_size);
        if (!section) return false;
        readers[i] = (Reader){.bytes = section->bytes, .count = section->count};
    }
    lua_newtable(L);
    lua_pushlstring(L, (const char *)readers[RUN].bytes, readers[RUN].count);
    lua_setfield(L, -2, "run");
    push_sections(L, file);
    lua_setfield(L, -2, "sections");
    return push_calls(L, readers[HOST], why, why_size) && push_parts(L, readers[GPU], why, why_size) &&
           device_memory_check(&readers[MEMORY], why, why_size) &&
           policies_check(L, &readers[POLICY], why, why_size);
}

/* core.inspect_checkpoint(path) -> { run = text, sections = { { name =, bytes =, stored = } ... }, parts = {
 * { path =, class =, bytes = } ... }, calls = { text ... } } */
static int l_inspect_checkpoint(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    char why[WHY_BYTES];
    raise_user_errors_in(L);
    CheckpointFile *file = open_file(path);
    bool good = push_inspection(L, file, why, sizeof why);
    checkpoint_file_close(file);
    if (!good) user_error("checkpoint %s: %s", path, why);
    return 1;
}

void checkpoint_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"write_checkpoint", l_write_checkpoint},
        {"on_checkpoint", l_on_checkpoint},
        {"tell_launch_ends", l_tell_launch_ends},
        {"pause_at_ctas", l_pause_at_ctas},
        {"checkpoint_timer", l_checkpoint_timer},
        {"resume", l_resume},
        {"resume_notes", l_resume_notes},
        {"move", l_move},
        {"take_state", l_take_state},
        {"end_of_host_program", l_end_of_host_program},
        {"checkpoint_text", l_checkpoint_text},
        {"inspect_checkpoint", l_inspect_checkpoint},
        {NULL, NULL},
    };
    luaL_setfuncs(L, functions, 0);
}
