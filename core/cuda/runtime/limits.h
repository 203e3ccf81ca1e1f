/* What the device says that no parameter of a machine decides. */
#ifndef WW_CUDA_LIMITS_H
#define WW_CUDA_LIMITS_H

enum {
    MOST_THREADS = 1024,
    MOST_THREADS_Z = 64,
    MOST_GRID_YZ = 65535,
    MOST_TEXELS_1D = 131072,
    MOST_TEXELS_2D = 65536,
    MOST_TEXELS_3D = 16384,
    MOST_LAYERS = 2048,
    CONSTANT_BYTES = 65536,
    SHARED_BYTES = 49152, /* of a CTA whose kernel has not asked for more */
    TEXTURE_ALIGN = 512,
    TEXTURE_PITCH = 32,
    LEAST_PRIORITY = 0, /* of streams: the lower number goes first */
    GREATEST_PRIORITY = -5,
};

#define PCI_SLOT   "01:00.0"
#define PCI_BUS_ID "0000:" PCI_SLOT

#endif
