/* Surfaces, volumes, layers and cubemaps, by objects and by references. */
#include "checks.h"

enum { WIDTH = 8, HEIGHT = 4, DEPTH = 6 };

surface<void, 2> plane;
texture<float, cudaTextureType3D> volume;
texture<float, cudaTextureType2DLayered> layers;

static float values[DEPTH][HEIGHT][WIDTH];

/* An array with the first of `values`. */
static cudaArray_t filled(cudaExtent extent, unsigned flags) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMemcpy3DParms copy = {};
    CHECK(cudaMalloc3DArray(&array, &format, extent, flags) == cudaSuccess);
    copy.srcPtr = make_cudaPitchedPtr(values, extent.width * sizeof(float), extent.width, extent.height);
    copy.dstArray = array;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy) == cudaSuccess);
    return array;
}
static cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}
static cudaSurfaceObject_t surface_of(cudaArray_t array) {
    cudaSurfaceObject_t object = 0;
    cudaResourceDesc resource = of_array(array);
    CHECK(cudaCreateSurfaceObject(&object, &resource) == cudaSuccess);
    return object;
}
static cudaTextureObject_t texture_of(cudaArray_t array, bool normalized) {
    cudaTextureObject_t object = 0;
    cudaResourceDesc resource = of_array(array);
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
    how.normalizedCoords = normalized;
    CHECK(cudaCreateTextureObject(&object, &resource, &how, NULL) == cudaSuccess);
    return object;
}

/* ---- elements of all sizes go through a surface unchanged; what is outside reads as 0 */

template <class T> __global__ void move(cudaSurfaceObject_t object) {
    int x = (int)(threadIdx.x * sizeof(T));
    T value = surf2Dread<T>(object, x, 0), outside;
    surf2Dread(&outside, object, x + 4096, 0, cudaBoundaryModeZero);
    surf2Dwrite(value, object, x, 1);
    surf2Dwrite(outside, object, x, 2, cudaBoundaryModeClamp);
}

template <class T> static void check_size() {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    unsigned char bytes[3][WIDTH * sizeof(T)];
    CHECK(cudaMallocArray(&array, &format, WIDTH, 3, cudaArraySurfaceLoadStore) == cudaSuccess);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[0][i] = (unsigned char)(i * 7 + 1);
    cudaMemcpy2DToArray(array, 0, 0, bytes, sizeof bytes[0], sizeof bytes[0], 3, cudaMemcpyHostToDevice);
    move<T><<<1, WIDTH>>>(surface_of(array));
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    unsigned char moved[3][WIDTH * sizeof(T)];
    cudaMemcpy2DFromArray(moved, sizeof moved[0], array, 0, 0, sizeof moved[0], 3, cudaMemcpyDeviceToHost);
    CHECK(memcmp(moved[1], bytes[0], sizeof bytes[0]) == 0);
    for (size_t i = 0; i < sizeof moved[2]; i++) CHECK(moved[2][i] == 0);
}

/* ---- one row of each shape */

__global__ void rows(cudaTextureObject_t by_object, cudaSurfaceObject_t box, cudaSurfaceObject_t stack, float *results) {
    int n = threadIdx.x;
    float x = (float)n + 0.5f;
    *(results += n) = tex3D<float>(by_object, x, 1.5f, 4.5f);
    *(results += WIDTH) = tex3D(volume, x, 2.5f, 3.5f);
    *(results += WIDTH) = tex2DLayered(layers, x, 1.5f, 5);
    *(results += WIDTH) = surf3Dread<float>(box, n * 4, 2, 1);
    *(results += WIDTH) = surf2DLayeredread<float>(stack, n * 4, 3, 2);
    surf3Dwrite(100.0f + n, box, n * 4, 0, 5);
    surf2DLayeredwrite(200.0f + n, stack, n * 4, 1, 5);
    surf2Dwrite(300.0f + n, plane, n * 4, 1);
}
__global__ void written(cudaSurfaceObject_t box, cudaSurfaceObject_t stack, float *results) {
    int n = threadIdx.x;
    results[n] = surf3Dread<float>(box, n * 4, 0, 5);
    results[WIDTH + n] = surf2DLayeredread<float>(stack, n * 4, 1, 5);
    results[2 * WIDTH + n] = surf2Dread<float>(plane, n * 4, 1);
}

static void check_shapes(float *results) {
    cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
    cudaArray_t box = filled(extent, cudaArraySurfaceLoadStore);
    cudaArray_t stack = filled(extent, cudaArrayLayered | cudaArraySurfaceLoadStore);
    cudaArray_t flat = filled(make_cudaExtent(WIDTH, HEIGHT, 0), cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t box_surface = surface_of(box), stack_surface = surface_of(stack);
    CHECK(cudaBindTextureToArray(volume, box) == cudaSuccess && cudaBindTextureToArray(layers, stack) == cudaSuccess);
    CHECK(cudaBindSurfaceToArray(plane, flat) == cudaSuccess);
    rows<<<1, WIDTH>>>(texture_of(box, false), box_surface, stack_surface, results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int n = 0; n < WIDTH; n++) {
        CHECK(results[n] == values[4][1][n] && results[WIDTH + n] == values[3][2][n]);
        CHECK(results[2 * WIDTH + n] == values[5][1][n] && results[3 * WIDTH + n] == values[1][2][n]);
        CHECK(results[4 * WIDTH + n] == values[2][3][n]);
    }
    written<<<1, WIDTH>>>(box_surface, stack_surface, results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int n = 0; n < WIDTH; n++)
        CHECK(results[n] == 100 + n && results[WIDTH + n] == 200 + n && results[2 * WIDTH + n] == 300 + n);
}

/* ---- the middle of each face of a cube */

__global__ void faces(cudaTextureObject_t cube, float *results) {
    const float axis[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    int n = threadIdx.x;
    results[n] = texCubemap<float>(cube, axis[n][0], axis[n][1], axis[n][2]);
}

static void check_cube(float *results) {
    for (int i = 0; i < 6 * 9; i++) values[0][0][i] = (float)(i / 9);
    faces<<<1, 6>>>(texture_of(filled(make_cudaExtent(3, 3, 6), cudaArrayCubemap), true), results);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    for (int face = 0; face < 6; face++) CHECK(results[face] == face);
}

int main() {
    float *results;
    CHECK(cudaMallocManaged(&results, 5 * WIDTH * sizeof(float)) == cudaSuccess);
    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++) values[0][0][i] = (float)i;
    check_size<unsigned char>();
    check_size<short>();
    check_size<float>();
    check_size<int2>();
    check_size<float4>();
    check_shapes(results);
    check_cube(results);
    return finish("surfaces");
}
