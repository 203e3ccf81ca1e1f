/* cudaCreateChannelDesc<T>(): the texels of a texture of T. */
#ifndef __CHANNEL_DESCRIPTOR_H__
#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_runtime_api.h"

#ifdef __cplusplus

template <class T> __host__ inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define WARPWRIGHT_CHANNELS(type, x, y, z, w, kind)                                                          \
    template <> __host__ inline cudaChannelFormatDesc cudaCreateChannelDesc<type>() {                        \
        return cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind);                               \
    }

#define WARPWRIGHT_CHANNELS_OF(scalar, prefix, bits, kind)                                                   \
    WARPWRIGHT_CHANNELS(scalar, bits, 0, 0, 0, kind)                                                         \
    WARPWRIGHT_CHANNELS(prefix##1, bits, 0, 0, 0, kind)                                                      \
    WARPWRIGHT_CHANNELS(prefix##2, bits, bits, 0, 0, kind)                                                   \
    WARPWRIGHT_CHANNELS(prefix##4, bits, bits, bits, bits, kind)

WARPWRIGHT_CHANNELS(char, 8, 0, 0, 0, Signed)
WARPWRIGHT_CHANNELS_OF(signed char, char, 8, Signed)
WARPWRIGHT_CHANNELS_OF(unsigned char, uchar, 8, Unsigned)
WARPWRIGHT_CHANNELS_OF(short, short, 16, Signed)
WARPWRIGHT_CHANNELS_OF(unsigned short, ushort, 16, Unsigned)
WARPWRIGHT_CHANNELS_OF(int, int, 32, Signed)
WARPWRIGHT_CHANNELS_OF(unsigned int, uint, 32, Unsigned)
WARPWRIGHT_CHANNELS_OF(float, float, 32, Float)

#undef WARPWRIGHT_CHANNELS_OF
#undef WARPWRIGHT_CHANNELS

__host__ inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
__host__ inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() {
    return cudaCreateChannelDescHalf();
}
__host__ inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
__host__ inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#endif
#endif
