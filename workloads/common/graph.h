// Random graphs in compressed rows, for bfs, sssp, bc and pagerank.
#pragma once

#include "workload.h"

// The edges of node i are col[row[i]] to col[row[i + 1] - 1].
struct graph {
    int n_nodes;
    int *row, *col;
};

// Every node has 4 to 12 edges to random nodes. n_nodes is a power of two, as in the next function.
struct graph graph_make_even(struct workload *w, int n_nodes);
// Pairs of random nodes, each joined in both directions: a random graph, whose nodes have `average` edges on average,
// some none and some three times as many.
struct graph graph_make_random(struct workload *w, int n_nodes, int average);
// Nodes of 2 to 127 edges, each octave half as likely as the one below it. A node is the more often at the other end,
// the lower its number: the first 1 % of the nodes are at the end of 10 % of the edges.
struct graph graph_make_skewed(struct workload *w, int n_nodes);
void graph_free(struct graph *g);

// The graph on the device.
struct graph_arrays {
    CUdeviceptr row, col;
};
struct graph_arrays graph_upload(const struct workload *w, const struct graph *g);
void graph_device_free(const struct workload *w, struct graph_arrays arrays);
