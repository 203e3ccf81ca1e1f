#include "core/ptx/front_end/symbols.h"

#include <string.h>

static uint32_t hash_text(const char *text, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash ^ hash >> 15;
}

static uint32_t name_position(const SymbolTable *table, const char *text, size_t length, uint32_t hash) {
    uint32_t at = hash & (table->name_capacity - 1);
    for (const Name *name; (name = table->names[at]); at = (at + 1) & (table->name_capacity - 1))
        if (name->hash == hash && name->length == length && !memcmp(name->text, text, length)) break;
    return at;
}

const Name *name_find(const SymbolTable *table, const char *text, size_t length) {
    if (!table->name_capacity) return NULL;
    return table->names[name_position(table, text, length, hash_text(text, length))];
}

static void grow_names(SymbolTable *table) {
    SymbolTable old = *table;
    table->name_capacity = old.name_capacity ? old.name_capacity * 2 : 1024;
    table->names = arena_alloc(table->arena, table->name_capacity, sizeof *table->names);
    for (uint32_t i = 0; i < old.name_capacity; i++) {
        const Name *name = old.names[i];
        if (name) table->names[name_position(table, name->text, name->length, name->hash)] = name;
    }
}

const Name *name_intern(SymbolTable *table, const char *text, size_t length) {
    if (table->name_count * 2 >= table->name_capacity) grow_names(table);
    uint32_t hash = hash_text(text, length), at = name_position(table, text, length, hash);
    if (table->names[at]) return table->names[at];
    Name *name = arena_alloc(table->arena, 1, sizeof *name);
    *name = (Name){arena_text(table->arena, text, length), length, table->name_count++, hash};
    return table->names[at] = name;
}

Scope *scope_open(SymbolTable *table, Scope *parent) {
    Scope *scope = arena_alloc(table->arena, 1, sizeof *scope);
    *scope = (Scope){parent, table->scope_count++};
    return scope;
}

static uint32_t binding_position(const SymbolTable *table, uint32_t scope, const Name *name) {
    uint32_t mask = table->binding_capacity - 1,
             at = (scope * 0x9e3779b1u ^ name->id * 0x85ebca6bu) >> 7 & mask;
    while (table->bindings[at].name &&
           (table->bindings[at].name != name || table->bindings[at].scope != scope))
        at = (at + 1) & mask;
    return at;
}

Symbol *symbol_in_scope(const SymbolTable *table, const Scope *scope, const Name *name) {
    if (!table->binding_capacity) return NULL;
    return table->bindings[binding_position(table, scope->id, name)].symbol;
}

static void grow_bindings(SymbolTable *table) {
    SymbolTable old = *table;
    table->binding_capacity = old.binding_capacity ? old.binding_capacity * 2 : 1024;
    table->bindings = arena_alloc(table->arena, table->binding_capacity, sizeof *table->bindings);
    for (uint32_t i = 0; i < old.binding_capacity; i++) {
        Binding binding = old.bindings[i];
        if (binding.name) table->bindings[binding_position(table, binding.scope, binding.name)] = binding;
    }
}

void symbol_bind(SymbolTable *table, const Scope *scope, const Name *name, Symbol *symbol) {
    if (table->binding_count * 2 >= table->binding_capacity) grow_bindings(table);
    table->bindings[binding_position(table, scope->id, name)] = (Binding){scope->id, name, symbol};
    table->binding_count++;
}
