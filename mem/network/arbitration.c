#include "mem/network/arbitration.h"

static uint64_t key_of(Arbitration rule, const ClassTable *priority, Candidate candidate) {
    if (rule == OLDEST) return candidate.came;
    if (rule == AGE) return candidate.message->issued;
    return class_value(priority, candidate.message->class_number);
}

uint32_t arbitration_winner(Arbitration rule, const ClassTable *priority, PortSet inputs, uint32_t pointer,
                            CandidateOf *candidate, const void *context) {
    uint32_t first = ports_first_from(inputs, rule == LOWEST_PORT ? 0 : pointer), winner = first,
             input = first;
    if (rule == ROUND_ROBIN || rule == LOWEST_PORT) return first;
    uint64_t least = UINT64_MAX;
    bool any = false;
    do {
        uint64_t key = key_of(rule, priority, candidate(context, input));
        if (!any || key < least) {
            winner = input;
            least = key;
            any = true;
        }
        input = ports_first_from(inputs, input + 1 == inputs.words * PORTS_IN_WORD ? 0 : input + 1);
    } while (input != first);
    return winner;
}

uint32_t arbitration_ask(SimObject *object, bool responses, uint32_t output, PortSet inputs,
                         uint32_t choice) {
    uint32_t word = choice / PORTS_IN_WORD, first = word * PORTS_IN_WORD;
    int64_t answer = event_ask(object, ARBITRATE, responses, output, (int64_t)inputs.word[word], choice,
                               first);
    bool legal = answer >= first && answer < first + PORTS_IN_WORD && port_in(inputs, (uint32_t)answer);
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
    int64_t place = input - arguments[4];
    return place >= 0 && place < PORTS_IN_WORD && (uint64_t)arguments[2] >> place & 1;
}

static const Question arbitrate = {"inputs of `inputs`", is_legal};

const Event arbitration_events[] = {
    [ARBITRATE] = {"arbitrate", "responses, output, inputs, choice, first", &arbitrate,
                   "Which of these inputs, a set, shall the output serve? Each of them can be served now. "
                   "responses: 1 for those, 0 for requests; choice: the input that the built-in rule serves; "
                   "first: the input that bit 0 of `inputs` stands for, 0 where there are no more than 64"},
    {0}};
