#include "core/ptx/analysis/constants.h"

#include <string.h>

#define NO_SLOT UINT32_MAX

void constants_init(ConstantBank *bank) {
    *bank = (ConstantBank){.spare = NO_SLOT};
}

static bool equal(const Constant *a, const Constant *b) {
    return a->value == b->value && a->variable == b->variable && a->bytes == b->bytes;
}

static uint32_t position(const ConstantBank *bank, const Constant *constant) {
    uint64_t hash = (constant->value + constant->variable * 0x9e3779b9ull + constant->bytes) *
                    0x9e3779b97f4a7c15ull;
    uint32_t mask = bank->index_capacity - 1, at = (uint32_t)(hash >> 32) & mask;
    while (bank->index[at] && !equal(&bank->list[bank->index[at] - 1], constant))
        at = (at + 1) & mask;
    return at;
}

static void grow_index(ConstantBank *bank, Arena *arena) {
    bank->index_capacity = bank->index_capacity ? bank->index_capacity * 2 : 64;
    bank->index = arena_alloc(arena, bank->index_capacity, sizeof *bank->index);
    for (uint32_t i = 0; i < bank->count; i++)
        bank->index[position(bank, &bank->list[i])] = i + 1;
}

static uint32_t take_slot(ConstantBank *bank, uint32_t bytes) {
    uint32_t slot = bank->slots;
    if (bytes == 4) {
        if (bank->spare != NO_SLOT) {
            slot = bank->spare;
            bank->spare = NO_SLOT;
        } else {
            bank->slots++;
        }
        return slot;
    }
    if (slot % 2) bank->spare = slot++;
    bank->slots = slot + 2;
    return slot;
}

uint32_t constants_reserve(ConstantBank *bank, uint32_t bytes) {
    return take_slot(bank, bytes);
}

uint32_t constants_slot(ConstantBank *bank, Arena *arena, uint64_t value, uint32_t bytes, uint32_t variable) {
    Constant constant = {.value = value, .variable = variable, .bytes = bytes};
    if (bank->count * 2 >= bank->index_capacity) grow_index(bank, arena);
    uint32_t at = position(bank, &constant);
    if (bank->index[at]) return bank->list[bank->index[at] - 1].slot;
    constant.slot = take_slot(bank, bytes);
    bank->list = arena_grow(arena, bank->list, sizeof constant, bank->count, &bank->capacity);
    bank->list[bank->count++] = constant;
    bank->index[at] = bank->count;
    return constant.slot;
}

void constant_broadcast(uint8_t *lanes, uint64_t value, uint32_t bytes) {
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        memcpy(lanes + lane * bytes, &value, bytes);
}

void constants_store(const ConstantBank *bank, Module *module, uint32_t index) {
    Kernel *kernel = &module->kernels[index];
    kernel->constant_slots = bank->slots;
    kernel->constants = arena_alloc(&module->fixups->storage, bank->slots, SLOT_BYTES);
    for (uint32_t i = 0; i < bank->count; i++) {
        const Constant *constant = &bank->list[i];
        uint64_t offset = (uint64_t)constant->slot * SLOT_BYTES;
        constant_broadcast(kernel->constants + offset, constant->value, constant->bytes);
        if (constant->variable == NO_VARIABLE) continue;
        fixup_add(module, (Fixup){.target = constant->variable,
                                  .in_constants = true,
                                  .holder = index,
                                  .offset = offset,
                                  .bytes = constant->bytes,
                                  .addend = (int64_t)constant->value,
                                  .mask = UINT64_MAX});
    }
}
