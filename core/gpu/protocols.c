#include "core/gpu/protocols.h"

const Protocol memory_op_protocol = {"memory-op", sizeof(MemoryOp), sizeof(MemoryDone)};
const Protocol cta_protocol = {"cta", sizeof(CtaStart), sizeof(CtaDone)};
