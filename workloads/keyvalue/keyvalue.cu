// Look-ups in a hash table of keys and values, one request per thread. A request has 128 bytes: the key's length and the
// key. A bucket is a chain of items, each {next, hash, length of key, length of value}, the key, and the value at the
// next multiple of four. Each lane comes back to the line of its request and to that of its item byte by byte.
#include "../cuda.h"

typedef unsigned char byte;

#define REQUEST 128
#define RESPONSE 256
#define HEADER 16

struct Header {
    int next; // offset of the next item, -1 at the end of the chain
    unsigned hash;
    int key_length, value_length;
};

extern "C" __global__ void keyvalue_get(const byte *requests, const int *buckets, const byte *items, byte *responses,
                                        int count, int mask) {
    int request = blockIdx.x * blockDim.x + threadIdx.x;
    if (request >= count) return;
    const byte *own = &requests[request * REQUEST];
    int length = *(const int *)own;
    const byte *key = own + 4;

    unsigned hash = 5381;
#pragma unroll 1
    for (int i = 0; i < length; i++)
        hash = hash * 33 + key[i];

    int *response = (int *)&responses[request * RESPONSE];
    int at = buckets[hash & mask];
#pragma unroll 1
    while (at >= 0) {
        const Header *item = (const Header *)&items[at];
        int next = item->next;
        if (item->hash == hash && item->key_length == length) {
            const byte *other = &items[at + HEADER];
            int same = 0;
#pragma unroll 1
            while (same < length && key[same] == other[same])
                same++;
            if (same == length) {
                int words = (item->value_length + 3) / 4;
                const int *value = (const int *)&items[at + HEADER + (length + 3) / 4 * 4];
                response[0] = item->value_length;
#pragma unroll 1
                for (int i = 0; i < words; i++)
                    response[1 + i] = value[i];
                return;
            }
        }
        at = next;
    }
    response[0] = -1;
}
