// bc: betweenness centrality of the nodes of a random graph, from a few sources.
//
// The reference is Brandes's algorithm with a queue, in double precision. It walks back along the edges into a node,
// where the kernel looks at the edges out of one; in this graph each edge goes both ways. Each level adds relative
// errors of about 1e-7 per edge.
#include "../common/graph.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "bc",
    .summary = "betweenness centrality from a few sources, one thread per node, two launches per level",
    .sizes = {"1,024 nodes, 2 sources", "16,384 nodes, 2 sources", "131,072 nodes, 4 sources"},
};

enum { AVERAGE = 6 };

struct device_memory {
    struct graph_arrays graph;
    CUdeviceptr level, paths, passing, centrality, changed;
};

static struct device_memory upload(const struct workload *w, const struct graph *g) {
    size_t n = (size_t)g->n_nodes;
    struct device_memory m = {
        .graph = graph_upload(w, g),
        .level = workload_device_alloc(w, n * sizeof(int)),
        .paths = workload_device_alloc(w, n * sizeof(unsigned)),
        .passing = workload_device_alloc(w, n * sizeof(float)),
        .centrality = workload_device_alloc(w, n * sizeof(float)),
        .changed = workload_device_alloc(w, sizeof(int)),
    };
    WORKLOAD_CUDA(w, cuMemsetD32(m.centrality, 0, n));
    return m;
}

static void device_free(const struct workload *w, struct device_memory *m) {
    graph_device_free(w, m->graph);
    CUdeviceptr all[] = {m->level, m->paths, m->passing, m->centrality, m->changed};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        workload_device_free(w, all[i]);
}

// Adds the paths from one source; returns the number of levels.
static int add_source(const struct workload *w, struct device_memory *m, struct workload_grid grid, int source, int n) {
    int n_levels = 0, changed = 1;
    WORKLOAD_CUDA(w, cuMemsetD32(m->level, (unsigned)-1, (size_t)n));
    WORKLOAD_CUDA(w, cuMemsetD32(m->level + (size_t)source * sizeof(int), 0, 1));
    WORKLOAD_CUDA(w, cuMemsetD32(m->paths, 0, (size_t)n));
    WORKLOAD_CUDA(w, cuMemsetD32(m->paths + (size_t)source * sizeof(unsigned), 1, 1));
    for (; changed; n_levels++) {
        WORKLOAD_CUDA(w, cuMemsetD32(m->changed, 0, 1));
        workload_launch(w, "forward", grid,
                        (void *[]){&m->graph.row, &m->graph.col, &m->level, &m->paths, &m->changed, &n_levels, &n});
        workload_download(w, &changed, m->changed, sizeof changed);
    }
    for (int cur = n_levels - 1; cur >= 0; cur--)
        workload_launch(
            w, "backward", grid,
            (void *[]){&m->graph.row, &m->graph.col, &m->level, &m->paths, &m->passing, &m->centrality, &cur, &n});
    return n_levels;
}

// ---- Reference ----------------------------------------------------------------------------------------------------

struct search {
    int *level, *queue;
    double *paths, *passing;
    int n_found;
};

static void search_reference(const struct graph *g, int source, struct search *s) {
    for (int i = 0; i < g->n_nodes; i++) {
        s->level[i] = -1;
        s->paths[i] = s->passing[i] = 0;
    }
    s->level[source] = 0;
    s->paths[source] = 1;
    s->queue[0] = source;
    s->n_found = 1;
    for (int head = 0; head < s->n_found; head++) {
        int node = s->queue[head];
        for (int e = g->row[node]; e < g->row[node + 1]; e++) {
            int next = g->col[e];
            if (s->level[next] < 0) {
                s->level[next] = s->level[node] + 1;
                s->queue[s->n_found++] = next;
            }
            if (s->level[next] == s->level[node] + 1)
                s->paths[next] += s->paths[node];
        }
    }
}

static void add_source_reference(const struct graph *g, int source, struct search *s, double *centrality) {
    search_reference(g, source, s);
    for (int at = s->n_found - 1; at > 0; at--) { // the source is the first
        int node = s->queue[at];
        for (int e = g->row[node]; e < g->row[node + 1]; e++)
            if (s->level[g->col[e]] == s->level[node] - 1)
                s->passing[g->col[e]] += s->paths[g->col[e]] / s->paths[node] * (1 + s->passing[node]);
        centrality[node] += s->passing[node];
    }
}

static void centrality_reference(const struct workload *w, const struct graph *g, const int *source, unsigned n_sources,
                                 float *centrality) {
    size_t n = (size_t)g->n_nodes;
    struct search s = {workload_array(w, n, sizeof(int)), workload_array(w, n, sizeof(int)),
                       workload_array(w, n, sizeof(double)), workload_array(w, n, sizeof(double)), 0};
    double *sum = workload_array(w, n, sizeof *sum);
    for (unsigned i = 0; i < n_sources; i++)
        add_source_reference(g, source[i], &s, sum);
    for (size_t i = 0; i < n; i++)
        centrality[i] = (float)sum[i];
    free(s.level);
    free(s.queue);
    free(s.paths);
    free(s.passing);
    free(sum);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 1024, 1 << 14, 1 << 17), source[4], n_levels = 0;
    unsigned n_sources = workload_pick(&w, 2, 2, 4);
    struct graph g = graph_make_random(&w, n, AVERAGE);
    int n_edges = g.row[n];
    for (unsigned i = 0; i < n_sources; i++)
        source[i] = (int)workload_random_below(&w, (uint32_t)n);
    float *centrality = workload_array(&w, (size_t)n, sizeof *centrality);
    float *expected = workload_array(&w, (size_t)n, sizeof *expected);
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    struct device_memory m = upload(&w, &g);
    for (unsigned i = 0; i < n_sources; i++)
        n_levels += add_source(&w, &m, (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0}, source[i], n);
    workload_download(&w, centrality, m.centrality, (size_t)n * sizeof *centrality);
    device_free(&w, &m);

    struct workload_diff diff = {0};
    if (w.check) {
        centrality_reference(&w, &g, source, n_sources, expected);
        diff = workload_diff_f32(centrality, expected, (size_t)n, 1e-4, 1e-4);
    }
    graph_free(&g);
    free(centrality);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%d nodes, %d edges, %u sources, %d levels of %u blocks of %u threads", n, n_edges,
                           n_sources, n_levels, shape.blocks, shape.threads);
}
