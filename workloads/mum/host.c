// mum: longest matches of short queries in a genome, over a suffix tree that the host builds (E. Ukkonen, On-line
// Construction of Suffix Trees, 1995).
//
// The reference uses no tree: it sorts the genome's suffixes and finds each match by binary search. The check requires
// the same lengths, and that the genome matches the query at the position that the kernel reports.
#include "../common/workload.h"

#include <stdlib.h>
#include <string.h>

enum { LETTERS = 4, END_LETTER = 4, QUERY_END = 5 }; // of genome and queries: no match goes past an end
enum {
    QUERY_LENGTH = 25,
    QUERY_STRIDE = QUERY_LENGTH + 1,
    LEAST_MATCH = 20,
    N_BEGINS = QUERY_LENGTH - LEAST_MATCH + 1
};

static const struct workload_info info = {
    .name = "mum",
    .summary = "longest matches of short queries in a genome's suffix tree, one query per thread",
    .sizes = {"1,152 queries, 4,000 letters", "12,800 queries, 20,000 letters", "50,000 queries, 20,000 letters"},
    .options = {{"--letters", "N", "letters of the genome", 1000, 10000000},
                {"--exact", "PERCENT", "queries that are pieces of the genome as it is; the others are foreign", 0,
                 100}},
};

enum { OPTION_LETTERS, OPTION_EXACT };

// ---- Input --------------------------------------------------------------------------------------------------------

static unsigned below(struct workload *w, unsigned n) { return (unsigned)((uint64_t)workload_random(w) * n >> 24); }

// Letters 0 to 3 with repeats of earlier pieces, as genomes have them, and END_LETTER after them.
static uint8_t *make_genome(struct workload *w, unsigned n) {
    uint8_t *genome = workload_array(w, n + 1, 1);
    for (unsigned i = 0; i < n;) {
        unsigned length = below(w, 800) + 1, from = i > 1000 ? below(w, i - 1000) : 0;
        bool repeats = i > 1000 && below(w, 4) == 0;
        for (unsigned end = i + length < n ? i + length : n; i < end; i++)
            genome[i] = repeats ? genome[from++] : (uint8_t)below(w, LETTERS);
    }
    genome[n] = END_LETTER;
    return genome;
}

// Three of four queries are pieces of the genome with one letter in 32 misread, the others are foreign; with --exact
// the given share, without a misread letter. Each ends with QUERY_END.
static uint8_t *make_queries(struct workload *w, const uint8_t *genome, unsigned n, unsigned n_queries) {
    uint8_t *queries = workload_array(w, (size_t)n_queries * QUERY_STRIDE, 1), *query = queries;
    const struct workload_value *exact = &w->option[OPTION_EXACT];
    for (unsigned i = 0; i < n_queries; i++) {
        bool is_foreign = exact->text ? below(w, 100) >= exact->number : below(w, 4) == 0;
        unsigned from = below(w, n - QUERY_LENGTH);
        for (unsigned k = 0; k < QUERY_LENGTH; k++)
            *query++ =
                is_foreign || (!exact->text && below(w, 32) == 0) ? (uint8_t)below(w, LETTERS) : genome[from + k];
        *query++ = QUERY_END;
    }
    return queries;
}

// ---- Suffix tree --------------------------------------------------------------------------------------------------

// What the kernel reads of each node, a texel each.
struct children {
    int by_letter[LETTERS];
};
struct node {
    int end, depth, link, unused;
};

// While it is built, a node's edge is the genome's letters from start to end; node 0 is the root. The genome's end has
// the last child.
struct tree {
    int n_nodes;
    struct building_node {
        int child[LETTERS + 1];
        int start, end, link;
    } * nodes;
};

static int new_node(struct tree *tree, int start, int end) {
    tree->nodes[tree->n_nodes] = (struct building_node){.start = start, .end = end};
    return tree->n_nodes++;
}

// Where the next suffix is added: `length` letters from `edge` on below `node`; n_missing suffixes are still to be
// added.
struct place {
    int node, edge, length, n_missing;
};

// An inner node created in this round waits for its link: the next place where a suffix is added.
static void link_to(struct tree *tree, int *waiting, int node) {
    if (*waiting)
        tree->nodes[*waiting].link = node;
    *waiting = node;
}

// Splits the edge to *slot after `length` letters and returns the new node in between.
static int split_edge(struct tree *tree, const uint8_t *genome, int *slot, int length) {
    int lower = *slot, upper = new_node(tree, tree->nodes[lower].start, tree->nodes[lower].start + length);
    tree->nodes[lower].start += length;
    tree->nodes[upper].child[genome[tree->nodes[lower].start]] = lower;
    *slot = upper;
    return upper;
}

// Adds letter i to all suffixes so far. Leaves end at the genome's end from the start.
static void add_letter(struct tree *tree, const uint8_t *genome, int i, int genome_end, struct place *at) {
    int waiting = 0;
    at->n_missing++;
    while (at->n_missing) {
        if (!at->length)
            at->edge = i;
        int *slot = &tree->nodes[at->node].child[genome[at->edge]];
        if (*slot) {
            const struct building_node *next = &tree->nodes[*slot];
            int edge_length = (next->end < i + 1 ? next->end : i + 1) - next->start;
            if (at->length >= edge_length) { // walk down first
                at->edge += edge_length;
                at->length -= edge_length;
                at->node = *slot;
                continue;
            }
            if (genome[next->start + at->length] ==
                genome[i]) { // this suffix and the shorter ones are already in the tree
                at->length++;
                link_to(tree, &waiting, at->node);
                return;
            }
            int upper = split_edge(tree, genome, slot, at->length);
            tree->nodes[upper].child[genome[i]] = new_node(tree, i, genome_end);
            link_to(tree, &waiting, upper);
        } else {
            *slot = new_node(tree, i, genome_end);
            link_to(tree, &waiting, at->node);
        }
        at->n_missing--;
        if (at->node == 0 && at->length) {
            at->length--;
            at->edge = i - at->n_missing + 1;
        } else {
            at->node = tree->nodes[at->node].link;
        }
    }
}

// Depths need the parents first: a stack of nodes.
static struct node *finish_tree(const struct workload *w, const struct tree *tree, struct children **children) {
    struct node *nodes = workload_array(w, (size_t)tree->n_nodes, sizeof *nodes);
    *children = workload_array(w, (size_t)tree->n_nodes, sizeof **children);
    int *stack = workload_array(w, (size_t)tree->n_nodes, sizeof *stack), top = 1;
    while (top) {
        int at = stack[--top];
        const struct building_node *from = &tree->nodes[at];
        memcpy((*children)[at].by_letter, from->child, sizeof(*children)[at].by_letter);
        nodes[at].end = from->end;
        nodes[at].link = from->link;
        for (int letter = 0; letter <= LETTERS; letter++) {
            int child = from->child[letter];
            if (!child)
                continue;
            nodes[child].depth = nodes[at].depth + tree->nodes[child].end - tree->nodes[child].start;
            stack[top++] = child;
        }
    }
    free(stack);
    return nodes;
}

static struct node *build_tree(const struct workload *w, const uint8_t *genome, unsigned n, int *n_nodes,
                               struct children **children) {
    struct tree tree = {0, workload_array(w, 2 * (size_t)n + 4, sizeof *tree.nodes)};
    struct place at = {0};
    new_node(&tree, 0, 0);
    for (int i = 0; i <= (int)n; i++)
        add_letter(&tree, genome, i, (int)n + 1, &at);
    struct node *nodes = finish_tree(w, &tree, children);
    *n_nodes = tree.n_nodes;
    free(tree.nodes);
    return nodes;
}

// ---- Device and reference -----------------------------------------------------------------------------------------

struct match {
    int length, place;
};

// A texture over device memory: letters, or texels of four ints.
static CUtexObject make_texture(const struct workload *w, CUdeviceptr memory, size_t bytes, bool is_letters) {
    CUtexObject texture;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC reading = {.flags = CU_TRSF_READ_AS_INTEGER};
    resource.res.linear.devPtr = memory;
    resource.res.linear.format = is_letters ? CU_AD_FORMAT_UNSIGNED_INT8 : CU_AD_FORMAT_SIGNED_INT32;
    resource.res.linear.numChannels = is_letters ? 1 : 4;
    resource.res.linear.sizeInBytes = bytes;
    WORKLOAD_CUDA(w, cuTexObjectCreate(&texture, &resource, &reading, NULL));
    return texture;
}

static struct workload_shape find_matches(const struct workload *w, const uint8_t *genome, unsigned n,
                                          const uint8_t *queries, int n_queries, struct match *matches, int *n_nodes) {
    int query_length = QUERY_LENGTH, least = LEAST_MATCH;
    size_t match_bytes = (size_t)n_queries * N_BEGINS * sizeof *matches;
    struct workload_shape shape = workload_shape(w, (size_t)n_queries, 64);
    struct children *children;
    struct node *nodes = build_tree(w, genome, n, n_nodes, &children);
    size_t tree_bytes = (size_t)*n_nodes * sizeof *nodes;
    CUdeviceptr device_children = workload_upload(w, children, tree_bytes);
    CUdeviceptr device_nodes = workload_upload(w, nodes, tree_bytes);
    CUdeviceptr device_genome = workload_upload(w, genome, n + 1);
    CUdeviceptr device_queries = workload_upload(w, queries, (size_t)n_queries * QUERY_STRIDE);
    CUdeviceptr device_matches = workload_device_alloc(w, match_bytes);
    CUtexObject texture[] = {make_texture(w, device_children, tree_bytes, false),
                             make_texture(w, device_nodes, tree_bytes, false),
                             make_texture(w, device_genome, n + 1, true)};
    workload_launch(w, "mum", (struct workload_grid){shape.blocks, 1, shape.threads, 1, 0},
                    (void *[]){&texture[0], &texture[1], &texture[2], &device_queries, &device_matches, &n_queries,
                               &query_length, &least});
    workload_download(w, matches, device_matches, match_bytes);
    for (int i = 0; i < 3; i++)
        WORKLOAD_CUDA(w, cuTexObjectDestroy(texture[i]));
    workload_device_free(w, device_children);
    workload_device_free(w, device_nodes);
    workload_device_free(w, device_genome);
    workload_device_free(w, device_queries);
    workload_device_free(w, device_matches);
    free(children);
    free(nodes);
    return shape;
}

// Compares two suffixes; they differ at the latest at the END_LETTER of the shorter one.
static int compare_suffixes(const void *left, const void *right) {
    const uint8_t *a = *(const uint8_t *const *)left, *b = *(const uint8_t *const *)right;
    if (a == b)
        return 0;
    for (; *a == *b; a++, b++)
        ;
    return *a < *b ? -1 : 1;
}

static int n_equal(const uint8_t *suffix, const uint8_t *query, int length) {
    int n = 0;
    while (n < length && suffix[n] == query[n])
        n++;
    return n;
}

// The longest match is with a neighbour of the query's place among the sorted suffixes.
static int longest_match(const uint8_t *const *suffixes, size_t n, const uint8_t *query, int length) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int equal = n_equal(suffixes[middle], query, length);
        if (equal < length && suffixes[middle][equal] < query[equal])
            low = middle + 1;
        else
            high = middle;
    }
    int before = low > 0 ? n_equal(suffixes[low - 1], query, length) : 0;
    int after = low < n ? n_equal(suffixes[low], query, length) : 0;
    return before > after ? before : after;
}

static struct workload_diff compare(const struct workload *w, const uint8_t *genome, unsigned n, const uint8_t *queries,
                                    size_t n_queries, const struct match *matches) {
    size_t n_matches = n_queries * N_BEGINS;
    int *got = workload_array(w, n_matches, sizeof *got), *expected = workload_array(w, n_matches, sizeof *expected);
    const uint8_t **suffixes = workload_array(w, n, sizeof *suffixes);
    for (unsigned i = 0; i < n; i++)
        suffixes[i] = genome + i;
    qsort(suffixes, n, sizeof *suffixes, compare_suffixes);
    for (size_t i = 0; i < n_queries; i++) {
        const uint8_t *query = queries + i * QUERY_STRIDE;
        for (size_t begin = 0; begin < N_BEGINS; begin++) {
            struct match m = matches[begin * n_queries + i];
            int left = QUERY_LENGTH - (int)begin;
            bool is_match = m.length >= 0 && m.length <= left && m.place >= 0 && m.place <= (int)n - m.length &&
                            n_equal(genome + m.place, query + begin, m.length) == m.length;
            got[begin * n_queries + i] = is_match ? m.length : -1;
            expected[begin * n_queries + i] = longest_match(suffixes, n, query + begin, left);
        }
    }
    struct workload_diff diff = workload_diff_i32(got, expected, n_matches);
    free(got);
    free(expected);
    free(suffixes);
    return diff;
}

int main(int argc, char **argv) {
    struct workload w;
    workload_start(&w, &info, argc, argv);
    unsigned letters = w.option[OPTION_LETTERS].number, n = letters ? letters : workload_pick(&w, 4000, 20000, 20000);
    unsigned n_queries = workload_pick(&w, 1152, 12800, 50000);
    uint8_t *genome = make_genome(&w, n), *queries = make_queries(&w, genome, n, n_queries);
    struct match *matches = workload_array(&w, (size_t)n_queries * N_BEGINS, sizeof *matches);
    int n_nodes, n_found = 0;
    struct workload_shape shape = find_matches(&w, genome, n, queries, (int)n_queries, matches, &n_nodes);

    struct workload_diff diff = {0};
    if (w.check)
        diff = compare(&w, genome, n, queries, n_queries, matches);
    for (size_t i = 0; i < (size_t)n_queries * N_BEGINS; i++)
        n_found += matches[i].length >= LEAST_MATCH;
    free(genome);
    free(queries);
    free(matches);
    return workload_finish(&w, w.check ? &diff : NULL,
                           "%u queries, %d matches of at least %d letters, tree of %d nodes, %u blocks of %u threads",
                           n_queries, n_found, LEAST_MATCH, n_nodes, shape.blocks, shape.threads);
}
