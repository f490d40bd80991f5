// sssp: lengths of the shortest paths from node 0 of a random graph to all others, two launches per round, until a
// round changes nothing.
//
// The reference is Dijkstra's algorithm with a heap of nodes. Distances are integers, so the check asks for equality.
#include "../common/graph.h"

#include <limits.h>
#include <stdlib.h>

static const struct workload_info info = {
    .name = "sssp",
    .summary = "shortest paths from one node of a weighted graph, one thread per node, two launches per round",
    .sizes = {"1,024 nodes, 6 edges on average", "16,384 nodes, 6 edges on average",
              "262,144 nodes, 6 edges on average"},
};

enum { AVERAGE = 6, HEAVIEST = 16, FAR = INT_MAX / 2 };

static int *make_weights(struct workload *w, int n_edges) {
    int *weight = workload_array(w, (size_t)n_edges, sizeof *weight);
    for (int e = 0; e < n_edges; e++)
        weight[e] = 1 + (int)workload_random_below(w, HEAVIEST);
    return weight;
}

static int *start_distances(const struct workload *w, int n) {
    int *distance = workload_array(w, (size_t)n, sizeof *distance);
    for (int i = 1; i < n; i++)
        distance[i] = FAR;
    return distance;
}

struct device_memory {
    struct graph_arrays graph;
    CUdeviceptr weight, distance, offer, is_open, changed;
};

static struct device_memory upload(const struct workload *w, const struct graph *g, const int *weight,
                                   const int *distance) {
    size_t bytes = (size_t)g->n_nodes * sizeof(int);
    struct device_memory m = {
        .graph = graph_upload(w, g),
        .weight = workload_upload(w, weight, (size_t)g->row[g->n_nodes] * sizeof(int)),
        .distance = workload_upload(w, distance, bytes),
        .offer = workload_upload(w, distance, bytes),
        .is_open = workload_device_alloc(w, bytes),
        .changed = workload_device_alloc(w, sizeof(int)),
    };
    WORKLOAD_CUDA(w, cuMemsetD32(m.is_open, 0, (size_t)g->n_nodes));
    WORKLOAD_CUDA(w, cuMemsetD32(m.is_open, 1, 1)); // node 0
    return m;
}

static void device_free(const struct workload *w, struct device_memory *m) {
    graph_device_free(w, m->graph);
    CUdeviceptr all[] = {m->weight, m->distance, m->offer, m->is_open, m->changed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
}

// Returns the number of rounds.
static int search(const struct workload *w, const struct graph *g, const int *weight, struct workload_shape shape,
                  int *distance) {
    int n = g->n_nodes, changed = 1, n_rounds = 0;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    struct device_memory m = upload(w, g, weight, distance);
    for (; changed; n_rounds++) {
        WORKLOAD_CUDA(w, cuMemsetD32(m.changed, 0, 1));
        workload_launch(w, "relax", grid,
                        (void *[]){&m.graph.row, &m.graph.col, &m.weight, &m.distance, &m.offer, &m.is_open, &n});
        workload_launch(w, "settle", grid, (void *[]){&m.distance, &m.offer, &m.is_open, &m.changed, &n});
        workload_download(w, &changed, m.changed, sizeof changed);
    }
    workload_download(w, distance, m.distance, (size_t)n * sizeof *distance);
    device_free(w, &m);
    return n_rounds;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

// A binary heap of entries, the nearest on top. An entry that is no longer its node's distance is out of date.
struct entry {
    int distance, node;
};
struct heap {
    struct entry *entry;
    size_t n;
};

static void push(struct heap *heap, struct entry entry) {
    size_t at = heap->n++;
    for (; at > 0 && heap->entry[(at - 1) / 2].distance > entry.distance; at = (at - 1) / 2)
        heap->entry[at] = heap->entry[(at - 1) / 2];
    heap->entry[at] = entry;
}

static struct entry pop(struct heap *heap) {
    struct entry top = heap->entry[0], last = heap->entry[--heap->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && heap->entry[child + 1].distance < heap->entry[child].distance)
            child++;
        if (heap->entry[child].distance >= last.distance)
            break;
        heap->entry[at] = heap->entry[child];
    }
    heap->entry[at] = last;
    return top;
}

// Each edge enters at most one entry.
static void search_reference(const struct workload *w, const struct graph *g, const int *weight, int *distance) {
    struct heap heap = {workload_array(w, (size_t)g->row[g->n_nodes] + 1, sizeof(struct entry)), 0};
    push(&heap, (struct entry){0, 0});
    while (heap.n) {
        struct entry top = pop(&heap);
        if (top.distance > distance[top.node])
            continue;
        for (int e = g->row[top.node]; e < g->row[top.node + 1]; e++) {
            struct entry next = {top.distance + weight[e], g->col[e]};
            if (next.distance >= distance[next.node])
                continue;
            distance[next.node] = next.distance;
            push(&heap, next);
        }
    }
    free(heap.entry);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 1024, 1 << 14, 1 << 18);
    struct graph g = graph_make_random(&w, n, AVERAGE);
    int n_edges = g.row[n], *weight = make_weights(&w, n_edges);
    int *distance = start_distances(&w, n), *expected = start_distances(&w, n);
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    int n_rounds = search(&w, &g, weight, shape, distance);

    struct workload_diff diff = {0};
    if (w.check) {
        search_reference(&w, &g, weight, expected);
        diff = workload_diff_i32(distance, expected, (size_t)n);
    }
    graph_free(&g);
    free(weight);
    free(distance);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d nodes, %d edges, %d rounds of %u blocks of %u threads", n,
                           n_edges, n_rounds, shape.blocks, shape.threads);
}
