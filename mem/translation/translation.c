#include "mem/translation/translation.h"

#include "core/sim/ways.h"

typedef struct {
    const SimObject *object; /* who asks for translations */
    uint64_t page_bytes;
} Asker;

/* 0: of another class. */
static uint64_t page_bytes_of(const SimObject *object) {
    bool translates = object->class == &tlb_class || object->class == &page_walker_class;
    return translates ? ((const Translator *)object)->page : 0;
}

static void check_end(const Asker *asker, const SimObject *end) {
    uint64_t page_bytes = page_bytes_of(end);
    if (!page_bytes)
        user_error("%s.walk: expected TLBs or PageWalkers behind it, got %s, a %s",
                   object_path(asker->object), object_path(end), end->class->name);
    if (page_bytes != asker->page_bytes)
        user_error("%s.page: expected that of %s, %lu, got %lu", object_path(asker->object), object_path(end),
                   page_bytes, asker->page_bytes);
}

/* What passes requests on is in no loop. */
static void check_link(void *context, const Field *port, const Link *link) {
    const SimObject *next = link->receiver;
    (void)port;
    if (!page_bytes_of(next) && next->class->passes_on)
        visit_request_links(next, check_link, context);
    else
        check_end(context, next);
}

void translation_check_behind(const SimObject *object, const Port *walk, uint64_t page_bytes) {
    Asker asker = {object, page_bytes};
    check_link(&asker, NULL, walk->send);
}
