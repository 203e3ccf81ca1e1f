#include "mem/network/arbitration.h"

static uint64_t key_of(Arbitration rule, const ClassTable *priority, Candidate candidate) {
    if (rule == OLDEST) return candidate.came;
    if (rule == AGE) return candidate.message->issued;
    return class_value(priority, candidate.message->class_number);
}

uint32_t arbitration_winner(Arbitration rule, const ClassTable *priority, uint64_t inputs, uint32_t pointer,
                            CandidateOf *candidate, const void *context) {
    if (rule == ROUND_ROBIN) return first_at_or_after(inputs, pointer);
    if (rule == LOWEST_PORT) return (uint32_t)__builtin_ctzll(inputs);
    uint32_t winner = 0;
    uint64_t least = UINT64_MAX, rest = inputs;
    bool any = false;
    while (rest) {
        uint32_t input = first_at_or_after(rest, pointer);
        uint64_t key = key_of(rule, priority, candidate(context, input));
        rest &= ~(1ull << input);
        if (any && key >= least) continue;
        winner = input;
        least = key;
        any = true;
    }
    return winner;
}

uint32_t arbitration_ask(SimObject *object, bool responses, uint32_t output, uint64_t inputs,
                         uint32_t choice) {
    int64_t answer = event_ask(object, ARBITRATE, responses, output, (int64_t)inputs, choice);
    bool legal = answer >= 0 && answer < ARBITRATED_INPUTS_MAX && inputs >> answer & 1;
    return legal ? (uint32_t)answer : choice;
}

void arbitration_read_classes(ClassTable *priority, const SimObject *object, const char *text) {
    for (uint32_t class_number = 0; class_number < CLASSES; class_number++)
        priority->of[class_number] = (uint8_t)class_number;
    class_table_read(priority, object, "class_priority", text, CLASS_PRIORITY_MAX);
}

void arbitration_head(MethodCall *call, Candidate candidate) {
    const MemMessage *m = candidate.message;
    call->nothing = !m;
    if (!m) return;
    call->result[0].whole = m->class_number;
    call->result[1].whole = m->sm;
    call->result[2].whole = m->warp;
    call->result[3].whole = m->pc;
    call->result[4].flag = m->kind == MEM_WRITE;
    call->result[5].whole = (int64_t)m->issued;
    call->result[6].whole = (int64_t)candidate.came;
}

static bool is_legal(const int64_t *arguments, int64_t input) {
    return input >= 0 && input < ARBITRATED_INPUTS_MAX && (uint64_t)arguments[2] >> input & 1;
}

static const Question arbitrate = {"inputs of `inputs`", is_legal};

const Event arbitration_events[] = {
    [ARBITRATE] = {"arbitrate", "responses, output, inputs, choice", &arbitrate,
                   "Which of these inputs, a set, shall the output serve? Each of them can be served now. "
                   "responses: 1 for those, 0 for requests; choice: the input that the built-in rule serves"},
    {0}};
