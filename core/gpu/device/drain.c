/* After the last kernel: what it had in flight comes to its end. */
#include "core/gpu/device/dispatcher.h"
#include "core/gpu/device/gpu_state.h"

#include "mem/parts/traffic/traffic.h"

static void for_traffic_sources(const Sim *sim, void (*call)(SimObject *source)) {
    for (uint32_t i = 0; i < sim->object_count; i++)
        if (sim->objects[i]->class == &traffic_source_class) call(sim->objects[i]);
}

static void note_request(void *context, const Link *by, const void *message) {
    (void)by, (void)message;
    *(bool *)context = true;
}

static bool anything_in_flight(const Sim *sim) {
    bool found = false;
    for (uint32_t i = 0; i < sim->link_count && !found; i++)
        found = sim->links[i]->pushed != sim->links[i]->popped;
    for (uint32_t i = 0; i < sim->object_count && !found; i++) {
        const SimObject *object = sim->objects[i];
        if (object->class->requests_inside) object->class->requests_inside(object, note_request, &found);
    }
    return found;
}

/* The first object that has something to do, of the classes in Lua or of all others; or NULL. */
static const SimObject *first_at_work(const Sim *sim, bool in_lua) {
    for (uint32_t i = 0; i < sim->object_count; i++) {
        const SimObject *object = sim->objects[i];
        if (*object->due != NEVER && object->class->made_at_run_time == in_lua) return object;
    }
    return NULL;
}

/* Policies' periodic hooks may give an object something to do again and again, as to look at warps that they watch; an
 * object of a class in Lua may have something to do for ever, such as to count cycles. */
static bool may_never_be_idle(const Sim *sim) {
    return sim->next_periodic != NEVER || (first_at_work(sim, true) && !first_at_work(sim, false));
}

/* In the last slice nothing has moved since `progress`. */
static bool rests(const Sim *sim, uint64_t progress) {
    return may_never_be_idle(sim) && sim_progress(sim) == progress && !anything_in_flight(sim);
}

/* All other objects have something to do only while there are requests of others. */
static void refuse_endless_requests(const Gpu *gpu, uint64_t begun) {
    const SimObject *object = first_at_work(gpu->sim, true);
    if (!object || gpu_cycle(gpu) - begun <= gpu->hang_cycles + gpu_wire_cycles(gpu)) return;
    for_traffic_sources(gpu->sim, traffic_source_go_on);
    user_error(
        "%s: expected no more requests after the last kernel, which ended in cycle %lu, got some until "
        "cycle %lu",
        object->path, begun, gpu_cycle(gpu));
}

/* Sources of traffic rest meanwhile: they would never let the machine be idle. */
void gpu_drain(Gpu *gpu) {
    Sim *sim = gpu->sim;
    uint64_t begun = gpu_cycle(gpu), progress;
    for_traffic_sources(sim, traffic_source_rest);
    do {
        if (!dispatcher_idle(gpu->dispatcher)) begun = gpu_cycle(gpu);
        refuse_endless_requests(gpu, begun);
        progress = sim_progress(sim);
    } while (sim_run(sim, (gpu_cycle(gpu) + SLICE_CYCLES) * sim->clocks[0].period) != STOP_IDLE &&
             !rests(sim, progress));
    for_traffic_sources(sim, traffic_source_go_on);
}
