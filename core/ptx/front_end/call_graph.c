/* Which functions can come to call themselves, found out from the texts of all bodies when the first call is
 * met. Indirect calls may reach each function whose address is taken. */
#include "core/ptx/front_end/parser.h"

#include <string.h>

typedef struct {
    uint32_t *list;
    uint32_t count, capacity;
} Callees;

/* A node per function in the order of their declaration, and behind them one that stands for all indirect
 * calls. */
typedef struct {
    Parser *parser;
    Callees *callees;
    uint32_t count;
    /* Tarjan's search for strongly connected components, without recursion. */
    uint32_t *number, *lowest, *next, *path, *open;
    uint32_t numbered, depth, open_count, components;
} Graph;

static Function *function_at(const Graph *graph, uint32_t node) {
    return node + 1 == graph->count ? &graph->parser->indirect_calls
                                    : graph->parser->functions[node]->function;
}

static void add_callee(Graph *graph, uint32_t caller, uint32_t callee) {
    Callees *callees = &graph->callees[caller];
    if (callees->count && callees->list[callees->count - 1] == callee) return;
    callees->list = arena_grow(&graph->parser->scratch, callees->list, sizeof *callees->list, callees->count,
                               &callees->capacity);
    callees->list[callees->count++] = callee;
}

/* From behind a "call" to the name that is called, which may stand behind results in parentheses. */
static Token called_name(Lexer *lexer) {
    Token token;
    do
        token = lexer_next(lexer);
    while (token.kind == TOKEN_DOTTED);
    if (token.punctuation != '(') return token;
    while (token.kind != TOKEN_END && token.punctuation != ')')
        token = lexer_next(lexer);
    lexer_next(lexer); /* the comma */
    return lexer_next(lexer);
}

static void find_callees(Graph *graph, uint32_t caller) {
    const Parser *parser = graph->parser;
    const Function *function = function_at(graph, caller);
    Lexer lexer = function->body;
    for (uint32_t depth = 1; depth;) {
        Token token = lexer_next(&lexer);
        if (token.kind == TOKEN_END || token.kind == TOKEN_BROKEN) return;
        if (token.punctuation == '{') depth++;
        if (token.punctuation == '}') depth--;
        if (!token_is(token, TOKEN_IDENTIFIER, "call")) continue;
        token = called_name(&lexer);
        const Name *name = token.kind == TOKEN_IDENTIFIER
                               ? name_find(&parser->symbols, token.text, token.length)
                               : NULL;
        const Symbol *symbol = name ? module_symbol(parser, function->source, name) : NULL;
        bool direct = symbol && symbol->kind == SYMBOL_FUNCTION;
        add_callee(graph, caller, direct ? (uint32_t)(symbol->offset / 16 - 1) : graph->count - 1);
    }
}

static void enter(Graph *graph, uint32_t node) {
    graph->number[node] = graph->lowest[node] = ++graph->numbered;
    graph->path[graph->depth++] = node;
    graph->open[graph->open_count++] = node;
}

static bool calls_itself(const Graph *graph, uint32_t node) {
    const Callees *callees = &graph->callees[node];
    for (uint32_t i = 0; i < callees->count; i++)
        if (callees->list[i] == node) return true;
    return false;
}

/* The nodes that were opened since this one, and it, are a component. */
static void close_component(Graph *graph, uint32_t node) {
    bool recursive = graph->open[graph->open_count - 1] != node || calls_itself(graph, node);
    graph->components++;
    for (uint32_t member = UINT32_MAX; member != node;) {
        member = graph->open[--graph->open_count];
        graph->lowest[member] = UINT32_MAX; /* closed */
        function_at(graph, member)->component = graph->components;
        function_at(graph, member)->recursive = recursive;
    }
}

static void leave(Graph *graph, uint32_t node) {
    uint32_t lowest = graph->lowest[node];
    graph->depth--;
    if (lowest == graph->number[node]) {
        close_component(graph, node);
        return;
    }
    uint32_t *above = &graph->lowest[graph->path[graph->depth - 1]];
    if (lowest < *above) *above = lowest;
}

static void search_from(Graph *graph, uint32_t root) {
    enter(graph, root);
    while (graph->depth) {
        uint32_t node = graph->path[graph->depth - 1];
        const Callees *callees = &graph->callees[node];
        if (graph->next[node] == callees->count) {
            leave(graph, node);
            continue;
        }
        uint32_t callee = callees->list[graph->next[node]++];
        if (!graph->number[callee])
            enter(graph, callee);
        else if (graph->lowest[callee] != UINT32_MAX && graph->number[callee] < graph->lowest[node])
            graph->lowest[node] = graph->number[callee];
    }
}

/* Functions that run while a recursive one does have frames on the stack, as it has. */
static void mark_framed(Graph *graph) {
    uint32_t count = 0, *waiting = graph->open;
    bool *seen = arena_alloc(&graph->parser->scratch, graph->count, sizeof *seen);
    for (uint32_t node = 0; node < graph->count; node++)
        if (function_at(graph, node)->recursive) seen[waiting[count++] = node] = true;
    while (count) {
        uint32_t node = waiting[--count];
        function_at(graph, node)->framed = true;
        for (uint32_t i = 0; i < graph->callees[node].count; i++) {
            uint32_t callee = graph->callees[node].list[i];
            if (!seen[callee]) seen[waiting[count++] = callee] = true;
        }
    }
}

static uint32_t *numbers(Graph *graph) {
    return arena_alloc(&graph->parser->scratch, graph->count, sizeof(uint32_t));
}

void call_graph_find(Parser *parser) {
    if (parser->call_graph_found) return;
    parser->call_graph_found = true;
    find_addresses(parser);
    Graph graph = {.parser = parser, .count = parser->function_count + 1};
    graph.callees = arena_alloc(&parser->scratch, graph.count, sizeof *graph.callees);
    graph.number = numbers(&graph);
    graph.lowest = numbers(&graph);
    graph.next = numbers(&graph);
    graph.path = numbers(&graph);
    graph.open = numbers(&graph);
    for (uint32_t node = 0; node < parser->function_count; node++) {
        if (function_at(&graph, node)->has_body) find_callees(&graph, node);
        if (function_at(&graph, node)->address_taken) add_callee(&graph, graph.count - 1, node);
    }
    for (uint32_t node = 0; node < graph.count; node++)
        if (!graph.number[node]) search_from(&graph, node);
    mark_framed(&graph);
}
