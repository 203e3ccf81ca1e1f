#include "mem/memory_protocol.h"

const Protocol memory_protocol = {"memory", sizeof(MemMessage), sizeof(MemMessage)};
