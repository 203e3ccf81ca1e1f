/* The state of a crossbar, shared by its files: crossbar.c, its cycle; crossbar_class.c, its rows and building;
 * crossbar_check.c, its conservation laws. */
#ifndef WW_MEM_CROSSBAR_STATE_H
#define WW_MEM_CROSSBAR_STATE_H

#include "mem/network/arbitration.h"
#include "mem/network/slices.h"
#include "mem/protocol/address_map.h"
#include "mem/protocol/memory_protocol.h"

enum {
    MAX_PACKET_BYTES = HEADER_BYTES + LINE_BYTES_MAX,
    LATENCY_MAX = 1000,
};

enum { CALENDAR_STEPS = 64 };

typedef enum { REQUESTS, RESPONSES } Direction;
typedef enum { FOR_EACH_WRITE, FOR_EACH_SECTOR } Acknowledgements;

typedef struct {
    uint64_t free;         /* step from which its next part may cross, not before channel_free */
    uint64_t channel_free; /* with speedup: step by which its channel has brought the last part's tail */
    uint64_t crossed;      /* flits of its head that have crossed in parts                     */
} Input;

typedef struct {
    uint64_t free;         /* step from which the next part may cross to it             */
    uint64_t channel_free; /* first time at which the output channel can take a flit    */
    uint64_t all_left;     /* by when what has crossed has left, if the link is not full */
    uint32_t first, count; /* packets in its ring                                       */
    uint32_t flits;        /* room taken in its buffer                                  */
    uint32_t pointer;      /* input with the highest priority                           */
} Output;

typedef struct {
    MemMessage message;
    uint64_t arrived;          /* ready at the input                           */
    uint64_t leaves;           /* earliest time at which its tail is sent on   */
    uint32_t flits, last_part; /* last_part: flits that crossed last */
} Packet;

/* What an input's link holds, as far as the switch has looked. */
typedef struct {
    Link *link;
    const MemMessage *message; /* in the link */
    uint64_t ready;            /* step in which the head is ready    */
    uint64_t step;             /* from which its first part may cross */
    uint32_t output, flits;
} Head;

typedef struct {
    Link *link;
    uint64_t inputs; /* that ask for it, unless the crossbar is wide            */
    uint64_t asked;  /* step in which the first input asked since there were none */
} Target;

/* A word of each of these sets of ports. */
typedef struct {
    uint64_t requested; /* outputs that inputs ask for */
    uint64_t idle, far;
    uint64_t coming[CALENDAR_STEPS];
} PortWord;

/* Each input with a head is in `coming`, by the step of the head modulo CALENDAR_STEPS, until that has come, and before
 * that in `far` when it is further ahead; then among those that ask its target until it has crossed. An input whose link was
 * empty is in `idle`. All of it follows from links and state. */
typedef struct {
    Head head[PORTS_IN_WORD];     /* of each input, and of each output: when the crossbar is not wide, */
    Target target[PORTS_IN_WORD]; /* else these three, the last of which has the words of each output   */
    Head *wide_head;
    Target *wide_target;
    uint64_t *wide_asking; /* as Target.inputs */
    PortWord ports[PORT_WORDS];
    uint64_t begin;        /* first step of the calendar: of the present cycle */
    uint64_t steps;        /* those at which any is coming, modulo CALENDAR_STEPS */
    uint64_t first_far;    /* step of the first head of those in `far` */
    uint64_t crossing;     /* step from which something may cross           */
    uint64_t sending;      /* time from which a packet may be sent on       */
    uint64_t seen_quantum; /* the links have been looked at in this quantum                */
    uint64_t outputs_cut;  /* all links are: between the boundaries only the subnet itself fills them */
    uint64_t all_cut;      /* those of the inputs, too: then it alone changes anything at all         */
    uint64_t unseen_until; /* with outputs_cut: until when nobody sees what is sent ahead of time; else 0 */
    uint64_t latency;      /* of the switch, in ticks                                        */
} View;

typedef struct {
    uint32_t inputs, outputs;
    uint32_t input_words, output_words; /* of sets of them */
    uint32_t ring;                      /* packets per output, a power of two */
    uint32_t packet_slots;
    uint64_t part;                /* flits that cross with one grant    */
    uint64_t sending[PORT_WORDS]; /* outputs with packets */
    Input input[PORTS_IN_WORD];   /* when the crossbar is not wide, */
    Output output[PORTS_IN_WORD];
    uint32_t wide_inputs, wide_outputs; /* else as many */
    Input *wide_input;
    Output *wide_output;
    Packet *packets; /* outputs * ring */
    uint64_t packets_in, packets_out, flits_in, flits_out;
    uint64_t conflicts, blocked_cycles, latency_ticks;
    View view;
} Subnet;

typedef struct {
    SimObject obj;
    uint32_t up_count, down_count;
    uint64_t flit;
    uint32_t latency, speedup, output_buffer, response_part, speedup_shift, acknowledgements;
    uint32_t arbitration;
    uint32_t wide; /* a side has more ports than a word has bits */
    char *class_priority;
    ClassTable priority;
    uint8_t flits[MAX_PACKET_BYTES + 1]; /* of a packet, by its bytes */
    uint8_t unused[7];
    Port *up, *down;
    const AddressMap *map;
    uint16_t *output_of; /* by number of the slice */
    Subnet request, response;
    SimObject responses; /* what ticks `response` while it is apart */
} Crossbar;

/* What ticks a direction. */
static inline const SimObject *crossbar_half(const Crossbar *x, Direction direction) {
    return direction == REQUESTS ? &x->obj : &x->responses;
}

/* An output's buffer among the queues of the object. */
static inline uint32_t buffer_queue(Direction direction, uint32_t output) {
    return direction * MAX_PORTS + output;
}

static inline Input *input_at(Subnet *net, bool wide, uint32_t i) {
    return wide ? &net->wide_input[i] : &net->input[i];
}
static inline Output *output_at(Subnet *net, bool wide, uint32_t j) {
    return wide ? &net->wide_output[j] : &net->output[j];
}
static inline Head *head_at(View *view, bool wide, uint32_t i) {
    return wide ? &view->wide_head[i] : &view->head[i];
}
static inline Target *target_at(View *view, bool wide, uint32_t j) {
    return wide ? &view->wide_target[j] : &view->target[j];
}

/* For those who ask seldom. */
static inline bool is_wide(const Subnet *net) {
    return net->wide_inputs != 0;
}
static inline const Input *subnet_input(const Subnet *net, uint32_t i) {
    return is_wide(net) ? &net->wide_input[i] : &net->input[i];
}
static inline const Output *subnet_output(const Subnet *net, uint32_t j) {
    return is_wide(net) ? &net->wide_output[j] : &net->output[j];
}
static inline const Head *subnet_head(const Subnet *net, uint32_t i) {
    return is_wide(net) ? &net->view.wide_head[i] : &net->view.head[i];
}
static inline const Target *subnet_target(const Subnet *net, uint32_t j) {
    return is_wide(net) ? &net->view.wide_target[j] : &net->view.target[j];
}
static inline const Packet *packet_at(const Subnet *net, uint32_t j, uint32_t place) {
    return &net->packets[j * net->ring + ((subnet_output(net, j)->first + place) & (net->ring - 1))];
}
/* The inputs that ask for an output. */
static inline PortSet asking_for(const Subnet *net, uint32_t j) {
    if (!is_wide(net)) return (PortSet){&net->view.target[j].inputs, 1};
    return (PortSet){&net->view.wide_asking[j * net->input_words], net->input_words};
}

/* --- crossbar.c */
uint64_t tick_crossbar(SimObject *object, uint64_t now);
uint64_t tick_crossbar_responses(SimObject *half, uint64_t now);
/* Flits of the longest packet. */
uint32_t longest_packet(const Crossbar *crossbar);
uint32_t packet_flits(const Crossbar *crossbar, const MemMessage *message, Direction direction);
/* The head of an input. */
Candidate crossbar_head(const void *subnet, uint32_t input);

/* --- crossbar_check.c */
void crossbar_is_sound(const SimObject *object, bool fits);
const Link *crossbar_came_by(const SimObject *object, const void *message, uint32_t *depth);
void crossbar_requests(const SimObject *object, RequestVisitor *visit, void *context);
void check_crossbar(const SimObject *object, bool idle);
void report_crossbar(const SimObject *object, FILE *out);

#endif
