/* What policies may call of a dispatcher. */
#include "core/gpu/device/dispatcher_state.h"
#include "core/gpu/device/gpu.h"

#include "core/sim/method.h"

static void set_limit(SimObject *object, MethodCall *call) {
    Dispatcher *d = (Dispatcher *)object;
    d->limit[call->argument[0].whole] = (uint8_t)call->argument[1].whole;
    d->fits_none[call->argument[0].whole] = false;
    object_wake(object);
}

static void call_resident(SimObject *object, MethodCall *call) {
    call->result[0].whole = resident_ctas((const Dispatcher *)object, (uint32_t)call->argument[0].whole);
}

static void call_waiting(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint64_t waiting = 0;
    for (uint32_t g = 0; g < d->grid_count; g++)
        waiting += d->grids[g].ctas - d->grids[g].handed_out;
    call->result[0].whole = (int64_t)waiting;
}

static void call_grid(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    for (uint32_t i = 0; i < 3; i++)
        call->result[i].whole = d->grid_count ? d->grids[d->present].size[i] : 0;
}

static void call_first_waiting(SimObject *object, MethodCall *call) {
    Dispatcher *d = (Dispatcher *)object;
    int64_t first = call->argument[0].whole, last = call->argument[1].whole;
    call->nothing = !d->grid_count || !has_ctas_left(&d->grids[d->present]) ||
                    !first_left(d, first, last, &call->result[0].whole);
}

static void call_kernels(SimObject *object, MethodCall *call) {
    call->result[0].whole = ((const Dispatcher *)object)->grid_count;
}

static void call_kernel(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    int64_t number = call->argument[0].whole;
    call->nothing = number >= d->grid_count;
    if (call->nothing) return;
    const Grid *grid = &d->grids[number];
    call->result[0].whole = (int64_t)(grid->ctas - grid->handed_out);
    call->result[1].whole = (int64_t)(grid->handed_out - grid->done);
    call->result[2].text = d->sms_of->name(d->sms_of->context, (uint32_t)number);
    call->result[3].whole = d->sms_of->tenant(d->sms_of->context, (uint32_t)number);
}

static void call_kernel_of(SimObject *object, MethodCall *call) {
    call->result[0].whole = ((const Dispatcher *)object)->slots[call->argument[0].whole].grid;
}

static void call_ctas_of(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint32_t sm = (uint32_t)call->argument[0].whole, kernel = (uint32_t)call->argument[1].whole;
    call->result[0].whole = ctas_of_kernel(d, sm, kernel);
}

static void call_room_for(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint32_t sm = (uint32_t)call->argument[0].whole, kernel = (uint32_t)call->argument[1].whole;
    call->nothing = !has_several_per_sm(d) || kernel >= d->grid_count;
    if (!call->nothing) call->result[0].whole = room_within(d, sm, kernel);
}

/* It takes what all objects of the machine have counted, each in its own turn of a cycle. */
static void call_count_of(SimObject *object, MethodCall *call) {
    const Dispatcher *d = (const Dispatcher *)object;
    uint32_t kernel = (uint32_t)call->argument[0].whole;
    uint64_t count = 0;
    if (!d->count_by_kernel)
        method_refuse(call, "expected a dispatcher with count_by_kernel, got one without");
    else if (!sim_is_at_rest(object->sim))
        method_refuse(call, "expected a call from on_period or where kernels start and end, got one in the "
                            "midst of a cycle");
    else if (kernel < d->grid_count &&
             !d->sms_of->count(d->sms_of->context, kernel, call->argument[1].text, &count))
        method_refuse(call, "name: expected a count of a launch, such as sm_warp_instructions, got '%.64s'",
                      call->argument[1].text);
    call->nothing = kernel >= d->grid_count;
    call->result[0].whole = (int64_t)count;
}

static void call_drain(SimObject *object, MethodCall *call) {
    Dispatcher *d = (Dispatcher *)object;
    SmSlots *slots = &d->slots[call->argument[0].whole];
    if (!has_no_cta(slots)) slots->drains = DRAINS_FOR_POLICY;
}

const Method dispatcher_methods[] = {
    METHOD("set_limit", set_limit,
           "The SM gets no CTA while it holds so many, in this kernel and later ones; 0: as many as fit",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms), WHOLE_NUMBER("ctas", .min = 0, .max = MAX_CTAS))),
    METHOD("resident", call_resident, "CTAs that the SM holds, those on their way to it and back included",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms)), RETURNS(WHOLE_NUMBER("ctas"))),
    METHOD("waiting", call_waiting, "CTAs of all kernels that have begun that no SM has got yet",
           RETURNS(WHOLE_NUMBER("ctas"))),
    METHOD("grid", call_grid, "CTAs of the kernel in x, y and z whose CTAs are handed out, or were last",
           RETURNS(WHOLE_NUMBER("x"), WHOLE_NUMBER("y"), WHOLE_NUMBER("z"))),
    METHOD("first_waiting", call_first_waiting,
           "The lowest number, from first to last, of a CTA of this kernel that no SM has got yet; nil: all "
           "are handed out",
           TAKES(WHOLE_NUMBER("first"), WHOLE_NUMBER("last")), RETURNS(WHOLE_NUMBER("cta")), MAY_BE_NIL),
    METHOD("kernels", call_kernels, "Kernels of the present launch", RETURNS(WHOLE_NUMBER("kernels"))),
    METHOD("kernel", call_kernel,
           "Of one of them, numbered from 0: CTAs that no SM has got yet, and CTAs that SMs hold; 0 before "
           "it begins; its name, and its tenant. "
           "nil: there are not so many",
           TAKES(WHOLE_NUMBER("kernel", .max = MAX_KERNELS_IN_FLIGHT - 1)),
           RETURNS(WHOLE_NUMBER("waiting"), WHOLE_NUMBER("resident"), TEXT_VALUE("name"),
                   WHOLE_NUMBER("tenant")),
           MAY_BE_NIL),
    METHOD("kernel_of", call_kernel_of,
           "Number of the kernel whose CTAs the SM holds or held last; with kernels_per_sm above 1, of the "
           "CTA that it got last or gets next",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms)), RETURNS(WHOLE_NUMBER("kernel"))),
    METHOD("ctas_of", call_ctas_of, "CTAs of the kernel, numbered from 0, that the SM holds",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms),
                 WHOLE_NUMBER("kernel", .max = MAX_KERNELS_IN_FLIGHT - 1)),
           RETURNS(WHOLE_NUMBER("ctas"))),
    METHOD("room_for", call_room_for,
           "CTAs of the kernel that fit the SM beside those that it holds, with kernels_per_sm above 1; "
           "else nil",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms),
                 WHOLE_NUMBER("kernel", .max = MAX_KERNELS_IN_FLIGHT - 1)),
           RETURNS(WHOLE_NUMBER("ctas")), MAY_BE_NIL),
    METHOD(
        "count_of", call_count_of,
        "With count_by_kernel: what the kernel of the present launch, numbered from 0, has had so far, by a "
        "name as results have it, such as sm_warp_instructions or l2_misses; nil: there are not so many "
        "kernels. Only where everything is at rest: in on_period, and when kernels start and end",
        TAKES(WHOLE_NUMBER("kernel", .max = MAX_KERNELS_IN_FLIGHT - 1), TEXT_VALUE("name")),
        RETURNS(WHOLE_NUMBER("count")), MAY_BE_NIL),
    METHOD("drain", call_drain,
           "The SM gets no more CTAs until it is empty; then it may get another kernel: next_kernel()",
           TAKES(WHOLE_NUMBER_BELOW("sm", Dispatcher, sms))),
    METHODS_END};
