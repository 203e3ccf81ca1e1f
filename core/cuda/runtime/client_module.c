/* Modules: their kernels, variables and textures; launches. */
#include "core/cuda/runtime/client_state.h"
#include "core/cuda/runtime/handles.h"
#include "core/cuda/runtime/limits.h"
#include "core/cuda/runtime/pending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAT_BINARY   0xba55ed50u
#define LINKED_IMAGE 0x4b4e494cu /* "LINK": the image behind it belongs to those before it */

enum { FAT_BINARY_HEADER_BYTES = 16, ELF_HEADER_BYTES = 64 };

struct WarpModule {
    struct WarpModule *next;
    uint8_t *image;
    size_t bytes;
    uint32_t parts; /* that are linked */
    bool is_tried;
    int problem;
    char *refusal; /* what the simulator says of an image that it refuses, or NULL */
    uint32_t number;
    WarpFunction *functions;
};

static WarpModule *modules;

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) abort();
    return memory;
}

/* The containers that lie one behind the other. */
static size_t fat_binary_bytes(const uint8_t *at) {
    uint16_t header;
    uint64_t body;
    memcpy(&header, at + 6, sizeof header);
    memcpy(&body, at + 8, sizeof body);
    return header + body;
}

/* Up to the end of the section headers, which stand last in what compilers make. */
static size_t elf_bytes(const uint8_t *at) {
    uint64_t sections, programs;
    uint16_t program_bytes, program_count, section_bytes, section_count;
    memcpy(&programs, at + 32, 8);
    memcpy(&sections, at + 40, 8);
    memcpy(&program_bytes, at + 54, 2);
    memcpy(&program_count, at + 56, 2);
    memcpy(&section_bytes, at + 58, 2);
    memcpy(&section_count, at + 60, 2);
    uint64_t first = sections + (uint64_t)section_bytes * section_count,
             second = programs + (uint64_t)program_bytes * program_count;
    return first > second ? first : second;
}

/* How many bytes from there on the program could read; SIZE_MAX where the system does not tell. */
static size_t readable_bytes(const void *image) {
    char line[512];
    uint64_t from, to, end = (uint64_t)image;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps) return SIZE_MAX;
    while (fgets(line, sizeof line, maps)) {
        char may_read;
        bool is_range = sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &from, &to, &may_read) ==
                        3; /* or the rest of a long name */
        if (is_range && may_read == 'r' && from <= end && end < to) end = to;
    }
    fclose(maps);
    return end - (uint64_t)image;
}

/* Up to and with the header of zeros that cuLinkComplete() puts behind the last image. */
static size_t linked_bytes(const uint8_t *image, size_t readable) {
    uint64_t header[2] = {LINKED_IMAGE}, at = 0;
    while (header[0] && readable - at >= sizeof header) {
        memcpy(header, image + at, sizeof header);
        at += sizeof header;
        if (header[1] > readable - at) return readable;
        at += header[1];
    }
    return at;
}

static size_t stated_bytes(const void *image, size_t readable) {
    uint32_t magic = 0;
    if (readable >= sizeof magic) memcpy(&magic, image, sizeof magic);
    if (magic == FAT_BINARY && readable >= FAT_BINARY_HEADER_BYTES) return fat_binary_bytes(image);
    if (readable >= sizeof "LINK" && memcmp(image, "LINK", sizeof "LINK") == 0)
        return linked_bytes(image, readable);
    if (readable >= ELF_HEADER_BYTES && memcmp(image, "\177ELF", 4) == 0) return elf_bytes(image);
    return strnlen(image, readable);
}

/* A damaged image says anything; what cannot be read of it is missing, and the simulator says so. */
size_t warp_image_bytes(const void *image) {
    size_t readable = readable_bytes(image), stated = stated_bytes(image, readable);
    return stated < readable ? stated : readable;
}

WarpModule *warp_module_new(const void *image, size_t bytes) {
    WarpModule *module = allocate(sizeof *module);
    module->image = allocate(bytes);
    if (bytes) memcpy(module->image, image, bytes);
    module->bytes = bytes;
    module->next = modules;
    warp_handle_add(module, HANDLE_MODULE);
    return modules = module;
}

WarpModule *warp_module(const void *handle) {
    return warp_handle(handle, HANDLE_MODULE);
}

WarpFunction *warp_known_function(const void *handle) {
    return warp_handle(handle, HANDLE_FUNCTION);
}

/* Nodes of graphs may still have its functions, so that these stay. */
void warp_module_unload(WarpModule *module) {
    for (WarpFunction *function = module->functions; function; function = function->next)
        warp_handle_remove(function);
    warp_handle_remove(module);
}

static void append(uint8_t **images, size_t *bytes, const void *more, size_t more_bytes) {
    *images = realloc(*images, *bytes + more_bytes);
    if (!*images) abort();
    if (more_bytes) memcpy(*images + *bytes, more, more_bytes);
    *bytes += more_bytes;
}

void warp_append_image(uint8_t **images, size_t *bytes, const void *image, size_t image_bytes) {
    const uint64_t header[2] = {image ? LINKED_IMAGE : 0, image_bytes};
    append(images, bytes, header, sizeof header);
    append(images, bytes, image, image_bytes);
}

uint32_t warp_module_link(WarpModule *module, const void *image) {
    warp_append_image(&module->image, &module->bytes, image, warp_image_bytes(image));
    return ++module->parts;
}

int warp_module_load(WarpModule *module) {
    if (module->is_tried) return module->problem;
    WarpMessage *message = warp_question();
    warp_put_string(message, module->image, module->bytes);
    module->problem = warp_ask(message, ASK_LOAD);
    module->is_tried = true;
    free(module->refusal);
    module->refusal = NULL;
    if (module->problem) {
        size_t count;
        const char *text = warp_take_string(message, &count);
        module->refusal = count ? strndup(text, count) : NULL;
    } else {
        module->number = warp_take_u32(message);
    }
    return module->problem;
}

const char *warp_module_refusal(const WarpModule *module) {
    return module->refusal;
}

void warp_forget_modules(void) {
    for (WarpModule *module = modules; module; module = module->next) {
        module->is_tried = false;
        for (WarpFunction *function = module->functions; function; function = function->next)
            function->is_loaded = function->has_dynamic_limit = false;
    }
}

static int ask_for_variable(WarpModule *module, uint32_t part, const char *name, uint64_t *address,
                            uint64_t *bytes, bool *is_texture) {
    int problem = warp_module_load(module);
    if (problem) return problem;
    WarpMessage *message = warp_question();
    warp_put_u32(message, module->number);
    warp_put_u32(message, part);
    warp_put_string(message, name, strlen(name));
    problem = warp_ask(message, ASK_VARIABLE);
    if (problem) return problem;
    *address = warp_take_u64(message);
    *bytes = warp_take_u64(message);
    *is_texture = warp_take_u32(message) == VARIABLE_TEXTURE;
    return CUDA_OK;
}

int warp_variable(WarpModule *module, uint32_t part, const char *name, uint64_t *address, uint64_t *bytes) {
    bool is_texture;
    int problem = ask_for_variable(module, part, name, address, bytes, &is_texture);
    if (problem) return problem;
    return is_texture ? CUDA_INVALID_SYMBOL : warp_note_variable(*address, *bytes, false);
}

bool warp_has_texture(WarpModule *module, const char *name) {
    uint64_t address, bytes;
    bool is_texture;
    return !ask_for_variable(module, 0, name, &address, &bytes, &is_texture) && is_texture;
}

WarpFunction *warp_function(WarpModule *module, const char *name) {
    WarpFunction *function = module->functions;
    while (function && strcmp(function->name, name) != 0)
        function = function->next;
    if (function) return function;
    function = allocate(sizeof *function);
    function->name = strdup(name);
    function->module = module;
    function->next = module->functions;
    warp_handle_add(function, HANDLE_FUNCTION);
    return module->functions = function;
}

int warp_function_load(WarpFunction *function) {
    int problem = warp_module_load(function->module);
    if (problem || function->is_loaded) return problem;
    WarpMessage *message = warp_question();
    warp_put_u32(message, function->module->number);
    warp_put_string(message, function->name, strlen(function->name));
    problem = warp_ask(message, ASK_FUNCTION);
    if (problem) return problem;
    function->number = warp_take_u32(message);
    function->registers = warp_take_u32(message);
    function->shared = warp_take_u32(message);
    function->local = warp_take_u32(message);
    function->constant = warp_take_u32(message);
    function->max_threads = warp_take_u32(message);
    function->architecture = warp_take_u32(message);
    function->is_refused = warp_take_u32(message) != 0;
    function->param_bytes = warp_take_u32(message);
    function->param_count = warp_take_u32(message);
    free(function->params);
    function->params = allocate(function->param_count * sizeof *function->params);
    for (uint32_t i = 0; i < function->param_count; i++) {
        function->params[i].offset = warp_take_u32(message);
        function->params[i].bytes = warp_take_u32(message);
    }
    function->is_loaded = true;
    return CUDA_OK;
}

/* --- Launches -------------------------------------------------------------------------------- */

static void put_arguments(WarpMessage *message, const WarpFunction *function, void *const *params,
                          const void *packed, size_t packed_bytes) {
    uint8_t *bytes = allocate(function->param_bytes);
    for (uint32_t i = 0; params && i < function->param_count; i++)
        memcpy(bytes + function->params[i].offset, params[i], function->params[i].bytes);
    if (!params && packed)
        memcpy(bytes, packed, packed_bytes < function->param_bytes ? packed_bytes : function->param_bytes);
    warp_translate(bytes, function->param_bytes);
    warp_put_string(message, bytes, function->param_bytes);
    free(bytes);
}

/* Those that a kernel causes while it runs, which nobody hears of before the next call. */
static bool comes_later(int problem) {
    return problem >= CUDA_ILLEGAL_ADDRESS && problem <= CUDA_LAUNCH_FAILURE &&
           problem != CUDA_OUT_OF_RESOURCES;
}

static void print_output(WarpMessage *answer) {
    size_t count;
    const char *text = warp_take_string(answer, &count);
    if (count) fwrite(text, 1, count, stdout);
}

static void put_launch(WarpMessage *message, const WarpFunction *function, const WarpLaunch *shape,
                       void *const *params, const void *packed, size_t packed_bytes) {
    warp_put_u32(message, function->number);
    for (int i = 0; i < 3; i++)
        warp_put_u32(message, shape->grid[i]);
    for (int i = 0; i < 3; i++)
        warp_put_u32(message, shape->block[i]);
    warp_put_u32(message, (uint32_t)shape->shared_bytes);
    warp_put_u32(message, warp_client.stack_bytes);
    warp_put_u32(message, shape->is_cooperative);
    put_arguments(message, function, params, packed, packed_bytes);
}

/* What the kernel has printed, up to its fault, and the core cycle in which it ended. */
static uint64_t take_end(WarpMessage *answer) {
    uint64_t cycle = warp_take_u64(answer);
    print_output(answer);
    return cycle;
}

static int launch(WarpFunction *function, const WarpLaunch *shape, void *const *params, const void *packed,
                  size_t packed_bytes) {
    WarpMessage *message = warp_question();
    put_launch(message, function, shape, params, packed, packed_bytes);
    int problem = warp_ask(message, ASK_LAUNCH);
    if (problem && !comes_later(problem)) return problem;
    uint64_t cycle = take_end(message);
    if (problem)
        warp_client.dead = problem;
    else
        warp_client.cycle = cycle;
    return CUDA_OK;
}

static void put_numbers(WarpMessage *message, const uint32_t *numbers, uint32_t count) {
    warp_put_u32(message, count);
    for (uint32_t i = 0; i < count; i++)
        warp_put_u32(message, numbers[i]);
}

static WarpMessage *question_of(const WarpKernelLaunch *launches, uint32_t count, bool joins) {
    WarpMessage *message = warp_question();
    warp_put_u32(message, count);
    for (uint32_t k = 0; k < count; k++) {
        const WarpKernelLaunch *of = &launches[k];
        put_launch(message, of->function, of->shape, of->params, of->packed, of->packed_bytes);
        put_numbers(message, of->after, of->after_count);
        if (joins) put_numbers(message, of->behind, of->behind_count);
        if (joins) warp_put_u32(message, (uint32_t)of->priority);
    }
    return message;
}

static int ask_together(WarpKernelLaunch *launches, uint32_t count) {
    WarpMessage *message = question_of(launches, count, false);
    int problem = warp_ask(message, ASK_TOGETHER);
    if (problem && !comes_later(problem)) return problem;
    for (uint32_t k = 0; k < count; k++) {
        launches[k].ends = take_end(message);
        if (!problem && launches[k].ends > warp_client.cycle) warp_client.cycle = launches[k].ends;
    }
    if (problem) warp_client.dead = problem;
    return CUDA_OK;
}

static int check_launches(const WarpKernelLaunch *launches, uint32_t count) {
    int problem = CUDA_OK;
    for (uint32_t k = 0; k < count && !problem; k++)
        problem = warp_check_launch(launches[k].function, launches[k].shape,
                                    launches[k].params || launches[k].packed);
    return problem;
}

int warp_begin(const WarpKernelLaunch *launches, uint32_t count, uint32_t *first) {
    if (check_launches(launches, count)) return CUDA_NOT_SUPPORTED;
    int problem = warp_push_shadows();
    if (problem) return problem;
    WarpMessage *message = question_of(launches, count, true);
    problem = warp_ask(message, ASK_BEGIN);
    if (!problem) *first = warp_take_u32(message);
    return problem;
}

int warp_wait_for(const uint32_t *numbers, uint32_t count, uint64_t cycles,
                  void (*ended)(void *context, uint32_t number, uint64_t cycle), void *context) {
    int problem = warp_push_shadows();
    if (problem) return problem;
    WarpMessage *message = warp_question();
    warp_put_u64(message, cycles);
    put_numbers(message, numbers, count);
    problem = warp_ask(message, ASK_WAIT);
    if (problem && !comes_later(problem)) return problem;
    warp_client.cycle = warp_take_u64(message);
    uint32_t ends = warp_take_u32(message);
    for (uint32_t i = 0; i < ends; i++) {
        uint32_t number = warp_take_u32(message);
        ended(context, number, take_end(message));
    }
    if (problem) warp_client.dead = problem;
    return problem ? CUDA_OK : warp_pull_shadows();
}

int warp_launch_together(WarpKernelLaunch *launches, uint32_t count) {
    int problem = check_launches(launches, count);
    if (!problem) problem = warp_land();
    if (!problem) problem = warp_push_shadows();
    if (!problem) problem = ask_together(launches, count);
    if (!problem && !warp_client.dead) problem = warp_pull_shadows();
    return problem;
}

/* Of each of so many CTAs on an SM. */
static uint64_t shared_bytes_of_each(uint64_t ctas) {
    const int64_t *number = warp_device()->number;
    uint64_t each = (uint64_t)number[DEVICE_SHARED_PER_SM] / ctas,
             reserved = (uint64_t)number[DEVICE_RESERVED_SHARED];
    return each > reserved ? each - reserved : 0;
}

uint64_t warp_most_shared_bytes(void) {
    return shared_bytes_of_each(1);
}

uint64_t warp_shared_bytes(void) {
    uint64_t most = warp_most_shared_bytes();
    return most < SHARED_BYTES ? most : SHARED_BYTES;
}

static uint64_t left_of(uint64_t bytes, const WarpFunction *function) {
    return bytes > function->shared ? bytes - function->shared : 0;
}

uint64_t warp_dynamic_limit(const WarpFunction *function) {
    return function->has_dynamic_limit ? function->most_dynamic_shared
                                       : left_of(warp_shared_bytes(), function);
}

uint64_t warp_available_dynamic(const WarpFunction *function, uint64_t ctas) {
    return left_of(shared_bytes_of_each(ctas), function);
}

int warp_set_dynamic_limit(WarpFunction *function, int bytes) {
    uint64_t most = left_of(warp_most_shared_bytes(), function);
    if (bytes < 0 || (uint64_t)bytes > most) {
        fprintf(stderr,
                "warpwright: kernel %s: cudaFuncAttributeMaxDynamicSharedMemorySize: expected up to %" PRIu64
                " bytes, got %d\n",
                function->name, most, bytes);
        return CUDA_INVALID_VALUE;
    }
    function->has_dynamic_limit = true;
    function->most_dynamic_shared = (uint32_t)bytes;
    return CUDA_OK;
}

static int check_dynamic_shared(const WarpFunction *function, uint64_t bytes) {
    uint64_t limit = warp_dynamic_limit(function), most = left_of(warp_most_shared_bytes(), function);
    if (bytes <= limit) return CUDA_OK;
    fprintf(stderr,
            "warpwright: kernel %s: expected up to %" PRIu64
            " bytes of dynamic shared memory per CTA, got %" PRIu64 "%s\n",
            function->name, limit, bytes,
            bytes <= most
                ? "; cudaFuncSetAttribute() with cudaFuncAttributeMaxDynamicSharedMemorySize raises it"
                : "");
    return CUDA_INVALID_VALUE;
}

/* Each extent is told once of a kernel: programs may ask for an empty grid again and again. */
static int check_extent(WarpFunction *function, const WarpLaunch *shape, int extent) {
    static const uint32_t most_of[] = {0x7fffffff,   MOST_GRID_YZ, MOST_GRID_YZ,
                                       MOST_THREADS, MOST_THREADS, MOST_THREADS_Z};
    bool is_grid = extent < 3;
    uint32_t got = is_grid ? shape->grid[extent] : shape->block[extent - 3];
    if (got && got <= most_of[extent]) return CUDA_OK;
    if (!(function->extents_told & 1 << extent))
        fprintf(stderr, "warpwright: kernel %s: %s.%c: expected 1 to %u %s, got %u\n", function->name,
                is_grid ? "grid" : "block", "xyz"[extent % 3], most_of[extent], is_grid ? "CTAs" : "threads",
                got);
    function->extents_told |= (uint8_t)(1 << extent);
    return CUDA_INVALID_CONFIGURATION;
}

int warp_check_launch(WarpFunction *function, const WarpLaunch *shape, bool has_arguments) {
    int problem = CUDA_OK;
    for (int extent = 0; extent < 6 && !problem; extent++)
        problem = check_extent(function, shape, extent);
    if (!problem) problem = warp_function_load(function);
    if (!problem) problem = check_dynamic_shared(function, shape->shared_bytes);
    return !problem && function->param_count && !has_arguments ? CUDA_INVALID_VALUE : problem;
}

int warp_launch(WarpFunction *function, const WarpLaunch *shape, void *const *params, const void *packed,
                size_t packed_bytes) {
    int problem = warp_check_launch(function, shape, params || packed);
    if (!problem) problem = warp_land();
    if (!problem) problem = warp_push_shadows();
    if (!problem) problem = launch(function, shape, params, packed, packed_bytes);
    if (!problem && !warp_client.dead) problem = warp_pull_shadows();
    return problem;
}

static int ask_limit(LimitKind kind, uint64_t bytes) {
    WarpMessage *message = warp_question();
    warp_put_u32(message, kind);
    warp_put_u64(message, bytes);
    return warp_ask(message, ASK_LIMIT);
}

/* Stack, printed text, heap; and those that the machine does not have. */
enum { LIMITS = 7 };
static uint64_t limits[LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

int warp_set_limit(unsigned which, uint64_t value) {
    int problem = which < LIMITS ? warp_do_pending() : CUDA_UNSUPPORTED_LIMIT;
    if (problem) return problem;
    if (which == 0) warp_client.stack_bytes = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    if (which == 1) problem = ask_limit(LIMIT_PRINTED, value);
    if (which == 2) problem = ask_limit(LIMIT_HEAP, value);
    if (!problem) limits[which] = value;
    return problem;
}

int warp_get_limit(unsigned which, uint64_t *value) {
    if (which >= LIMITS || !value) return CUDA_UNSUPPORTED_LIMIT;
    *value = limits[which];
    return CUDA_OK;
}

static uint32_t least(uint32_t a, uint64_t b) {
    return a < b ? a : (uint32_t)b;
}

enum { LANES = 32, SHARED_UNIT = 128 };

static uint64_t warps_of(uint32_t threads) {
    return (threads + LANES - 1) / LANES;
}

/* Registers that a CTA is charged, as sm_occupancy() of the simulator counts them: with .maxntid no more than fit. */
static uint64_t registers_of(const WarpFunction *function, uint64_t warps) {
    uint64_t unit = (uint64_t)warp_device()->number[DEVICE_REGISTER_UNIT],
             most = (uint64_t)warp_device()->number[DEVICE_REGISTERS_PER_SM],
             each = (function->registers + unit - 1) / unit * unit;
    if (function->max_threads && each * warps * LANES > most) {
        uint64_t kept = most / (warps_of(function->max_threads) * LANES) / unit * unit;
        if (kept) each = kept;
    }
    return each * warps * LANES;
}

uint32_t warp_occupancy(const WarpFunction *function, uint32_t threads, uint64_t dynamic_shared) {
    const int64_t *number = warp_device()->number;
    if (!threads || threads > 1024 || (function->max_threads && threads > function->max_threads)) return 0;
    if (dynamic_shared > warp_dynamic_limit(function)) return 0;
    uint64_t warps = warps_of(threads), registers = registers_of(function, warps),
             shared = (function->shared + dynamic_shared + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT +
                      (uint64_t)number[DEVICE_RESERVED_SHARED];
    uint32_t fits = (uint32_t)number[DEVICE_CTAS_PER_SM];
    fits = least(fits, (uint64_t)number[DEVICE_THREADS_PER_SM] / (warps * LANES));
    if (registers) fits = least(fits, (uint64_t)number[DEVICE_REGISTERS_PER_SM] / registers);
    if (shared) fits = least(fits, (uint64_t)number[DEVICE_SHARED_PER_SM] / shared);
    return fits;
}

/* --- Textures -------------------------------------------------------------------------------- */

int warp_make_texture(const TextureSource *source, const TextureQuestion *how, uint64_t *handle) {
    WarpMessage *message = warp_question();
    warp_put_u64(message, source->address);
    warp_put_u64(message, source->pitch);
    warp_put_u64(message, source->slice);
    for (int i = 0; i < 4; i++)
        warp_put_u32(message, source->extent[i]);
    warp_put_u32(message, how->format);
    warp_put_u32(message, how->channels);
    warp_put_u32(message, how->linear);
    for (int i = 0; i < 3; i++)
        warp_put_u32(message, how->address[i]);
    warp_put_u32(message, how->normalized);
    warp_put_u32(message, how->read);
    warp_put_u32(message, how->cube);
    int problem = warp_ask(message, ASK_TEXTURE);
    if (!problem) *handle = warp_take_u64(message);
    return problem;
}

int warp_bind_texture(WarpModule *module, const char *name, uint64_t handle) {
    int problem = warp_do_pending();
    if (!problem) problem = warp_module_load(module);
    if (problem) return problem;
    WarpMessage *message = warp_question();
    warp_put_u32(message, module->number);
    warp_put_string(message, name, strlen(name));
    warp_put_u64(message, handle);
    return warp_ask(message, ASK_BIND);
}
