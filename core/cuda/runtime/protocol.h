/* What a CUDA program and the simulator say to each other, over a socket of the local machine. The program asks,
 * the simulator answers, one at a time: a header, then its payload, all little-endian and unpadded. Contents of
 * device memory do not travel: both ends have it mapped. */
#ifndef WW_CUDA_PROTOCOL_H
#define WW_CUDA_PROTOCOL_H

#include <stdint.h>

/* The environment variable that names the abstract socket. */
#define CHANNEL_VARIABLE "WARPWRIGHT_CUDA"

enum {
    CHANNEL_VERSION = 6,
    CHANNEL_MOST_BYTES = 1 << 30, /* of a payload */
};

/* In a question, the operation; in an answer, 0 or a CUDA error code. */
typedef struct {
    uint32_t what, bytes;
} ChannelHeader;

/* The operations, in the order of the table in cuda_server.lua. Strings are a u32 length and its bytes. */
typedef enum {
    /* u32 version -> device memory's file, u64 base, u64 capacity, u32 are copies told, u32 count of numbers, i64
     * numbers of the device (DeviceNumber), string name */
    ASK_HELLO = 1,
    ASK_LOAD,     /* string image -> u32 module; when it is refused, string why          */
    ASK_FUNCTION, /* u32 module, string name -> u32 function, u32 registers, shared, local, const, max threads,
                   * architecture of the PTX, is it refused, parameter bytes, parameter count, { u32 offset, bytes } */
    ASK_VARIABLE, /* u32 module, u32 part or 0, string name -> u64 address, u64 bytes, u32 VariableSpace */
    ASK_ALLOC,    /* u64 bytes, u32 AllocationKind -> u64 address                        */
    ASK_FREE,     /* u64 address                                                         */
    ASK_WROTE,    /* u64 address, u64 bytes: the program has written there               */
    ASK_READS,    /* u64 address, u64 bytes: the program is about to read there          */
    ASK_LAUNCH,   /* u32 function, u32[3] grid, u32[3] block, u32 shared, u32 stack of a thread or 0,
                   * u32 is it cooperative, string parameters -> u64 core cycle,
                   * string printed, of a kernel that failed, too                         */
    ASK_TEXTURE,  /* see TextureQuestion -> u64 handle                                   */
    ASK_BIND,     /* u32 module, string name, u64 handle                                 */
    ASK_MEMORY,   /* -> u64 free, u64 total                                              */
    ASK_RESET,    /* forgets allocations, modules, textures                              */
    ASK_NAME,     /* string: a function that is not there; told once                     */
    ASK_MAP,      /* u64 address, u64 bytes: of a variable that the program has mapped   */
    ASK_LIMIT,    /* u32 LimitKind, u64 bytes                                            */
    ASK_TOGETHER, /* u32 count, { what ASK_LAUNCH has, u32 count, u32[] numbers of those before it that end before it
                   * begins } -> { u64 core cycle in which it ended, string printed }             */
    ASK_BEGIN, /* the same, each with u32 count, u32[] numbers of launches before these, which end before it begins,
                   * i32 priority -> u32 number of the first: they begin, beside those in flight               */
    ASK_WAIT, /* u64 cycles or 0, u32 count, u32[] numbers: until one of these has ended, or all where none is named,
                   * or the core clock comes to a multiple of so many cycles -> u64 core cycle, u32 count of those that
                   * have ended since the last wait, { u32 number, u64 core cycle, string printed } */
} ChannelOperation;

typedef enum { LIMIT_PRINTED, LIMIT_HEAP } LimitKind;

typedef enum { VARIABLE_GLOBAL, VARIABLE_CONST, VARIABLE_TEXTURE } VariableSpace;
typedef enum { ALLOCATION_DEVICE, ALLOCATION_MAPPED } AllocationKind;

typedef enum { READ_ELEMENTS, READ_NORMALIZED, READ_FROM_SRGB } TextureReading;

/* u64 address, pitch, slice, u32 width, height, depth, layers, then one u32 each: */
typedef struct {
    uint32_t format; /* 0 to 7: u8 s8 u16 s16 u32 s32 f16 f32 */
    uint32_t channels, linear, address[3], normalized;
    uint32_t read; /* TextureReading */
    uint32_t cube;
} TextureQuestion;

/* Where the texels lie. */
typedef struct {
    uint64_t address, pitch, slice; /* bytes from row to row, and from slice or layer to the next */
    uint32_t extent[4];             /* width, height, depth, layers; 0 where it has none          */
} TextureSource;

/* Of the answer to ASK_HELLO; rates in kHz. */
typedef enum {
    DEVICE_MAJOR,
    DEVICE_MINOR,
    DEVICE_SMS,
    DEVICE_THREADS_PER_SM,
    DEVICE_CTAS_PER_SM,
    DEVICE_REGISTERS_PER_SM,
    DEVICE_SHARED_PER_SM,
    DEVICE_L2_BYTES,
    DEVICE_CORE_KHZ,
    DEVICE_MEMORY_KHZ,
    DEVICE_MEMORY_BITS,
    DEVICE_SCHEDULERS,
    DEVICE_REGISTER_UNIT,   /* registers of a thread are allocated in multiples of it */
    DEVICE_RESERVED_SHARED, /* bytes that each CTA takes beside its own */
    DEVICE_CYCLE,           /* now */
    DEVICE_NUMBERS,
} DeviceNumber;

#endif
