/* Flow graphs for Graphviz: a cluster for each function, a box for each block. Divergent branches are filled, and a
 * dashed line leads from each of these branches to its reconvergence point. */
#include "cli/ptx/view.h"

static bool ends_in_divergence(const struct ptx_analysis *analysis, const struct ptx_block *block) {
    uint32_t last = block->first + block->count - 1;
    return analysis->reconvergence[last] != PTX_NO_INDEX && !analysis->is_uniform_branch[last];
}

/* PTX names contain only letters, digits, _, $ and %. A quoted Graphviz string escapes none of these. */
static void write_function(FILE *file, const struct cli_ptx_function *shown, unsigned number) {
    const struct ptx_analysis *analysis = shown->analysis;
    fprintf(file, "  subgraph cluster_%u {\n    label=\"%s\";\n", number, shown->function->name);
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        const char *style = ends_in_divergence(analysis, block) ? ", style=filled, fillcolor=\"#ffe0b0\""
                            : block->is_reachable               ? ""
                                                                : ", style=dotted";
        fprintf(file, "    f%u_%u [label=\"%u\\nlines %u-%u\"%s];\n", number, b, b,
                cli_ptx_line(shown->function, block->first),
                cli_ptx_line(shown->function, block->first + block->count - 1), style);
    }
    fprintf(file, "    f%u_%u [label=\"exit\", shape=oval];\n  }\n", number, analysis->n_blocks - 1);
    for (uint32_t b = 0; b + 1 < analysis->n_blocks; b++) {
        const struct ptx_block *block = &analysis->block[b];
        for (uint32_t s = 0; s < block->n_successors; s++)
            fprintf(file, "  f%u_%u -> f%u_%u;\n", number, b, number, block->successor[s]);
        if (ends_in_divergence(analysis, block))
            fprintf(file, "  f%u_%u -> f%u_%u [style=dashed, constraint=false, color=\"#c06000\"];\n", number, b,
                    number, block->post_dominator);
    }
}

void cli_ptx_write_dot(FILE *file, const struct cli_ptx_view *view) {
    fputs("digraph ptx {\n  node [shape=box, fontname=\"monospace\"];\n", file);
    for (unsigned f = 0; f < view->n_functions; f++)
        write_function(file, &view->function[f], f);
    fputs("}\n", file);
}
