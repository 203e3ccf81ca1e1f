/* What --profile has counted, for Lua. */
#include "core/gpu/device/profile.h"

#include "core/gpu/sm/fault.h"
#include "core/lua/bindings.h"
#include "core/lua/device/launch.h"

#include <stdlib.h>
#include <string.h>

static void set_integer(lua_State *L, const char *name, uint64_t value) {
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_text(lua_State *L, const char *name, const char *text) {
    if (!text) return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, name);
}

/* As the SM's statistics call it, without slots_. */
static const char *cause_name(uint32_t cause) {
    static const char prefix[] = "slots_";
    for (const Field *f = sm_class.fields; f->kind != FIELD_END; f++)
        if (f->kind == FIELD_STAT && f->offset == offsetof(Sm, slots) + cause * sizeof(uint64_t))
            return f->name + strlen(prefix);
    panic("no statistic for slot cause %u", cause);
}

static void set_slots(lua_State *L, const InstSlots *slots) {
    set_integer(L, "issues", slots->issues);
    set_integer(L, "threads", slots->threads);
    lua_createtable(L, 0, SLOT_CAUSES);
    for (uint32_t cause = 0; cause < SLOT_CAUSES; cause++)
        set_integer(L, cause_name(cause), slots->slots[cause]);
    lua_setfield(L, -2, "slots");
}

static void set_source(lua_State *L, const Kernel *kernel, uint32_t pc) {
    const InstSource *source = &kernel->sources[pc];
    char text[512];
    set_integer(L, "pc", pc);
    set_text(L, "opcode", source->opcode);
    set_integer(L, "line", source->ptx_line);
    kernel_line_text(kernel, source->ptx_line, text, sizeof text);
    set_text(L, "text", text);
    if (!source->line) return;
    set_text(L, "file", source->file);
    set_integer(L, "source_line", source->line);
}

/* { { hits =, misses =, merges = } ... } by the number of the group, from 1; false where it has counted nothing. */
static void set_accesses(lua_State *L, const KernelProfile *of, uint32_t pc, uint32_t groups) {
    lua_createtable(L, (int)groups, 0);
    for (uint32_t g = 0; g < groups; g++) {
        const InstAccesses *accesses = of->accesses[g] ? &of->accesses[g][pc] : NULL;
        if (accesses && (accesses->hits | accesses->misses | accesses->merges)) {
            lua_createtable(L, 0, 3);
            set_integer(L, "hits", accesses->hits);
            set_integer(L, "misses", accesses->misses);
            set_integer(L, "merges", accesses->merges);
        } else {
            lua_pushboolean(L, false);
        }
        lua_rawseti(L, -2, g + 1);
    }
    lua_setfield(L, -2, "accesses");
}

/* The last one, without `pc`, is of no instruction. */
static void set_instructions(lua_State *L, const KernelProfile *of, uint32_t groups) {
    static const InstSlots none;
    uint32_t count = of->kernel->inst_count;
    lua_createtable(L, (int)count + 1, 0);
    for (uint32_t pc = 0; pc <= count; pc++) {
        lua_newtable(L);
        if (pc < count) set_source(L, of->kernel, pc);
        set_slots(L, of->insts ? &of->insts[pc] : &none);
        set_accesses(L, of, pc, groups);
        lua_rawseti(L, -2, (lua_Integer)pc + 1);
    }
    lua_setfield(L, -2, "instructions");
}

/* Up to the last that has counted anything. */
static void set_warps(lua_State *L, const KernelProfile *of) {
    uint32_t count = of->warps ? WARPS_OF_CTA : 0;
    while (count && !of->warps[count - 1].issues)
        count--;
    lua_createtable(L, (int)count, 0);
    for (uint32_t warp = 0; warp < count; warp++) {
        lua_newtable(L);
        set_slots(L, &of->warps[warp]);
        lua_rawseti(L, -2, (lua_Integer)warp + 1);
    }
    lua_setfield(L, -2, "warps");
}

static void push_kernels(lua_State *L, const Profile *profile, uint32_t groups) {
    KernelProfile *kernels;
    uint32_t count = profile_kernels(profile, &kernels);
    lua_createtable(L, (int)count, 0);
    for (uint32_t i = 0; i < count; i++) {
        lua_newtable(L);
        set_text(L, "name", kernels[i].kernel->name);
        set_instructions(L, &kernels[i], groups);
        set_warps(L, &kernels[i]);
        lua_rawseti(L, -2, i + 1);
    }
    profile_free_kernels(kernels, count);
}

static void push_ctas(lua_State *L, const Profile *profile) {
    CtaProfile *ctas;
    uint64_t count = profile_ctas(profile, &ctas);
    lua_createtable(L, (int)count, 0);
    for (uint64_t i = 0; i < count; i++) {
        const CtaProfile *cta = &ctas[i];
        lua_createtable(L, 0, 9);
        set_integer(L, "launch", cta->launch);
        set_integer(L, "x", cta->ctaid[0]);
        set_integer(L, "y", cta->ctaid[1]);
        set_integer(L, "z", cta->ctaid[2]);
        set_integer(L, "sm", cta->sm);
        set_integer(L, "slot", cta->slot);
        set_integer(L, "from", cta->from);
        if (cta->to) set_integer(L, "to", cta->to);
        set_integer(L, "warp_instructions", cta->warp_instructions);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    free(ctas);
}

/* { loads =, stores =, atomics =, hits =, misses =, merges = } */
static void push_accesses_to(lua_State *L, const AllocationAccesses *of) {
    static const char *const kinds[] = {"loads", "stores", "atomics"};
    static const char *const results[] = {"hits", "misses", "merges"};
    lua_createtable(L, 0, 6);
    for (uint32_t i = 0; i < 3; i++) {
        set_integer(L, kinds[i], of->kinds[i]);
        set_integer(L, results[i], of->results[i]);
    }
}

/* One of `all`, with `accesses` by the number of the group, from 1; false where it has counted nothing. */
static void push_allocation(lua_State *L, const Profile *profile, const AllocationAccesses *of,
                            const AllocationCounts *by_group, uint32_t groups) {
    char name[512];
    lua_createtable(L, 0, 4);
    profile_name_allocation(profile, of, name, sizeof name);
    set_text(L, "name", name);
    if (of->start) {
        set_integer(L, "address", of->start);
        set_integer(L, "bytes", of->bytes);
    }
    lua_createtable(L, (int)groups, 0);
    for (uint32_t g = 0; g < groups; g++) {
        const AllocationAccesses *found = allocations_find(&by_group[g], of);
        if (found)
            push_accesses_to(L, found);
        else
            lua_pushboolean(L, false);
        lua_rawseti(L, -2, (lua_Integer)g + 1);
    }
    lua_setfield(L, -2, "accesses");
}

/* In the order in which they were made; what is in none comes first. */
static void push_allocations(lua_State *L, const Profile *profile, uint32_t groups) {
    AllocationCounts all = {0}, by_group[PROFILE_GROUPS];
    for (uint32_t g = 0; g < groups; g++) {
        by_group[g] = profile_allocations(profile, g);
        allocations_add(&all, &by_group[g]);
    }
    lua_createtable(L, (int)all.count, 0);
    for (uint32_t i = 0; i < all.count; i++) {
        push_allocation(L, profile, &all.of[i], by_group, groups);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    for (uint32_t g = 0; g < groups; g++)
        allocations_empty(&by_group[g]);
    allocations_empty(&all);
}

/* core.start_profile(gpu): before the first kernel */
static int l_start_profile(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    if (gpu_profile(machine->gpu) || gpu_cycle(machine->gpu))
        user_error("profile: expected a new GPU, got one that is in use");
    gpu_start_profile(machine->gpu);
    return 0;
}

/* core.profile(gpu) -> { groups = of caches, kernels = { { name =, instructions = { { pc =, opcode =, line =, text =, file
 * =, source_line =, issues =, threads =, slots = { cause = number ... }, accesses = } ... }, warps = } ... }, allocations = {
 * { name =, address =, bytes =, accesses = } ... }, ctas = } */
static int l_profile(lua_State *L) {
    const Machine *machine = gpu_at(L, 1);
    const Profile *profile = gpu_profile(machine->gpu);
    const char *names[PROFILE_GROUPS];
    if (!profile) user_error("profile: expected a GPU with one, got none");
    uint32_t groups = profile_groups(profile, names);
    lua_newtable(L);
    lua_createtable(L, (int)groups, 0);
    for (uint32_t i = 0; i < groups; i++) {
        lua_pushstring(L, names[i]);
        lua_rawseti(L, -2, i + 1);
    }
    lua_setfield(L, -2, "groups");
    push_kernels(L, profile, groups);
    lua_setfield(L, -2, "kernels");
    push_allocations(L, profile, groups);
    lua_setfield(L, -2, "allocations");
    push_ctas(L, profile);
    lua_setfield(L, -2, "ctas");
    return 1;
}

void profile_open(lua_State *L) {
    static const luaL_Reg functions[] = {
        {"start_profile", l_start_profile}, {"profile", l_profile}, {NULL, NULL}};
    luaL_setfuncs(L, functions, 0);
}
