#include "core/cuda/runtime/mistakes.h"
#include "core/cuda/runtime/client_state.h"
#include "core/cuda/toolkit/include/driver_types.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_LINES = 10 };

__attribute__((format(printf, 1, 2))) static void tell(const char *format, ...) {
    static int lines;
    va_list arguments;
    if (lines >= MOST_LINES) return;
    fprintf(stderr, "warpwright: ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, ++lines == MOST_LINES ? "; no more of these are told\n" : "\n");
}

static bool is_of_device(uint64_t address) {
    return address - warp_device()->memory_base < warp_device()->memory_bytes;
}

/* --- Where an address lies ---------------------------------------------------------------------- */

static const char *const kinds[] = {[RANGE_DEVICE] = "device memory",
                                    [RANGE_MAPPED] = "pinned memory of the host",
                                    [RANGE_MANAGED] = "managed memory",
                                    [RANGE_CHUNK] = "device memory",
                                    [RANGE_VARIABLE] = "a variable",
                                    [RANGE_REGISTERED] = "registered memory of the host",
                                    [RANGE_MANAGED_COPY] = "a managed variable"};

static const char *kind_of(uint64_t address) {
    const WarpRange *range = warp_range(address);
    if (range) return kinds[range->kind];
    if (is_of_device(address)) return "device memory where nothing is allocated, or no longer";
    return address ? "memory of the host" : "no memory";
}

/* --- Copies and fills ---------------------------------------------------------------------------- */

static bool is_device_end(uint64_t address) {
    const WarpRange *range = warp_range(address);
    return is_of_device(address) || (range && range->kind == RANGE_MANAGED_COPY);
}

void warp_tell_direction(int direction, uint64_t to, uint64_t from) {
    static const char *const names[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice",
                                        "Default"};
    if (direction < cudaMemcpyHostToHost || direction > cudaMemcpyDefault) {
        tell("a copy: expected a direction, cudaMemcpyHostToHost (0) to cudaMemcpyDefault (4), got %d",
             direction);
        return;
    }
    bool to_device = is_device_end(to), from_device = is_device_end(from);
    bool is_target_wrong = !to || (from && !to_device && direction != cudaMemcpyDeviceToHost);
    uint64_t wrong = is_target_wrong ? to : from, other = is_target_wrong ? from : to;
    bool may_be_swapped = to && from && direction != cudaMemcpyDeviceToDevice && to_device != from_device;
    tell("a copy with cudaMemcpy%s: expected its %s in %s, got 0x%" PRIx64 ", %s; its %s is 0x%" PRIx64
         ", %s%s",
         names[direction], is_target_wrong ? "destination" : "source",
         direction == cudaMemcpyDefault || direction == cudaMemcpyHostToHost ||
                 direction == (is_target_wrong ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice)
             ? "memory"
             : "device memory",
         wrong, kind_of(wrong), is_target_wrong ? "source" : "destination", other, kind_of(other),
         may_be_swapped ? ": the two are swapped, or the direction is" : "");
}

void warp_tell_bytes(const char *what, uint64_t address, uint64_t count) {
    const WarpRange *range = warp_range(address);
    if (!range || !is_of_device(address)) {
        tell("a %s 0x%" PRIx64 ": expected device memory, got %s", what, address, kind_of(address));
        return;
    }
    tell("a %s 0x%" PRIx64 ": expected up to %" PRIu64 " bytes, the rest of %s of %" PRIu64
         " bytes from 0x%" PRIx64 ", got %" PRIu64,
         what, address, range->start + range->bytes - address,
         range->kind == RANGE_VARIABLE ? "a variable" : "an allocation", range->bytes, range->start, count);
}

/* --- Allocations ----------------------------------------------------------------------------------- */

void warp_tell_free(uint64_t address) {
    const WarpRange *range = warp_range(address);
    if (range && range->kind <= RANGE_MANAGED && range->start != address)
        tell("a free of 0x%" PRIx64 ": expected the beginning of an allocation, got byte %" PRIu64
             " of one of %" PRIu64 " bytes",
             address, address - range->start, range->bytes);
    else
        tell("a free of 0x%" PRIx64 ": expected the beginning of an allocation, got %s%s", address,
             kind_of(address),
             range && range->kind == RANGE_MAPPED    ? ", which cudaFreeHost() frees"
             : range && range->kind <= RANGE_MANAGED ? ", which cudaFree() frees"
                                                     : "");
}

void warp_tell_no_memory(uint64_t bytes) {
    tell("an allocation of %" PRIu64 " bytes: no such room is left in device memory of %" PRIu64
         " bytes; warpwright cuda has --memory",
         bytes, warp_device()->memory_bytes);
}

/* --- Symbols ---------------------------------------------------------------------------------------- */

/* The name at `symbol`, where there is the text of one; the address may be any. */
static bool read_name(const void *symbol, char *name, size_t bytes) {
    enum { PAGE_BYTES = 4096 };
    size_t most = PAGE_BYTES - (uintptr_t)symbol % PAGE_BYTES, count = most < bytes ? most : bytes;
    struct iovec here = {name, count}, there = {(void *)(uintptr_t)symbol, count};
    ssize_t got = process_vm_readv(getpid(), &here, 1, &there, 1, 0);
    const char *end = got > 0 ? memchr(name, 0, (size_t)got) : NULL;
    if (!end || end - name < 2 || isdigit((unsigned char)*name)) return false;
    for (const char *c = name; c < end; c++)
        if (!isalnum((unsigned char)*c) && *c != '_' && *c != ':') return false;
    return true;
}

void warp_tell_symbol(const void *symbol) {
    char name[256];
    if (read_name(symbol, name, sizeof name))
        tell("a variable by its name: expected %s, got \"%s\", as before CUDA 5", name, name);
    else
        tell("expected a variable of the device, got 0x%" PRIx64 ", %s", (uint64_t)symbol,
             kind_of((uint64_t)symbol));
}
