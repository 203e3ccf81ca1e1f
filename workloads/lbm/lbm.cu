// A step of a lattice Boltzmann method on a grid of D3Q19: 19 populations of particles in each cell, one for each
// direction, and a flag. Each has a plane of its own, in which rows of cells are ROW words apart. One cell per
// thread, one row per CTA. A cell's populations meet in it, and go on to the neighbours that they point to: all
// loads are at the own cell, the stores at the neighbours. In a solid cell they turn round.
#include "../cuda.h"

#define ROW 128 // words from row to row
#define DIRECTIONS 19

extern "C" __global__ void lbm_step(const float *from, float *to, int plane, int layer, int margin, float omega) {
    int cell = margin + blockIdx.y * layer + blockIdx.x * ROW + threadIdx.x;
    const float *in = from + cell;
    float *out = to + cell;

    // rest; east and west; north and south; up and down; and the diagonals between them
    float c = in[0 * plane], e = in[1 * plane], w = in[2 * plane], n = in[3 * plane], s = in[4 * plane];
    float u = in[5 * plane], d = in[6 * plane], ne = in[7 * plane], sw = in[8 * plane], nw = in[9 * plane];
    float se = in[10 * plane], eu = in[11 * plane], wd = in[12 * plane], wu = in[13 * plane], ed = in[14 * plane];
    float nu = in[15 * plane], sd = in[16 * plane], su = in[17 * plane], nd = in[18 * plane];
    bool solid = ((const int *)in)[DIRECTIONS * plane] != 0;

#define TURN(A, B)                                                                                                     \
    {                                                                                                                  \
        float other = A;                                                                                               \
        A = B;                                                                                                         \
        B = other;                                                                                                     \
    }
    if (solid) {
        TURN(e, w) TURN(n, s) TURN(u, d) TURN(ne, sw) TURN(nw, se) TURN(eu, wd) TURN(wu, ed) TURN(nu, sd) TURN(su, nd)
    } else {
        float density = c + e + w + n + s + u + d + ne + sw + nw + se + eu + wd + wu + ed + nu + sd + su + nd;
        float share = 1.0f / density;
        float x = (e - w + ne - sw - nw + se + eu - wd - wu + ed) * share;
        float y = (n - s + ne - sw + nw - se + nu - sd - su + nd) * share;
        float z = (u - d + eu - wd + wu - ed + nu - sd + su - nd) * share;
        float still = fmaf(-1.5f, fmaf(x, x, fmaf(y, y, z * z)), 1.0f);
        float keep = 1.0f - omega, rest = omega * density;
        float straight = rest * (1.0f / 18), diagonal = rest * (1.0f / 36);
        c = fmaf(keep, c, rest * (1.0f / 3) * still);
        // A population moves toward what is in balance with the cell's mean velocity; `v` is that along its direction.
#define MEET(A, WEIGHT, V)                                                                                             \
    {                                                                                                                  \
        float v = V;                                                                                                   \
        A = fmaf(keep, A, WEIGHT * fmaf(v, fmaf(4.5f, v, 3.0f), still));                                               \
    }
        MEET(e, straight, x) MEET(w, straight, -x) MEET(n, straight, y) MEET(s, straight, -y)
        MEET(u, straight, z) MEET(d, straight, -z)
        MEET(ne, diagonal, x + y) MEET(sw, diagonal, -x - y) MEET(nw, diagonal, y - x) MEET(se, diagonal, x - y)
        MEET(eu, diagonal, x + z) MEET(wd, diagonal, -x - z) MEET(wu, diagonal, z - x) MEET(ed, diagonal, x - z)
        MEET(nu, diagonal, y + z) MEET(sd, diagonal, -y - z) MEET(su, diagonal, z - y) MEET(nd, diagonal, y - z)
    }

    out[0 * plane] = c;
    out[1 * plane + 1] = e;
    out[2 * plane - 1] = w;
    out[3 * plane + ROW] = n;
    out[4 * plane - ROW] = s;
    out[5 * plane + layer] = u;
    out[6 * plane - layer] = d;
    out[7 * plane + ROW + 1] = ne;
    out[8 * plane - ROW - 1] = sw;
    out[9 * plane + ROW - 1] = nw;
    out[10 * plane - ROW + 1] = se;
    out[11 * plane + layer + 1] = eu;
    out[12 * plane - layer - 1] = wd;
    out[13 * plane + layer - 1] = wu;
    out[14 * plane - layer + 1] = ed;
    out[15 * plane + layer + ROW] = nu;
    out[16 * plane - layer - ROW] = sd;
    out[17 * plane + layer - ROW] = su;
    out[18 * plane - layer + ROW] = nd;
}
