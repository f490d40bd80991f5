/* All kernels take three arrays of 2^22 words and a number: random floats in [0, 1), floats that are 0, random
 * integers. Some take more: what inputs.c prepares, and how many launches came before. */
#pragma once
#define KERNEL extern "C" __global__ void

/* Places in the prepared array, in words. */
enum {
    NODES = 16384,        /* of a graph in rows: NODES + 1 places of their first edges at 0, then the edges */
    GRAPH_EDGES = 16400,  /* the edges' targets, sorted within a row */
    SORTED = 1 << 19,     /* 2^19 even numbers in order */
    TREE = 1 << 20,       /* a search tree: nodes of a key, the left and the right child */
    TREE_NODES = 1 << 16, /* the root is the first; 0 is no child */
    TEXT = 2 << 20,       /* 2^20 words of text: letters a to d, one a byte */
};
