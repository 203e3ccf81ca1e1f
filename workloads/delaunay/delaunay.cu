// Refines a Delaunay mesh: bad triangles, those with an angle of less than 30 degrees, get a new vertex in the
// centre of their circumcircle. Each thread takes bad triangles, and for each grows the cavity of triangles whose
// circumcircles hold the new vertex, neighbour by neighbour. Threads whose cavities touch agree on one that goes
// on, in phases; a phase is a launch, and grows the cavities anew. The winners fill their cavities with new
// triangles, the others try again in the next round.
#include "../cuda.h"

typedef unsigned char byte;

#define CAVITY 256 // triangles at most
#define RIM    (CAVITY + 2)

enum { TRIANGLES, VERTICES, WORK };

struct Mesh {
    int *vertices;  // three of each triangle, counter-clockwise
    int *neighbors; // neighbor k lies across the edge from vertex k to the next; -1: nothing
    double *x, *y;
    byte *bad, *deleted;
    int *owner;
    int *counts; // of triangles, of vertices, and of the work of the next round
};

// Greater than 0 if p is in the circle through a, b, c.
static inline __device__ double in_circle(double ax, double ay, double bx, double by, double cx, double cy,
                                          double px, double py) {
    ax -= px, ay -= py, bx -= px, by -= py, cx -= px, cy -= py;
    return (ax * ax + ay * ay) * (bx * cy - cx * by) + (bx * bx + by * by) * (cx * ay - ax * cy) +
           (cx * cx + cy * cy) * (ax * by - bx * ay);
}

static inline __device__ bool is_in(const int *cavity, int count, int triangle) {
#pragma unroll 1
    for (int i = 0; i < count; i++)
        if (cavity[i] == triangle) return true;
    return false;
}

struct Point {
    double x, y;
};

// What a thread is to do with a bad triangle: where its vertex comes to be, and a triangle of its cavity; -1: nothing.
struct Plan {
    Point point;
    int triangle, split;
};

// The triangles whose circles hold the point, from one of them on. Returns how many; 0 if there is no room for them.
static inline __device__ int spread(const Mesh &mesh, int triangle, int *cavity, Point to) {
    int count = 1;
    cavity[0] = triangle;
#pragma unroll 1
    for (int i = 0; i < count; i++) {
#pragma unroll 1
        for (int side = 0; side < 3; side++) {
            int next = mesh.neighbors[3 * cavity[i] + side];
            if (next < 0 || is_in(cavity, count, next)) continue;
            const int *w = &mesh.vertices[3 * next];
            int p = w[0], q = w[1], r = w[2];
            if (in_circle(mesh.x[p], mesh.y[p], mesh.x[q], mesh.y[q], mesh.x[r], mesh.y[r], to.x, to.y) <= 0)
                continue;
            if (count == CAVITY) return 0;
            cavity[count++] = next;
        }
    }
    return count;
}

// Whether the point is beyond the edge from a to b or in the circle around it.
static inline __device__ bool is_near(const Mesh &mesh, int a, int b, Point p) {
    double ax = mesh.x[a] - p.x, ay = mesh.y[a] - p.y, bx = mesh.x[b] - p.x, by = mesh.y[b] - p.y;
    return ax * bx + ay * by < 0 || ax * by - ay * bx <= 0;
}

// The plan for a bad triangle, and its cavity. A vertex too near to an edge of the border goes to the middle of
// this edge, which begins at vertex `split`; else split is -1. Returns how many triangles the cavity has; 0 if the
// bad triangle is no more or the cavity too large.
static inline __device__ int grow(const Mesh &mesh, int triangle, int *cavity, Plan &plan) {
    if (mesh.deleted[triangle]) return 0;
    const int *v = &mesh.vertices[3 * triangle];
    double ax = mesh.x[v[0]], ay = mesh.y[v[0]];
    double bx = mesh.x[v[1]] - ax, by = mesh.y[v[1]] - ay, cx = mesh.x[v[2]] - ax, cy = mesh.y[v[2]] - ay;
    double b = bx * bx + by * by, c = cx * cx + cy * cy, twice = 2 * (bx * cy - by * cx);
    Point point = {ax + (cy * b - by * c) / twice, ay + (bx * c - cx * b) / twice};
    plan = {point, triangle, -1};

    int count = spread(mesh, triangle, cavity, point);
#pragma unroll 1
    for (int i = 0; i < count; i++) {
#pragma unroll 1
        for (int side = 0; side < 3; side++) {
            int at = 3 * cavity[i];
            if (mesh.neighbors[at + side] >= 0) continue;
            int from = mesh.vertices[at + side], to = mesh.vertices[at + (side + 1) % 3];
            if (!is_near(mesh, from, to, point)) continue;
            plan = {{(mesh.x[from] + mesh.x[to]) / 2, (mesh.y[from] + mesh.y[to]) / 2}, cavity[i], from};
            return spread(mesh, plan.triangle, cavity, plan.point);
        }
    }
    return count;
}

// What a cavity needs for itself: its triangles and their neighbours.
template <typename Each>
static inline __device__ void for_all_needed(const Mesh &mesh, const int *cavity, int count, Each each) {
#pragma unroll 1
    for (int i = 0; i < count; i++) {
        each(cavity[i]);
#pragma unroll 1
        for (int side = 0; side < 3; side++) {
            int next = mesh.neighbors[3 * cavity[i] + side];
            if (next >= 0) each(next);
        }
    }
}

#define FOR_ALL_WORK(i, count)                                                                               \
    _Pragma("unroll 1") for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (count);                     \
                             i += gridDim.x * blockDim.x)

// Phase 1: who needs a triangle writes its number there; the last one stays.
extern "C" __global__ void delaunay_mark(Mesh mesh, const int *work, int count) {
    int cavity[CAVITY];
    Plan plan;
    FOR_ALL_WORK(i, count) {
        int triangles = grow(mesh, work[i], cavity, plan);
        for_all_needed(mesh, cavity, triangles, [&](int triangle) { mesh.owner[triangle] = i; });
    }
}

// Phase 2: the least number stays.
extern "C" __global__ void delaunay_lower(Mesh mesh, const int *work, int count) {
    int cavity[CAVITY];
    Plan plan;
    FOR_ALL_WORK(i, count) {
        int triangles = grow(mesh, work[i], cavity, plan);
        for_all_needed(mesh, cavity, triangles, [&](int triangle) { atomicMin(&mesh.owner[triangle], i); });
    }
}

// Phase 3: who has all that it needs wins, and keeps the plan. Whoever does not, but has a cavity, works again in
// the next round.
extern "C" __global__ void delaunay_check(Mesh mesh, const int *work, int count, Plan *plans,
                                          int *next_work) {
    int cavity[CAVITY];
    Plan plan;
    FOR_ALL_WORK(i, count) {
        int triangles = grow(mesh, work[i], cavity, plan);
        bool all = triangles > 0;
        for_all_needed(mesh, cavity, triangles, [&](int triangle) { all &= mesh.owner[triangle] == i; });
        if (!all) plan.triangle = -1;
        plans[i] = plan;
        if (triangles > 0 && !all) next_work[atomicAdd(&mesh.counts[WORK], 1)] = work[i];
    }
}

// Whether the angle at a is less than 30 degrees, whose cosine's square is 3/4.
static inline __device__ bool is_sharp(double ax, double ay, double bx, double by, double cx, double cy) {
    bx -= ax, by -= ay, cx -= ax, cy -= ay;
    double product = bx * cx + by * cy;
    return product > 0 && product * product > 0.75 * (bx * bx + by * by) * (cx * cx + cy * cy);
}

// Phase 4: the winners' cavities are filled with triangles from each edge of the rim to the new vertex. The mesh
// within reach is the winner's own.
extern "C" __global__ void delaunay_fill(Mesh mesh, int count, const Plan *plans, int *next_work) {
    int cavity[CAVITY], from[RIM], to[RIM], outside[RIM];
    FOR_ALL_WORK(i, count) {
        Plan plan = plans[i];
        if (plan.triangle < 0) continue;
        Point point = plan.point;
        int split = plan.split, triangles = spread(mesh, plan.triangle, cavity, point), edges = 0;
        int vertex = atomicAdd(&mesh.counts[VERTICES], 1);
        mesh.x[vertex] = point.x;
        mesh.y[vertex] = point.y;

        // A cavity of n triangles has a rim of n + 2 edges. An edge of the border that is split gets no triangle.
        int first = atomicAdd(&mesh.counts[TRIANGLES], triangles + (split < 0 ? 2 : 1));
#pragma unroll 1
        for (int t = 0; t < triangles; t++) {
            int old = cavity[t];
            mesh.deleted[old] = 1;
#pragma unroll 1
            for (int side = 0; side < 3; side++) {
                int next = mesh.neighbors[3 * old + side];
                if (next >= 0 && is_in(cavity, triangles, next)) continue;
                if (next < 0 && mesh.vertices[3 * old + side] == split) continue;
                from[edges] = mesh.vertices[3 * old + side];
                to[edges] = mesh.vertices[3 * old + (side + 1) % 3];
                outside[edges] = next;
                if (next >= 0) {
                    int back = 0;
                    while (mesh.neighbors[3 * next + back] != old)
                        back++;
                    mesh.neighbors[3 * next + back] = first + edges;
                }
                edges++;
            }
        }

#pragma unroll 1
        for (int e = 0; e < edges; e++) {
            int triangle = first + e, a = from[e], b = to[e], before = -1, after = -1;
#pragma unroll 1
            for (int other = 0; other < edges; other++) {
                if (to[other] == a) before = first + other;
                if (from[other] == b) after = first + other;
            }
            int *v = &mesh.vertices[3 * triangle], *neighbors = &mesh.neighbors[3 * triangle];
            v[0] = a, v[1] = b, v[2] = vertex;
            neighbors[0] = outside[e], neighbors[1] = after, neighbors[2] = before;
            double ax = mesh.x[a], ay = mesh.y[a], bx = mesh.x[b], by = mesh.y[b];
            bool bad = is_sharp(ax, ay, bx, by, point.x, point.y) ||
                       is_sharp(bx, by, point.x, point.y, ax, ay) ||
                       is_sharp(point.x, point.y, ax, ay, bx, by);
            mesh.bad[triangle] = bad;
            if (bad) next_work[atomicAdd(&mesh.counts[WORK], 1)] = triangle;
        }
    }
}
