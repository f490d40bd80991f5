// bfs: levels of a breadth-first search from node 0 of a random directed graph, one launch per level.
#include "../common/graph.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "bfs",
    .summary = "breadth-first search, one thread per node, one launch per level",
    .sizes = {"4,096 nodes, 4 to 12 edges each", "65,536 nodes, 4 to 12 edges each",
              "1,048,576 nodes, 6 edges on average"},
    .options = {{"--nodes", "N", "nodes of the graph, a power of two; Malits 2012: 65536", 1, 1 << 22},
                {"--average", "N", "edges of a node on average, of a random undirected graph; Malits 2012: 6", 2, 64}},
};

enum { OPTION_NODES, OPTION_AVERAGE };

enum { PAPER_AVERAGE = 6 };

static struct graph make_graph(struct workload *w, int n_nodes) {
    int average = (int)w->option[OPTION_AVERAGE].number;
    if (!average && w->size == WORKLOAD_PAPER)
        average = PAPER_AVERAGE;
    return average ? graph_make_random(w, n_nodes, average) : graph_make_even(w, n_nodes);
}

// Searches with a queue of nodes, each entered once.
static void search_reference(const struct workload *w, const struct graph *g, int *level) {
    int *queue = workload_array(w, (size_t)g->n_nodes, sizeof *queue);
    int head = 0, tail = 1; // node 0 is in the queue
    while (head < tail) {
        int node = queue[head++];
        for (int e = g->row[node]; e < g->row[node + 1]; e++) {
            int next = g->col[e];
            if (level[next] >= 0)
                continue;
            level[next] = level[node] + 1;
            queue[tail++] = next;
        }
    }
    free(queue);
}

static int *start_levels(const struct workload *w, int n_nodes) {
    int *level = workload_array(w, (size_t)n_nodes, sizeof *level);
    for (int i = 1; i < n_nodes; i++)
        level[i] = -1;
    return level;
}

// Runs the levels on the device until one changes nothing; returns the number of launches.
static int search(const struct workload *w, const struct graph *g, struct workload_shape shape, int *level) {
    size_t n = (size_t)g->n_nodes;
    int cur = 0, changed = 1, n_nodes = g->n_nodes;
    struct graph_arrays arrays = graph_upload(w, g);
    CUdeviceptr device_level = workload_upload(w, level, n * sizeof(int));
    CUdeviceptr device_changed = workload_device_alloc(w, sizeof changed);
    for (; changed; cur++) {
        WORKLOAD_CUDA(w, cuMemsetD32(device_changed, 0, 1));
        workload_launch(w, shape.covers ? "bfs" : "bfs_strided",
                        (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                        (void *[]){&arrays.row, &arrays.col, &device_level, &device_changed, &cur, &n_nodes});
        workload_download(w, &changed, device_changed, sizeof changed);
    }
    workload_download(w, level, device_level, n * sizeof(int));
    graph_device_free(w, arrays);
    workload_device_free(w, device_level);
    workload_device_free(w, device_changed);
    return cur;
}

static int choose_nodes(const struct workload *w) {
    unsigned given = w->option[OPTION_NODES].number;
    if (given & (given - 1))
        workload_usage_error(w, "--nodes takes a power of two, not %u", given);
    return (int)(given ? given : workload_pick(w, 4096, 65536, 1 << 20));
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = choose_nodes(&w);
    struct graph g = make_graph(&w, n);
    int n_edges = g.row[n];
    int *level = start_levels(&w, n), *expected = start_levels(&w, n);
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    int n_launches = search(&w, &g, shape, level);

    struct workload_diff diff = {0};
    if (w.check) {
        search_reference(&w, &g, expected);
        diff = workload_diff_i32(level, expected, (size_t)n);
    }
    graph_free(&g);
    free(level);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d nodes, %d edges, %d launches of %u blocks of %u threads", n,
                           n_edges, n_launches, shape.blocks, shape.threads);
}
