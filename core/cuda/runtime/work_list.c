#include "core/cuda/runtime/work_list.h"

#include "core/cuda/runtime/streams.h"

#include <stdlib.h>
#include <string.h>

/* What the simulator launches at most, and has in flight; and how many items are looked at from the first that is not done
 * on, since lists may be long. In flight, that one may be a kernel which all others overtake. */
enum { MOST_TOGETHER = 1024, MOST_IN_FLIGHT = 16384, WINDOW = 2048, WINDOW_IN_FLIGHT = 8 * MOST_IN_FLIGHT };

int warp_list_add(WorkList *list, const WarpWork *work, bool keeps, const uint32_t *after,
                  uint32_t after_count, int priority) {
    static uint64_t lists;
    WorkItem item = {
        .work = *work, .is_kept = keeps, .after_count = after_count, .priority = priority, .number = -1};
    int problem = keeps ? warp_work_keep(&item.work, work) : CUDA_OK;
    if (problem) return problem;
    if (!list->count) list->number = ++lists;
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 16;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        if (!list->items) abort();
    }
    item.after = calloc(after_count + 1, sizeof *item.after);
    if (!item.after) abort();
    if (after_count) memcpy(item.after, after, after_count * sizeof *after);
    list->items[list->count++] = item;
    return CUDA_OK;
}

void warp_list_empty(WorkList *list) {
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].is_kept) warp_work_free(&list->items[i].work);
        free(list->items[i].after);
    }
    free(list->items);
    *list = (WorkList){0};
}

/* Behind the last item that is looked at. */
static uint32_t end_of_window(const WorkList *list) {
    return list->count - list->first > list->window ? list->first + list->window : list->count;
}

static bool is_kernel(const WorkItem *item) {
    return item->work.kind == WORK_KERNEL;
}

/* It takes no part in what the machine does, so that kernels behind it need not wait for the program. */
static bool is_mark(const WorkItem *item) {
    return item->work.kind == WORK_RECORD || item->work.kind == WORK_WAIT || item->work.kind == WORK_EMPTY ||
           item->work.kind == WORK_HOLD;
}

static bool is_ready(const WorkList *list, const WorkItem *item) {
    for (uint32_t i = 0; i < item->after_count; i++)
        if (!list->items[item->after[i]].is_done) return false;
    return true;
}

/* When the last of those that it waited for has ended, or now. */
static uint64_t end_of(const WorkList *list, const WorkItem *item) {
    uint64_t end = item->after_count ? 0 : warp_cycle();
    for (uint32_t i = 0; i < item->after_count; i++) {
        uint64_t before = list->items[item->after[i]].ends;
        if (before > end) end = before;
    }
    return end;
}

/* Of what is no kernel, or of a kernel alone. */
static int do_item(const WorkList *list, WorkItem *item) {
    int problem = CUDA_OK;
    item->ends = end_of(list, item);
    if (item->work.kind == WORK_RECORD)
        problem = warp_event_record(item->work.event, item->ends);
    else
        problem = warp_work_do(&item->work);
    if (is_kernel(item)) item->ends = warp_cycle();
    item->is_done = true;
    return problem;
}

/* Others may issue work meanwhile, or wait for it: the items may be elsewhere behind it, or be no more. */
static int do_host(WorkList *list, WorkItem *item) {
    uint32_t place = (uint32_t)(item - list->items);
    uint64_t number = list->number;
    item->ends = end_of(list, item);
    item->is_running = true;
    list->running++;
    int problem = warp_work_do(&item->work);
    if (list->number != number) return problem;
    item = &list->items[place];
    item->is_running = false;
    item->is_done = true;
    list->running--;
    return problem;
}

static bool is_value(const WorkItem *item) {
    return item->work.kind == WORK_VALUE;
}

static int do_if_it_can(WorkList *list, WorkItem *item) {
    bool can = true;
    if (item->work.kind == WORK_HOST) return do_host(list, item);
    int problem = is_value(item) ? warp_value_holds(&item->work.value, &can) : CUDA_OK;
    return problem || !can ? problem : do_item(list, item);
}

/* All that waits for nothing and is no kernel. An item waits for items before it, so one pass finds them all. */
static int do_ready(WorkList *list) {
    int problem = CUDA_OK;
    for (uint32_t i = list->first; i < end_of_window(list) && !problem && !warp_dead(); i++) {
        WorkItem *item = &list->items[i];
        if (!item->is_done && !item->is_running && !is_kernel(item) && is_ready(list, item))
            problem = do_if_it_can(list, item);
    }
    return problem;
}

/* Does an item wait for nothing but a word? */
static bool waits_for_value(const WorkList *list) {
    for (uint32_t i = list->first; i < end_of_window(list); i++) {
        const WorkItem *item = &list->items[i];
        if (is_value(item) && !item->is_done && is_ready(list, item)) return true;
    }
    return false;
}

bool warp_list_is_stuck(const WorkList *list) {
    bool waits = list->running != 0;
    for (uint32_t i = list->first; i < end_of_window(list); i++) {
        const WorkItem *item = &list->items[i];
        if (!is_value(item) || item->is_done || !is_ready(list, item)) continue;
        if (warp_value_seems_to_hold(&item->work.value)) return false;
        waits = true;
    }
    return waits;
}

/* --- Together ---------------------------------------------------------------------------------- */

typedef struct {
    WarpKernelLaunch *launches;
    WorkItem **items; /* of each launch */
    uint32_t count;
} Group;

/* It may be launched with the kernels of the group so far: what it waits for is done, in flight, or among these, or marks of
 * which the same is true, whose number is 0. */
static bool may_join(const WorkList *list, const WorkItem *item) {
    for (uint32_t i = 0; i < item->after_count; i++) {
        const WorkItem *before = &list->items[item->after[i]];
        if (!before->is_done && !before->is_in_flight && before->number < 0) return false;
    }
    return true;
}

/* Adds the numbers of the kernels that an item of the group waits for, each once; of those in flight, those that they have
 * there. */
static void find_kernels_before(WorkList *list, const WorkItem *item, WarpKernelLaunch *launch) {
    for (uint32_t i = 0; i < item->after_count; i++) {
        WorkItem *before = &list->items[item->after[i]];
        if (before->is_done || before->seen == list->searches) continue;
        before->seen = list->searches;
        if (before->is_in_flight)
            launch->behind[launch->behind_count++] = before->launch;
        else if (is_kernel(before))
            launch->after[launch->after_count++] = (uint32_t)before->number;
        else
            find_kernels_before(list, before, launch);
    }
}

static void join(WorkList *list, Group *group, WorkItem *item) {
    const WorkKernel *kernel = &item->work.kernel;
    WarpKernelLaunch *launch = &group->launches[group->count];
    *launch = (WarpKernelLaunch){.function = kernel->function,
                                 .shape = &kernel->shape,
                                 .params = kernel->params,
                                 .packed = kernel->packed,
                                 .packed_bytes = kernel->packed_bytes,
                                 .priority = item->priority};
    launch->after = calloc(group->count + 1, sizeof *launch->after);
    launch->behind = calloc(list->in_flight + 1, sizeof *launch->behind);
    if (!launch->after || !launch->behind) abort();
    list->searches++;
    find_kernels_before(list, item, launch);
    group->items[group->count] = item;
    item->number = group->count++;
}

static Group group_of(WorkList *list) {
    uint32_t most = end_of_window(list) - list->first;
    if (most > MOST_TOGETHER) most = MOST_TOGETHER;
    Group group = {.launches = calloc(most, sizeof *group.launches),
                   .items = calloc(most, sizeof *group.items)};
    if (!group.launches || !group.items) abort();
    for (uint32_t i = list->first; i < end_of_window(list) && group.count < most; i++) {
        WorkItem *item = &list->items[i];
        if (item->is_done || item->is_in_flight || !may_join(list, item)) continue;
        if (is_mark(item)) item->number = 0;
        if (is_kernel(item)) join(list, &group, item);
    }
    return group;
}

static bool may_be_next(const WarpKernelLaunch *launch, const bool *is_placed) {
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (!is_placed[launch->after[i]]) return false;
    return true;
}

/* Of those that wait for none that has no place yet, the first of the lowest number. */
static uint32_t next_by_priority(const Group *group, const bool *is_placed) {
    uint32_t best = group->count;
    for (uint32_t k = 0; k < group->count; k++) {
        if (is_placed[k] || !may_be_next(&group->launches[k], is_placed)) continue;
        if (best == group->count || group->items[k]->priority < group->items[best]->priority) best = k;
    }
    return best;
}

/* The machine gives its SMs in the order of the list. */
static void sort_by_priority(Group *group) {
    Group sorted = {.launches = calloc(group->count, sizeof *sorted.launches),
                    .items = calloc(group->count, sizeof *sorted.items)};
    bool *is_placed = calloc(group->count, sizeof *is_placed);
    if (!sorted.launches || !sorted.items || !is_placed) abort();
    for (; sorted.count < group->count; sorted.count++) {
        uint32_t next = next_by_priority(group, is_placed);
        is_placed[next] = true;
        sorted.launches[sorted.count] = group->launches[next];
        sorted.items[sorted.count] = group->items[next];
        group->items[next]->number = sorted.count;
    }
    for (uint32_t k = 0; k < sorted.count; k++)
        for (uint32_t i = 0; i < sorted.launches[k].after_count; i++)
            sorted.launches[k].after[i] = (uint32_t)group->items[sorted.launches[k].after[i]]->number;
    free(is_placed);
    free(group->launches);
    free(group->items);
    *group = sorted;
}

static void free_group(WorkList *list, Group *group) {
    for (uint32_t k = 0; k < group->count; k++) {
        free(group->launches[k].after);
        free(group->launches[k].behind);
    }
    free(group->launches);
    free(group->items);
    for (uint32_t i = list->first; i < end_of_window(list); i++)
        list->items[i].number = -1;
}

/* A launch that the simulator refuses is no reason not to do the others. */
static int do_one_by_one(const WorkList *list, const Group *group) {
    int first = CUDA_OK;
    for (uint32_t k = 0; k < group->count && !warp_dead(); k++) {
        int problem = do_item(list, group->items[k]);
        if (!first) first = problem;
    }
    return first;
}

static int launch_group(WorkList *list) {
    Group group = group_of(list);
    sort_by_priority(&group);
    int problem = warp_launch_together(group.launches, group.count);
    for (uint32_t k = 0; k < group.count && !problem; k++) {
        group.items[k]->ends = group.launches[k].ends;
        group.items[k]->is_done = true;
    }
    if (problem && !warp_dead()) problem = do_one_by_one(list, &group);
    free_group(list, &group);
    return problem;
}

/* With one kernel that waits for nothing, all others wait for it. False: there is none. */
static bool launch_next(WorkList *list, int *problem) {
    WorkItem *first = NULL;
    uint32_t ready = 0;
    for (uint32_t i = list->first; i < end_of_window(list); i++) {
        WorkItem *item = &list->items[i];
        if (item->is_done || item->is_running || is_value(item) || !is_ready(list, item)) continue;
        if (!first) first = item;
        ready++;
    }
    if (first) *problem = ready > 1 ? launch_group(list) : do_item(list, first);
    return first != NULL;
}

static bool is_all_done(WorkList *list) {
    while (list->first < list->count && list->items[list->first].is_done)
        list->first++;
    return list->first == list->count;
}

int warp_list_do(WorkList *list) {
    int first = CUDA_OK;
    bool goes_on = true;
    uint64_t number = list->number;
    list->window = WINDOW;
    while (!warp_dead() && list->number == number && !is_all_done(list) && goes_on) {
        int problem = do_ready(list);
        if (!problem && !is_all_done(list)) goes_on = launch_next(list, &problem);
        if (!first) first = problem;
    }
    return first;
}

/* --- In flight ----------------------------------------------------------------------------------- */

static void note_end(void *context, uint32_t number, uint64_t cycle) {
    WorkList *list = context;
    for (uint32_t i = list->first; i < list->count; i++) {
        WorkItem *item = &list->items[i];
        if (!item->is_in_flight || item->launch != number) continue;
        item->is_in_flight = false;
        item->is_done = true;
        item->ends = cycle;
        list->in_flight--;
    }
    if (!list->in_flight) list->begun = 0;
}

int warp_list_land(WorkList *list) {
    return list->in_flight ? warp_wait_for(NULL, 0, 0, note_end, list) : CUDA_OK;
}

static bool may_be_in_flight(const WorkList *list) {
    uint32_t kernels = list->begun;
    for (uint32_t i = list->first; i < list->count; i++) {
        const WorkItem *item = &list->items[i];
        kernels += is_kernel(item) && !item->is_done && !item->is_in_flight;
    }
    return kernels <= MOST_IN_FLIGHT && list->count - list->first <= WINDOW_IN_FLIGHT &&
           !warp_shares_memory();
}

/* Kernels that wait for none but kernels. How many. */
static int begin_some(WorkList *list, uint32_t *count) {
    Group group = group_of(list);
    uint32_t first;
    sort_by_priority(&group);
    int problem = group.count ? warp_begin(group.launches, group.count, &first) : CUDA_OK;
    for (uint32_t k = 0; k < group.count && !problem; k++) {
        group.items[k]->is_in_flight = true;
        group.items[k]->launch = first + k;
        list->in_flight++;
        list->begun++;
    }
    *count = group.count;
    free_group(list, &group);
    return problem;
}

static int begin_kernels(WorkList *list) {
    uint32_t count = 1;
    int problem = CUDA_OK;
    while (count && !problem)
        problem = begin_some(list, &count);
    return problem;
}

static void see(WorkList *list, const uint32_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        list->items[items[i]].seen = list->searches;
}

/* Those that are seen see what they wait for: items wait for items before them. */
static void see_what_they_wait_for(WorkList *list) {
    for (uint32_t i = list->count; i-- > list->first;) {
        const WorkItem *item = &list->items[i];
        if (!item->is_done && item->seen == list->searches) see(list, item->after, item->after_count);
    }
}

bool warp_list_is_all(WorkList *list, const uint32_t *items, uint32_t count) {
    list->searches++;
    see(list, items, count);
    see_what_they_wait_for(list);
    for (uint32_t i = list->first; i < list->count; i++)
        if (!list->items[i].is_done && list->items[i].seen != list->searches) return false;
    return true;
}

/* A kernel in flight may write the word that an item waits for, long before it ends. */
static int wait_for_words(WorkList *list) {
    enum { LOOK_CYCLES = 1000 };
    uint32_t *numbers = calloc(list->in_flight, sizeof *numbers), found = 0;
    if (!numbers) abort();
    for (uint32_t i = list->first; i < list->count; i++)
        if (list->items[i].is_in_flight) numbers[found++] = list->items[i].launch;
    int problem = warp_wait_for(numbers, found, LOOK_CYCLES, note_end, list);
    free(numbers);
    return problem;
}

/* For the end of any kernel in flight that these wait for, or work of the program's own. */
static int wait_for_any(WorkList *list, const uint32_t *items, uint32_t count, uint64_t cycles) {
    if (waits_for_value(list)) return list->in_flight ? wait_for_words(list) : CUDA_NOT_READY;
    uint32_t *numbers = calloc(list->in_flight + 1, sizeof *numbers), found = 0;
    if (!numbers) abort();
    list->searches++;
    see(list, items, count);
    for (uint32_t i = list->first; i < list->count; i++)
        if (!is_kernel(&list->items[i]) && !is_mark(&list->items[i])) see(list, &i, 1);
    see_what_they_wait_for(list);
    for (uint32_t i = list->first; i < list->count; i++) {
        const WorkItem *item = &list->items[i];
        if (item->is_in_flight && item->seen == list->searches) numbers[found++] = item->launch;
    }
    int problem = found           ? warp_wait_for(numbers, found, cycles, note_end, list)
                  : list->running ? CUDA_NOT_READY
                                  : CUDA_NOT_SUPPORTED;
    free(numbers);
    return problem;
}

bool warp_list_are_done(const WorkList *list, const uint32_t *items, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!list->items[items[i]].is_done) return false;
    return true;
}

int warp_list_do_until(WorkList *list, const uint32_t *items, uint32_t count, uint64_t cycles) {
    uint64_t until = cycles ? (warp_cycle() / cycles + 1) * cycles : UINT64_MAX;
    int first = CUDA_OK;
    uint64_t number = list->number;
    list->window = WINDOW_IN_FLIGHT;
    while (!warp_dead()) {
        if (!may_be_in_flight(list)) return CUDA_NOT_SUPPORTED;
        int problem = do_ready(list);
        if (!first) first = problem;
        if (list->number != number) return first;
        is_all_done(list);
        if (warp_list_are_done(list, items, count)) return first;
        if (warp_cycle() >= until) return first;
        problem = begin_kernels(list);
        if (!problem) problem = wait_for_any(list, items, count, cycles);
        if (problem) return problem;
    }
    return first;
}
