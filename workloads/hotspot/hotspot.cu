// How heat spreads on a chip: every cell of a grid gains from its power, its four neighbours and the air above.
// A CTA of 16 x 16 threads takes a tile with its surroundings into shared memory and makes several steps on it;
// with each, the cells that are right become fewer by one row or column on each side. So tiles overlap, and
// CTAs load what their neighbours load.
#include "../cuda.h"

#define TILE 16

// `gain` is the length of a step over a cell's capacity; x, y and z are what flows for a kelvin, along a row,
// along a column and to the air.
extern "C" __global__ void hotspot(const float *power, const float *before, float *after, int rows,
                                   int columns, int steps, float gain, float x_flow, float y_flow,
                                   float z_flow, float air) {
    __shared__ float cells[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, inner = TILE - 2 * steps;
    int row = (int)blockIdx.y * inner - steps + y, column = (int)blockIdx.x * inner - steps + x;
    int at = row * columns + column;
    bool inside = 0 <= row && row < rows && 0 <= column && column < columns;

    float own = 0, heating = 0;
    if (inside) {
        own = before[at];
        heating = power[at];
    }
    cells[y][x] = own;
    __syncthreads();

    // Beyond the chip's edge it is as warm as at the edge.
    int north = row == 0 ? y : y - 1, south = row == rows - 1 ? y : y + 1;
    int west = column == 0 ? x : x - 1, east = column == columns - 1 ? x : x + 1;
    bool right = false;
#pragma unroll 1
    for (int step = 1; step <= steps; step++) {
        right = inside && step <= x && x < TILE - step && step <= y && y < TILE - step;
        if (right) {
            float twice = own + own;
            float flow = fmaf((cells[south][x] + cells[north][x]) - twice, y_flow, heating);
            flow = fmaf((cells[y][east] + cells[y][west]) - twice, x_flow, flow);
            flow = fmaf(air - own, z_flow, flow);
            own = fmaf(gain, flow, own);
        }
        __syncthreads();
        cells[y][x] = own;
        __syncthreads();
    }
    if (right) after[at] = own;
}
