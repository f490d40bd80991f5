// Matches of short queries in a genome's suffix tree, one query per thread: for each place in the query where a match
// of the least length could begin, it finds the longest match from there on and its place in the genome. From one place
// to the next the thread follows the tree's suffix link and descends again along letters that are known to match,
// reading one letter per edge. The edges and their lengths depend on the data.
#include <heddle/device.h>

// 32 bytes. The letters of the edge that ends at a node are those before `end` in the genome, as many as the node's
// depth exceeds its parent's.
struct node {
    int child[4]; // by letter; 0: none, since the root is no child
    int end;
    int depth; // letters from the root
    int link;  // the node without the first letter
    int unused;
};

struct match {
    int length, place;
};

// Letter k of query i is at queries[k * n_queries + i]; the match from letter k on goes to matches[k * n_queries + i].
// The genome ends with a letter that no query has.
extern "C" __global__ void mum(const node *nodes, const unsigned char *genome, const unsigned char *queries,
                               match *matches, int n_queries, int query_length, int least) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n_queries; i += gridDim.x * blockDim.x) {
        const unsigned char *query = queries + i;
        int at = 0, depth = 0, known = 0; // a node, its depth, and how many letters from `begin` on are known to match
#pragma unroll 1
        for (int begin = 0; begin + least <= query_length; begin++) {
            int length = depth, place = nodes[at].end; // the place after the match
#pragma unroll 1
            while (begin + length < query_length) {
                int child = nodes[at].child[query[(begin + length) * n_queries]];
                if (child == 0)
                    break;
                int child_depth = nodes[child].depth, end = nodes[child].end;
                length = min(max(known, depth), child_depth); // skips the known letters
                place = end - (child_depth - length);
#pragma unroll 1
                while (place < end && begin + length < query_length &&
                       genome[place] == query[(begin + length) * n_queries]) {
                    place++;
                    length++;
                }
                if (place < end)
                    break;
                at = child;
                depth = child_depth;
            }
            matches[begin * n_queries + i] = match{length, place - length};
            known = max(length - 1, 0);
            at = nodes[at].link;
            depth = nodes[at].depth;
        }
    }
}
