/* Which of several inputs that ask for an output gets it. */
#ifndef WW_MEM_ARBITRATION_H
#define WW_MEM_ARBITRATION_H

#include "core/sim/event.h"
#include "core/sim/method.h"
#include "mem/protocol/class_table.h"
#include "mem/protocol/memory_protocol.h"
#include "mem/protocol/port_set.h"

#define ARBITRATION_WORDS "round_robin|priority|oldest|age|class"
#define ARBITRATION_DOC                                                                                      \
    "Which of several inputs goes first. priority: the lowest port; oldest: the message that came first; "   \
    "age: "                                                                                                  \
    "the one whose first requester sent it first; class: that of the lowest class_priority. Of equals, by "  \
    "turns"
#define CLASS_PRIORITY_DOC                                                                                   \
    "arbitration = class: the priority of classes 0, 1, ..., the lowest first (\"1,0,0\"); of those left "   \
    "out, "                                                                                                  \
    "the class number"

typedef enum { ROUND_ROBIN, LOWEST_PORT, OLDEST, AGE, BY_CLASS } Arbitration;

enum { CLASS_PRIORITY_MAX = 255 };

/* "arbitrate": the only event of the classes that arbitrate. */
enum { ARBITRATE };
extern const Event arbitration_events[];

/* The head of an input, and when it came. */
typedef struct {
    const MemMessage *message;
    uint64_t came;
} Candidate;

typedef Candidate CandidateOf(const void *context, uint32_t input);

/* Any rule; `pointer`: the input with the highest priority among equals. */
uint32_t arbitration_winner(Arbitration rule, const ClassTable *priority, PortSet inputs, uint32_t pointer,
                            CandidateOf *candidate, const void *context);

/* What subscribers to the event say, or `choice`. They hear of the inputs in the choice's word. */
uint32_t arbitration_ask(SimObject *object, bool responses, uint32_t output, PortSet inputs, uint32_t choice);

/* In build(): the parameter class_priority as a table. */
void arbitration_read_classes(ClassTable *priority, const SimObject *object, const char *text);

/* For the method `head`: what a policy may know of an input's head. */
#define HEAD_RESULTS                                                                                         \
    RETURNS(WHOLE_NUMBER("class"), WHOLE_NUMBER("sm"), WHOLE_NUMBER("warp"), WHOLE_NUMBER("pc"),             \
            FLAG_VALUE("write"), WHOLE_NUMBER("issued"), WHOLE_NUMBER("came"))
#define HEAD_DOC                                                                                             \
    "The first message of an input, nil without one: issued and came are ticks, those of its first "         \
    "requester's "                                                                                           \
    "sending it and of its coming here"
void arbitration_head(MethodCall *call, Candidate candidate);

#endif
