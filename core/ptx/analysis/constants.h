/* The constant bank of a kernel: immediates and addresses, each broadcast over the lanes. */
#ifndef WW_PTX_CONSTANTS_H
#define WW_PTX_CONSTANTS_H

#include "core/ptx/front_end/parser.h"

#define NO_VARIABLE UINT32_MAX

typedef struct {
    uint64_t value;    /* added to the address of `variable` if there is one */
    uint32_t variable; /* or NO_VARIABLE                                      */
    uint32_t bytes;    /* 4 or 8                                              */
    uint32_t slot;     /* an 8-byte constant takes two, from an even one on   */
} Constant;

typedef struct {
    Constant *list;
    uint32_t count, capacity;
    uint32_t *index; /* open addressing: number in the list + 1, 0: free */
    uint32_t index_capacity;
    uint32_t slots, spare; /* spare: a slot left over before a pair, NO_SLOT if none */
} ConstantBank;

void constants_init(ConstantBank *bank);
/* The slot of the constant; equal ones are stored once. */
uint32_t constants_slot(ConstantBank *bank, Arena *arena, uint64_t value, uint32_t bytes, uint32_t variable);
/* A slot of 4 or 8 bytes a lane for what is not known yet. */
uint32_t constants_reserve(ConstantBank *bank, uint32_t bytes);
/* Writes the bank into the kernel and registers the addresses that are known only when the module is
 * placed. */
void constants_store(const ConstantBank *bank, Module *module, uint32_t kernel);
/* Broadcasts a value of 4 or 8 bytes over the lanes of one constant. */
void constant_broadcast(uint8_t *lanes, uint64_t value, uint32_t bytes);

#endif
