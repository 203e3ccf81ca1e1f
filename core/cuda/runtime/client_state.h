/* What the files of the client share. */
#ifndef WW_CUDA_CLIENT_STATE_H
#define WW_CUDA_CLIENT_STATE_H

#include "core/cuda/runtime/client.h"

typedef struct {
    bool is_tried;     /* to connect                                      */
    int socket;        /* -1: none                                        */
    int dead;          /* the error of all calls, or 0                    */
    int memory_file;   /* device memory                                   */
    uint8_t *memory;   /* all of it, from WarpDevice.memory_base on       */
    bool tells_copies; /* what the program does to device memory is asked */
    uint64_t cycle;
    uint32_t stack_bytes; /* of a thread, as the program set it; 0: it did not */
} WarpClient;

extern WarpClient warp_client;

/* Forgets what is known of the modules in the simulator. */
void warp_forget_modules(void);
/* Allocates what `range` describes, and fills in where it is. */
int warp_alloc_range(WarpRange *range);
/* Frees it, whatever it belongs to. */
int warp_release_range(uint64_t address);
void warp_each_range(void (*visit)(const WarpRange *range));
/* What has changed of the memory that has shadows, registered memory and managed variables: before kernels begin or go on, and
 * when the program hears of them. */
int warp_push_shadows(void);
int warp_pull_shadows(void);
/* Puts the address of the shadow for each word of 8 bytes that is an address of such memory. */
void warp_translate(uint8_t *words, size_t count);

#endif
