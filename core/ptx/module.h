/* A PTX module: text in, decoded kernels and module variables out. */
#ifndef WW_PTX_MODULE_H
#define WW_PTX_MODULE_H

#include "core/ptx/instructions/inst.h"

#include <stddef.h>

/* A .global or .const variable, or a texture: a .texref or .tex. `address` is 0 until the module is placed;
 * that of a texture is its handle. */
typedef struct {
    char *name;
    Space space;
    uint64_t bytes, align, address;
    uint8_t *init; /* `bytes` long, zero-filled; NULL when there is no initialiser */
    uint32_t text; /* of those that are linked: the one that defines it, from 0 on */
} ModuleVariable;

typedef struct Module {
    char *path;
    uint64_t digest;      /* of its text */
    uint64_t file_digest; /* of the file that it was loaded from */
    bool is_of_file;
    Kernel *kernels;
    uint32_t kernel_count;
    ModuleVariable *variables;
    uint32_t variable_count;
    bool uses_heap;              /* a kernel calls malloc */
    struct ModuleFixups *fixups; /* where addresses of variables go: constant banks and initialisers */
    void *owned;                 /* of a front end beside PTX: freed with the module */
    void (*release_owned)(void *owned);
} Module;

/* A module without kernels, which another front end fills; and what lives as long as it does. */
Module *module_empty(const char *path);
struct Arena *module_storage(Module *module);

/* Parses, checks, builds the control-flow graph, finds reconvergence points, allocates registers and decodes.
 * Any defect is a user_error() "FILE:LINE: what is wrong, what would be legal". Statements that are no defect
 * but unsupported are collected: the kernels with such statements are refused when they are launched, and a
 * module of none but such is a user error that lists them all. `text` need not end in NUL. */
Module *module_parse(const char *path, const char *text, size_t length);

/* A text, and the name that errors in it begin with. */
typedef struct {
    const char *path, *text;
    size_t length;
} ModuleText;

/* Links the texts of a program into one module: what one declares .extern another defines, and of several weak
 * definitions the first is taken. Names that are neither .visible, .weak, .common nor .extern are those of
 * their text alone. The module's path is that of the first text, of which there is at least one. With
 * `keeps_refused` a module of none but refused kernels is no error. */
Module *module_link(const ModuleText *texts, uint32_t count, bool keeps_refused);
Module *module_load(const char *path);
void module_free(Module *module);

/* After the caller has set `address` of every variable: writes the addresses into constant banks and
 * initialisers. */
void module_place(Module *module);

/* A line of the kernel's text, from 1, without the blanks around it and cut to `size`; "" when there is none. Control
 * characters become blanks. */
void kernel_line_text(const Kernel *kernel, uint32_t line, char *text, size_t size);

const Kernel *module_kernel(const Module *module, const char *name);          /* or NULL */
const ModuleVariable *module_texture(const Module *module, const char *name); /* likewise */

#endif
