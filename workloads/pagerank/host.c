// pagerank: the ranks of the pages of a skewed random graph after some iterations. Ranks are 1 on average at the start;
// pages without links give nothing away.
//
// The reference divides at every link, in double precision. Floats add up to 127
// positive shares in each of up to 10 iterations: a relative error far below 1e-4.
#include "../common/graph.h"

#include <stdlib.h>

static const struct workload_info info = {
    .name = "pagerank",
    .summary = "PageRank of a graph with popular pages, one page per thread, two launches per iteration",
    .sizes = {"2,048 pages, 3 iterations", "32,768 pages, 4 iterations", "262,144 pages, 10 iterations"},
};

static const float damping = 0.85f;

static void rank_pages(const struct workload *w, const struct graph *g, const int *n_links, unsigned n_iterations,
                       struct workload_shape shape, float *rank) {
    size_t n = (size_t)g->n_nodes;
    int n_nodes = g->n_nodes;
    float factor = damping;
    struct workload_grid grid = {shape.blocks, 1, shape.threads, 1, 0};
    struct graph_arrays arrays = graph_upload(w, g);
    CUdeviceptr links = workload_upload(w, n_links, n * sizeof *n_links);
    CUdeviceptr device_rank = workload_upload(w, rank, n * sizeof *rank);
    CUdeviceptr shares = workload_device_alloc(w, n * sizeof(float));
    for (unsigned i = 0; i < n_iterations; i++) {
        workload_launch(w, "share", grid, (void *[]){&device_rank, &links, &shares, &n_nodes});
        workload_launch(w, "gather", grid,
                        (void *[]){&arrays.row, &arrays.col, &shares, &device_rank, &factor, &n_nodes});
    }
    workload_download(w, rank, device_rank, n * sizeof *rank);
    graph_device_free(w, arrays);
    workload_device_free(w, links);
    workload_device_free(w, device_rank);
    workload_device_free(w, shares);
}

static void rank_reference(const struct workload *w, const struct graph *g, const int *n_links, unsigned n_iterations,
                           float *rank) {
    size_t n = (size_t)g->n_nodes;
    double *old = workload_array(w, n, sizeof *old), *sum = workload_array(w, n, sizeof *sum);
    for (size_t i = 0; i < n; i++)
        old[i] = 1;
    for (unsigned iteration = 0; iteration < n_iterations; iteration++) {
        for (size_t i = 0; i < n; i++)
            sum[i] = 0;
        for (size_t i = 0; i < n; i++)
            for (int e = g->row[i]; e < g->row[i + 1]; e++)
                sum[i] += old[g->col[e]] / n_links[g->col[e]];
        for (size_t i = 0; i < n; i++)
            old[i] = 1 - (double)damping + (double)damping * sum[i];
    }
    for (size_t i = 0; i < n; i++)
        rank[i] = (float)old[i];
    free(old);
    free(sum);
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    int n = (int)workload_pick(&w, 2048, 1 << 15, 1 << 18);
    unsigned n_iterations = workload_pick(&w, 3, 4, 10);
    struct graph g = graph_make_skewed(&w, n); // col: the pages that link to page i
    int n_edges = g.row[n], *n_links = workload_array(&w, (size_t)n, sizeof *n_links);
    for (int e = 0; e < n_edges; e++)
        n_links[g.col[e]]++;
    float *rank = workload_array(&w, (size_t)n, sizeof *rank), *expected = workload_array(&w, (size_t)n, sizeof *rank);
    for (int i = 0; i < n; i++)
        rank[i] = 1;
    struct workload_shape shape = workload_shape(&w, (size_t)n, 256);
    rank_pages(&w, &g, n_links, n_iterations, shape, rank);

    struct workload_diff diff = {0};
    if (w.check) {
        rank_reference(&w, &g, n_links, n_iterations, expected);
        diff = workload_diff_f32(rank, expected, (size_t)n, 0, 1e-4);
    }
    graph_free(&g);
    free(n_links);
    free(rank);
    free(expected);
    return workload_finish(&w, w.check ? &diff : NULL, "%d pages, %d links, %u iterations, %u blocks of %u threads", n,
                           n_edges, n_iterations, shape.blocks, shape.threads);
}
