/* What policies can ask of objects, beside values by name. */
#include "core/gpu/parts/locality_scores/locality_scores.h"
#include "core/gpu/parts/memory_ownership/memory_ownership.h"
#include "core/lua/policy/policy_object.h"
#include "mem/dram/memory_controller.h"
#include "mem/parts/victim_tags/victim_tags.h"
#include "mem/parts/warp_sampler/warp_sampler.h"
#include "mem/protocol/caches.h"
#include "mem/protocol/class_table.h"

#include <lauxlib.h>
#include <string.h>

enum { MAX_K_THROTTLE = 1000000 };

/* sm:oldest(set, n) -> the n oldest warps of the set */
static int sm_oldest_warps(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    WarpSet set = (WarpSet)luaL_checkinteger(L, 2);
    lua_Integer n = luaL_checkinteger(L, 3);
    n = n < 0 ? 0 : n > MAX_WARPS ? MAX_WARPS : n;
    lua_pushinteger(L, (lua_Integer)oldest_warps(sm->cta_by_age, sm->resident, set, (uint32_t)n));
    return 1;
}

/* sm:warps_of(scheduler) -> the set of its warps */
static int sm_warps_of(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer scheduler = luaL_checkinteger(L, 2);
    luaL_argcheck(L, scheduler >= 0 && scheduler < sm->schedulers, 2, "no such scheduler");
    lua_pushinteger(L, (lua_Integer)sm->sched[scheduler].warps);
    return 1;
}

/* sm:last(scheduler) -> the warp that it issued last */
static int sm_last(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer scheduler = luaL_checkinteger(L, 2);
    luaL_argcheck(L, scheduler >= 0 && scheduler < sm->schedulers, 2, "no such scheduler");
    lua_pushinteger(L, sm->sched[scheduler].last);
    return 1;
}

/* sm:cta_warps(warp) -> the set of the warps of its CTA */
static int sm_cta_warps(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer warp = luaL_checkinteger(L, 2);
    luaL_argcheck(L, warp >= 0 && warp < sm->warps, 2, "no such warp");
    lua_pushinteger(L, (lua_Integer)sm->cta[sm->warp[warp].cta_slot].warps);
    return 1;
}

static uint64_t memory_ready_warps(const SimObject *object) {
    const Sm *sm = (const Sm *)object;
    return sm->valid & sm->head_memory & ~sm->blocked & ~sm->waiting;
}

/* sm:memory_ready() -> the warps whose next instruction goes to the LSU and has its operands */
static int sm_memory_ready(lua_State *L, SimObject *object) {
    lua_pushinteger(L, (lua_Integer)memory_ready_warps(object));
    return 1;
}

/* l1:reexecution_head() -> the warp of the access at the head of the re-execution queue, or nil */
static int l1_head(lua_State *L, SimObject *object) {
    uint32_t warp = l1_reexecution_head(object);
    if (warp == NO_WARP_WAITS)
        lua_pushnil(L);
    else
        lua_pushinteger(L, warp);
    return 1;
}

/* sm:holds_accesses(warp) -> is there an access of the warp that has issued and that the L1 which serves it
 * has not taken: in the load/store unit, before it, behind it, or in the L1 */
static int sm_holds_accesses_of(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    lua_Integer warp = luaL_checkinteger(L, 2);
    luaL_argcheck(L, warp >= 0 && warp < sm->warps, 2, "no such warp");
    lua_pushboolean(L, sm_holds_accesses(sm, (uint32_t)warp));
    return 1;
}

/* sm:watch_taken(): from now on nothing is told of a watched warp that holds_accesses(), and to set
 * `watched` has no effect on it; instead the SM watches each warp that it hears from an L1 to be taken,
 * unless all may issue memory instructions */
static int sm_watch_taken_warps(lua_State *L, SimObject *object) {
    (void)L;
    sm_watch_taken((Sm *)object);
    return 0;
}

/* sm:watch_caches(): from now on the SM hears of the L1s behind its load/store unit: `saturated` is kept,
 * on_saturation and on_memory_access are told */
static int sm_watch_its_caches(lua_State *L, SimObject *object) {
    (void)L;
    sm_watch_caches((Sm *)object);
    return 0;
}

/* sm:number() -> of this SM among all, from 0 */
static int sm_number_of(lua_State *L, SimObject *object) {
    lua_pushinteger(L, sm_number(object));
    return 1;
}

static const RunningKernel *running_kernel(lua_State *L, const SimObject *object) {
    const RunningKernel *running = ((const Sm *)object)->running;
    if (!running) luaL_error(L, "%s: no kernel has been launched", object->path);
    return running;
}

/* sm:ctas_per_sm() -> CTAs of the present kernel that an SM holds at once: its slots 0, 1, ... */
static int sm_ctas_per_sm(lua_State *L, SimObject *object) {
    lua_pushinteger(L, running_kernel(L, object)->ctas_per_sm);
    return 1;
}

/* sm:warps_per_cta() -> warps n of a CTA of the present kernel; those of slot s are s * n to s * n + n - 1 */
static int sm_warps_per_cta(lua_State *L, SimObject *object) {
    lua_pushinteger(L, running_kernel(L, object)->warps_per_cta);
    return 1;
}

/* scores:set(warp, score) */
static int scores_set_score(lua_State *L, SimObject *object) {
    lua_Integer warp = luaL_checkinteger(L, 2), score = luaL_checkinteger(L, 3);
    luaL_argcheck(L, warp >= 0 && warp < MAX_WARPS, 2, "no such warp");
    scores_set(object, (uint32_t)warp, score < 0 ? 0 : (uint64_t)score);
    return 0;
}

/* scores:get(warp) -> its present score; 0 when it does not take part */
static int scores_get_score(lua_State *L, SimObject *object) {
    lua_Integer warp = luaL_checkinteger(L, 2);
    luaL_argcheck(L, warp >= 0 && warp < MAX_WARPS, 2, "no such warp");
    lua_pushinteger(L, (lua_Integer)scores_get(object, (uint32_t)warp));
    return 1;
}

static const Sm *sm_around(lua_State *L, const SimObject *part) {
    const Sm *sm = (const Sm *)part->parent;
    if (!sm || sm->obj.class != &sm_class) luaL_error(L, "%s does not belong to an SM", part->path);
    return sm;
}

/* scores:set_active(set): the warps that have a score, with the ages that they have in the SM */
static int scores_set_active_warps(lua_State *L, SimObject *object) {
    const Sm *sm = sm_around(L, object);
    scores_set_active(object, (WarpSet)luaL_checkinteger(L, 2), sm->cta_by_age, sm->resident);
    return 0;
}

/* scores:update_on_hits(vta, k_throttle): from now on a hit in these victim tags sets the warp's score to
 * hits * k_throttle * cutoff // sm.warp_instructions, as scores:set() in on_vta_hit could */
static int scores_update_on_hits_in(lua_State *L, SimObject *object) {
    SimObject *victims = policy_object_at(L, 2);
    lua_Integer k_throttle = luaL_checkinteger(L, 3);
    luaL_argcheck(L, victims->class == &victim_tags_class && victims->parent == object->parent, 2,
                  "VictimTags of the same SM are wanted");
    luaL_argcheck(L, k_throttle >= 0 && k_throttle <= MAX_K_THROTTLE, 3, "0 to 1000000 are legal");
    scores_update_on_hits(object, victims, sm_around(L, object), (uint32_t)k_throttle);
    return 0;
}

static uint32_t number_at(lua_State *L, int index, uint32_t max, const char *what) {
    lua_Integer value = luaL_checkinteger(L, index);
    luaL_argcheck(L, value >= 0 && value <= max, index, what);
    return (uint32_t)value;
}

static uint32_t class_number_at(lua_State *L, int index) {
    return number_at(L, index, CLASSES - 1, "classes are 0 to 15");
}

/* A warp has one class: what a second policy called it would be taken for the first one's. */
static void be_the_setter_of_classes(lua_State *L, Sm *sm) {
    const char *instance = policy_of_state(L), *before = sm->class_setter ? sm->class_setter : instance;
    size_t length = strcspn(instance, " "), length_before = strcspn(before, " ");
    if (length != length_before || memcmp(instance, before, length) != 0)
        luaL_error(L, "%s: policy %s sets the classes of its warps; another policy cannot set them as well",
                   sm->obj.path, lua_pushlstring(L, before, length_before));
    sm->class_setter = instance;
}

/* sm:set_class(warps, class): the number on all requests of these warps, a set, from now on: 0 to 15, and 0
 * until it is set; one policy of a run sets them */
static int sm_set_class(lua_State *L, SimObject *object) {
    Sm *sm = (Sm *)object;
    WarpSet warps = (WarpSet)luaL_checkinteger(L, 2);
    uint32_t class_number = class_number_at(L, 3);
    be_the_setter_of_classes(L, sm);
    for (; warps; warps &= warps - 1)
        sm->class_of[first_warp(warps)] = (uint8_t)class_number;
    return 0;
}

/* sm:class_of(warp) -> the number on its requests */
static int sm_class_of(lua_State *L, SimObject *object) {
    lua_pushinteger(L, ((const Sm *)object)->class_of[number_at(L, 2, MAX_WARPS - 1, "no such warp")]);
    return 1;
}

/* sm:warps_in(class) -> the set of the warps of this class */
static int sm_warps_in(lua_State *L, SimObject *object) {
    const Sm *sm = (const Sm *)object;
    uint32_t class_number = class_number_at(L, 2);
    WarpSet warps = 0;
    for (uint32_t warp = 0; warp < sm->warps; warp++)
        warps |= (WarpSet)(sm->class_of[warp] == class_number) << warp;
    lua_pushinteger(L, (lua_Integer)warps);
    return 1;
}

/* l1:set_depth(class, places), l2:...: lines of the class enter so many places below the most recently used
 */
static int set_depth(lua_State *L, SimObject *object) {
    cache_set_depth(object, class_number_at(L, 2), number_at(L, 3, UINT8_MAX, "depths are 0 to 255"));
    return 0;
}

/* l1:set_keep(class, rank), l2:...: lines of classes with a lower rank are replaced first */
static int set_keep(lua_State *L, SimObject *object) {
    cache_set_keep(object, class_number_at(L, 2), number_at(L, 3, UINT8_MAX, "ranks are 0 to 255"));
    return 0;
}

/* mc:set_queue(class, queue): requests of the class go to this queue; lower ones are served first */
static int mc_set_queue(lua_State *L, SimObject *object) {
    uint32_t queue = number_at(L, 3, memory_controller_queues(object) - 1, "the controller has fewer queues");
    memory_controller_set_queue(object, class_number_at(L, 2), queue);
    return 0;
}

/* mc:request(queue, rank) -> sm, warp, class, bank, row, is write, cycles waited; rank 0 is the oldest; nil
 * when there are not so many */
static int mc_request(lua_State *L, SimObject *object) {
    WaitingRequest request;
    lua_Integer queue = luaL_checkinteger(L, 2), rank = luaL_checkinteger(L, 3);
    bool there = queue >= 0 && rank >= 0 && queue <= UINT32_MAX && rank <= UINT32_MAX &&
                 memory_controller_waiting(object, (uint32_t)queue, (uint32_t)rank, &request);
    if (!there) {
        lua_pushnil(L);
        return 1;
    }
    const uint64_t numbers[] = {request.sm, request.warp, request.class_number, request.bank, request.row};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        lua_pushinteger(L, (lua_Integer)numbers[i]);
    lua_pushboolean(L, request.write);
    lua_pushinteger(L, (lua_Integer)request.waited);
    return 7;
}

/* mc:of_bank(queue, bank) -> the set of the requests for this bank */
static int mc_of_bank(lua_State *L, SimObject *object) {
    uint32_t queue = number_at(L, 2, memory_controller_queues(object) - 1, "the controller has fewer queues");
    uint32_t bank = number_at(L, 3, UINT32_MAX, "no such bank");
    lua_pushinteger(L, (lua_Integer)memory_controller_of_bank(object, queue, bank));
    return 1;
}

/* mc:of_sm(queue, sm) -> the set of the requests of this SM, by its number from 0; those of a write-back are
 * of the SM that made the line dirty */
static int mc_of_sm(lua_State *L, SimObject *object) {
    uint32_t queue = number_at(L, 2, memory_controller_queues(object) - 1, "the controller has fewer queues");
    uint32_t sm = number_at(L, 3, UINT32_MAX, "no such SM");
    lua_pushinteger(L, (lua_Integer)memory_controller_of_sm(object, queue, sm));
    return 1;
}

/* sampler:restart(warps): these warps, a set, are sampled from zero again */
static int sampler_restart_warps(lua_State *L, SimObject *object) {
    sampler_restart(object, (uint64_t)luaL_checkinteger(L, 2));
    return 0;
}

/* sampler:served(warp) -> the core cycle of the second level's last answer to it; 0: none yet */
static int sampler_served_warp(lua_State *L, SimObject *object) {
    uint32_t warp = number_at(L, 2, MAX_WARPS - 1, "no such warp");
    lua_pushinteger(L, (lua_Integer)sampler_served(object, warp));
    return 1;
}

const PolicyMethod policy_methods[] = {
    {"SM", "oldest", sm_oldest_warps},
    {"SM", "warps_of", sm_warps_of},
    {"SM", "last", sm_last},
    {"SM", "cta_warps", sm_cta_warps},
    {"SM", "memory_ready", sm_memory_ready},
    {"SM", "holds_accesses", sm_holds_accesses_of},
    {"SM", "watch_taken", sm_watch_taken_warps},
    {"SM", "watch_caches", sm_watch_its_caches},
    {"L1", "reexecution_head", l1_head},
    {"SM", "number", sm_number_of},
    {"SM", "ctas_per_sm", sm_ctas_per_sm},
    {"SM", "warps_per_cta", sm_warps_per_cta},
    {"LocalityScores", "set", scores_set_score},
    {"LocalityScores", "get", scores_get_score},
    {"LocalityScores", "set_active", scores_set_active_warps},
    {"LocalityScores", "update_on_hits", scores_update_on_hits_in},
    {"SM", "set_class", sm_set_class},
    {"SM", "class_of", sm_class_of},
    {"SM", "warps_in", sm_warps_in},
    {"L1", "set_depth", set_depth},
    {"L1", "set_keep", set_keep},
    {"L2", "set_depth", set_depth},
    {"L2", "set_keep", set_keep},
    {"MemoryController", "set_queue", mc_set_queue},
    {"MemoryController", "request", mc_request},
    {"MemoryController", "of_bank", mc_of_bank},
    {"MemoryController", "of_sm", mc_of_sm},
    {"WarpSampler", "restart", sampler_restart_warps},
    {"WarpSampler", "served", sampler_served_warp},
    {NULL, NULL, NULL},
};

const PolicyNumber policy_numbers[] = {
    {"SM", "memory_ready", memory_ready_warps},
    {NULL, NULL, NULL},
};
