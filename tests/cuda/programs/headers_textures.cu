/* Textures by objects and by references. */
#include "checks.h"

enum { WIDTH = 32, HEIGHT = 8 };

texture<float, cudaTextureType1D, cudaReadModeElementType> linear;
texture<float, 2> plane;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colours;
texture<int2, 1, cudaReadModeElementType> pairs;

__global__ void by_references(float *results) {
    int n = threadIdx.x, x = n % WIDTH, y = n / WIDTH;
    float4 colour = tex2D(colours, x + 0.5f, y + 0.5f);
    results[n] = tex1Dfetch(linear, n) + 1000 * tex2D(plane, x + 0.5f, y + 0.5f);
    results[n + WIDTH * HEIGHT] = colour.x * 255 + colour.w * 255 * 1000 + tex1Dfetch(pairs, n % 16).y * 1e6f;
}

__global__ void by_objects(cudaTextureObject_t object, cudaTextureObject_t words, float *results) {
    int n = threadIdx.x, x = n % WIDTH, y = n / WIDTH;
    float value;
    tex2D(&value, object, (x + 0.5f) / WIDTH, (y + 0.5f) / HEIGHT);
    results[n] = value + 1000 * tex2D<float>(object, (x + 1.0f) / WIDTH, (y + 0.5f) / HEIGHT);
    ushort2 word = tex1Dfetch<ushort2>(words, n);
    results[n + WIDTH * HEIGHT] = word.x + 1000.0f * word.y;
}

/* Only to be compiled: a machine need not run all of them. */
__global__ void other_fetches(cudaTextureObject_t object, float *results) {
    float2 d2 = make_float2(0, 0);
    float4 d4 = make_float4(0, 0, 0, 0);
    results[0] = tex1D<float>(object, 0.5f) + tex3D<float>(object, 1, 2, 3) + tex1DLayered<float>(object, 1, 2) +
                 tex2DLayered<float>(object, 1, 2, 3) + texCubemap<float>(object, 1, 0, 0) +
                 texCubemapLayered<float>(object, 1, 0, 0, 2) + tex2Dgather<float4>(object, 1, 2, 3).x +
                 tex2DLod<float>(object, 1, 2, 3) + tex2DGrad<float>(object, 1, 2, d2, d2) +
                 tex3DGrad<float>(object, 1, 2, 3, d4, d4) + texCubemapLod<float>(object, 1, 2, 3, 4) +
                 tex1DLayeredLod<float>(object, 1, 2, 3);
}

static float *results;

static void check_references(const float *values, cudaArray_t array) {
    float *numbers;
    uchar4 *bytes;
    int2 *ints;
    size_t pitch, offset = 7;
    CHECK(cudaMalloc(&numbers, WIDTH * HEIGHT * 4) == cudaSuccess && cudaMalloc(&ints, 16 * sizeof *ints) == cudaSuccess);
    CHECK(cudaMallocPitch(&bytes, &pitch, WIDTH * 4, HEIGHT) == cudaSuccess);
    uchar4 host_bytes[HEIGHT][WIDTH];
    int2 host_ints[16];
    for (int i = 0; i < WIDTH * HEIGHT; i++) host_bytes[i / WIDTH][i % WIDTH] = make_uchar4(i, 1, 2, 255 - i);
    for (int i = 0; i < 16; i++) host_ints[i] = make_int2(-i, i);
    cudaMemcpy(numbers, values, WIDTH * HEIGHT * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(ints, host_ints, sizeof host_ints, cudaMemcpyHostToDevice);
    cudaMemcpy2D(bytes, pitch, host_bytes, WIDTH * 4, WIDTH * 4, HEIGHT, cudaMemcpyHostToDevice);
    CHECK(cudaBindTexture(&offset, linear, numbers, WIDTH * HEIGHT * 4) == cudaSuccess && offset == 0);
    CHECK(cudaBindTexture(NULL, &pairs, ints, &pairs.channelDesc, sizeof host_ints) == cudaSuccess);
    CHECK(cudaBindTexture2D(NULL, colours, bytes, cudaCreateChannelDesc<uchar4>(), WIDTH, HEIGHT, pitch) == cudaSuccess);
    plane.addressMode[0] = cudaAddressModeClamp;
    plane.filterMode = cudaFilterModePoint;
    CHECK(cudaBindTextureToArray(plane, array) == cudaSuccess);
    by_references<<<1, WIDTH * HEIGHT>>>(results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        CHECK(results[i] == values[i] * 1001);
        float want = (float)i + (255 - i) * 1000.0f + i % 16 * 1e6f;
        CHECK(results[i + WIDTH * HEIGHT] > want - 1 && results[i + WIDTH * HEIGHT] < want + 1);
    }
    CHECK(cudaUnbindTexture(linear) == cudaSuccess && cudaUnbindTexture(plane) == cudaSuccess);
}

static void check_objects(const float *values, cudaArray_t array) {
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t object, words;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    how.normalizedCoords = 1;
    how.filterMode = cudaFilterModeLinear;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    CHECK(cudaCreateTextureObject(&object, &resource, &how, NULL) == cudaSuccess);
    ushort2 *memory;
    CHECK(cudaMallocManaged(&memory, WIDTH * HEIGHT * sizeof *memory) == cudaSuccess);
    for (int i = 0; i < WIDTH * HEIGHT; i++) memory[i] = make_ushort2(i * 3, i);
    memset(&resource, 0, sizeof resource);
    memset(&how, 0, sizeof how);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = memory;
    resource.res.linear.desc = cudaCreateChannelDesc<ushort2>();
    resource.res.linear.sizeInBytes = WIDTH * HEIGHT * sizeof *memory;
    CHECK(cudaCreateTextureObject(&words, &resource, &how, NULL) == cudaSuccess);
    by_objects<<<1, WIDTH * HEIGHT>>>(object, words, results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        float next = i % WIDTH == WIDTH - 1 ? values[i] : values[i + 1];
        CHECK(results[i] == values[i] + 1000 * ((values[i] + next) / 2));
        CHECK(results[i + WIDTH * HEIGHT] == i * 3 + 1000.0f * i);
    }
    CHECK(cudaDestroyTextureObject(object) == cudaSuccess && cudaDestroyTextureObject(words) == cudaSuccess);
}

int main() {
    float values[WIDTH * HEIGHT];
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    for (int i = 0; i < WIDTH * HEIGHT; i++) values[i] = (float)(i * 5 % 64);
    CHECK(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindFloat);
    CHECK(cudaCreateChannelDesc<short4>().w == 16 && cudaCreateChannelDescHalf2().y == 16);
    CHECK(cudaMallocManaged(&results, 2 * WIDTH * HEIGHT * sizeof(float)) == cudaSuccess);
    CHECK(cudaMallocArray(&array, &format, WIDTH, HEIGHT) == cudaSuccess);
    CHECK(cudaMemcpy2DToArray(array, 0, 0, values, WIDTH * 4, WIDTH * 4, HEIGHT, cudaMemcpyHostToDevice) == cudaSuccess);
    check_references(values, array);
    check_objects(values, array);
    return finish("textures");
}
