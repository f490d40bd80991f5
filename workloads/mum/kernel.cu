// Matches of short queries in a genome's suffix tree, one query per thread: for each place in the query where a match
// of the least length could begin, it finds the longest match from there on and its place in the genome. From one place
// to the next the thread follows the tree's suffix link and descends again along letters that are known to match,
// reading one letter per edge. The edges and their lengths depend on the data.
//
// As in the program of the papers, tree and genome are textures, a query's letters lie one after the other in global
// memory, and every decision is a branch: Malits 2012 counts 15 in the kernel, one for each condition of its source.
// Compilers of today would make selects of most; KEEP leaves something in an arm that they cannot move.
#include <heddle/device.h>

#define KEEP(arm) asm volatile("// " arm)

typedef unsigned long long texture;

// Texel `at` of a texture of four ints, and the first channel of one of bytes.
static __device__ __forceinline__ int4 texel(texture t, int at) {
    int4 v;
    asm volatile("tex.1d.v4.s32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(t), "r"(at));
    return v;
}
static __device__ __forceinline__ int letter_at(texture t, int at) {
    int x, y, z, w;
    asm volatile("tex.1d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "l"(t), "r"(at));
    return x;
}

// The child of a node by its edge's first letter; 0: none, since the root is no child.
static __device__ __forceinline__ int child_of(texture children, int node, int letter) {
    int4 child = texel(children, node);
    if (letter == 0) {
        KEEP("first letter");
        return child.x;
    }
    if (letter == 1) {
        KEEP("second letter");
        return child.y;
    }
    if (letter == 2) {
        KEEP("third letter");
        return child.z;
    }
    KEEP("fourth letter");
    return child.w;
}

struct match {
    int length, place;
};

enum { END = 5 }; // after a query's letters, 0 to 3; the genome ends with 4

// `nodes` has for each node: the place after its edge in the genome, the letters from the root, the node without the
// first letter. Query i begins at queries[i * (query_length + 1)]; its match from letter k on goes to
// matches[k * n_queries + i].
static __device__ __forceinline__ void match_query(texture children, texture nodes, texture genome,
                                                   const unsigned char *query, match *matches, int n_queries,
                                                   int query_length, int least) {
    int at = 0, depth = 0, known = 0; // a node, its depth, and how many letters from `begin` on are known to match
#pragma unroll 1
    for (int begin = 0; begin + least <= query_length; begin++) {
        if (known == 0) { // nothing matched: from the root on
            KEEP("root");
            at = depth = 0;
        }
        int length = depth, place = texel(nodes, at).x; // the place after the match
        int letter = query[begin + length];
#pragma unroll 1
        while (letter != END) {
            int child = child_of(children, at, letter);
            if (child == 0)
                break;
            int4 node = texel(nodes, child);
            int end = node.x, child_depth = node.y;
            if (known > depth) { // skips letters that are known to match
                KEEP("known");
                if (known >= child_depth) {
                    KEEP("whole edge");
                    length = child_depth;
                } else {
                    KEEP("part of the edge");
                    length = known;
                }
            } else { // the child was found by the edge's first letter
                KEEP("unknown");
                length = depth + 1;
            }
            place = end - (child_depth - length);
            letter = query[begin + length];
#pragma unroll 1
            while (place < end) {
                KEEP("edge");
                if (letter == END)
                    break;
                KEEP("letter");
                if (letter_at(genome, place) != letter)
                    break;
                place++;
                length++;
                letter = query[begin + length];
            }
            if (place < end)
                break;
            at = child;
            depth = child_depth;
        }
        *matches = match{length, place - length};
        matches += n_queries;
        known = max(length - 1, 0);
        at = texel(nodes, at).z;
        depth = texel(nodes, at).y;
    }
}

extern "C" __global__ void mum(texture children, texture nodes, texture genome, const unsigned char *queries,
                               match *matches, int n_queries, int query_length, int least) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_queries; i += gridDim.x * blockDim.x)
        match_query(children, nodes, genome, queries + i * (query_length + 1), matches + i, n_queries, query_length,
                    least);
}
