/* A graph as a text for Graphviz. */
#include "core/cuda/runtime/graph.h"

#include <inttypes.h>
#include <stdio.h>

static void write_details(FILE *file, const WarpWork *work) {
    const WarpLaunch *shape = &work->kernel.shape;
    const WorkCopy *copy = &work->copy;
    const WorkFill *fill = &work->fill;
    switch (work->kind) {
    case WORK_KERNEL:
        fprintf(file, "\\ngrid %u x %u x %u, CTA %u x %u x %u, %" PRIu64 " bytes of shared memory",
                shape->grid[0], shape->grid[1], shape->grid[2], shape->block[0], shape->block[1],
                shape->block[2], shape->shared_bytes);
        break;
    case WORK_COPY:
        fprintf(file, "\\n%" PRIu64 " x %" PRIu64 " x %" PRIu64 " bytes, 0x%" PRIx64 " to 0x%" PRIx64,
                copy->width, copy->rows, copy->slices, copy->from.address, copy->to.address);
        break;
    case WORK_FILL:
        fprintf(file, "\\n%" PRIu64 " x %" PRIu64 " bytes at 0x%" PRIx64 " with 0x%" PRIx32, fill->width,
                fill->rows, fill->to.address, fill->value);
        break;
    case WORK_ALLOC:
    case WORK_FREE: fprintf(file, "\\n0x%" PRIx64, work->memory.address); break;
    default: break;
    }
}

static void write_nodes(FILE *file, const WarpGraph *graph, const char *prefix, bool is_verbose) {
    static const char *const kinds[] = {"kernel", "copy",  "fill",       "host function",
                                        "graph",  "empty", "event wait", "event record",
                                        "",       "",      "alloc",      "free"};
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const WarpNode *node = graph->nodes.at[i];
        const WarpWork *work = &node->work;
        fprintf(file, "    \"%s%zu\" [label=\"%s%zu\\n%s", prefix, i, prefix, i, kinds[work->kind]);
        if (work->kind == WORK_KERNEL) fprintf(file, " %s", work->kernel.function->name);
        if (is_verbose) write_details(file, work);
        fprintf(file, "\"];\n");
        for (size_t k = 0; k < node->dependencies.count; k++)
            fprintf(file, "    \"%s%zu\" -> \"%s%zu\";\n", prefix, warp_node_index(node->dependencies.at[k]),
                    prefix, i);
        char inner[256];
        if (work->kind != WORK_GRAPH) continue;
        snprintf(inner, sizeof inner, "%s%zu.", prefix, i);
        fprintf(file, "    subgraph \"cluster_%s\" {\n", inner);
        write_nodes(file, work->graph, inner, is_verbose);
        fprintf(file, "    }\n");
    }
}

int warp_graph_write_dot(const WarpGraph *graph, const char *path, bool is_verbose) {
    FILE *file = fopen(path, "w");
    if (!file) return CUDA_OPERATING_SYSTEM;
    fprintf(file, "digraph graph_of_cuda {\n");
    write_nodes(file, graph, "", is_verbose);
    fprintf(file, "}\n");
    return fclose(file) ? CUDA_OPERATING_SYSTEM : CUDA_OK;
}
