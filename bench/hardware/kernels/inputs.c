/* The prepared array: a graph in rows, numbers in order, a search tree, a text. */
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

#include "kernels.cuh"

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Few nodes have many edges: one in 64 up to 127 of them, the others up to 12. */
static void fill_graph(uint32_t *words) {
    uint32_t state = 7, n_edges = 0;
    for (uint32_t node = 0; node < NODES; node++) {
        uint32_t *row = words + GRAPH_EDGES + n_edges;
        uint32_t degree = next_random(&state) % 64 ? 1 + next_random(&state) % 12 : 1 + next_random(&state) % 127;
        words[node] = n_edges;
        for (uint32_t e = 0; e < degree; e++)
            row[e] = next_random(&state) % NODES;
        qsort(row, degree, sizeof *row, by_number);
        n_edges += degree;
    }
    words[NODES] = n_edges;
}

/* A tree of random keys, in the order in which they came. */
static void fill_tree(uint32_t *tree) {
    uint32_t state = 11;
    for (uint32_t node = 0; node < TREE_NODES; node++) {
        uint32_t key = next_random(&state) << 7 | 1, at = 0;
        tree[3 * node] = key;
        tree[3 * node + 1] = tree[3 * node + 2] = 0;
        while (node) {
            uint32_t *child = &tree[3 * at + (key < tree[3 * at] ? 1 : 2)];
            if (!*child) {
                *child = node;
                break;
            }
            at = *child;
        }
    }
}

void inputs_fill(uint32_t *words) {
    uint32_t state = 13;
    fill_graph(words);
    for (uint32_t i = 0; i < 1 << 19; i++)
        words[SORTED + i] = 2 * i;
    fill_tree(words + TREE);
    for (uint32_t i = 0; i < 1 << 20; i++) {
        char letters[4];
        for (int k = 0; k < 4; k++)
            letters[k] = (char)('a' + next_random(&state) % 4);
        memcpy(&words[TEXT + i], letters, 4);
    }
}
