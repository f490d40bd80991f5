/* The analysis of one function: the order of its passes, and its memory. */
#include "ptx/analysis/passes.h"

static struct ptx_analysis *new_analysis(const struct ptx_function *function) {
    struct base_arena empty = {0};
    struct ptx_analysis *analysis = BASE_ARENA_NEW(&empty, struct ptx_analysis);
    analysis->function = function;
    analysis->arena = BASE_ARENA_NEW(&empty, struct base_arena);
    *analysis->arena = empty; /* from here on the arena holds itself */
    return analysis;
}

static struct ptx_analysis *analyze(const struct ptx_function *function, bool has_slots) {
    struct base_arena scratch = {0};
    struct ptx_passes passes = {.function = function, .analysis = new_analysis(function), .scratch = &scratch};
    ptx_collect_accesses(&passes);
    ptx_build_blocks(&passes);
    ptx_set_dominators(&passes);
    ptx_set_reconvergence(&passes);
    ptx_find_loops(&passes);
    ptx_compute_liveness(&passes);
    if (has_slots)
        ptx_assign_slots(&passes);
    ptx_find_uniform(&passes);
    if (passes.needs_uniformity) {
        ptx_set_reconvergence(&passes);
        ptx_find_uniform(&passes);
    }
    ptx_set_meetings(&passes);
    base_arena_free(&scratch);
    return passes.analysis;
}

struct ptx_analysis *ptx_analyze(const struct ptx_function *function) {
    return analyze(function, true);
}

struct ptx_analysis *ptx_analyze_flow(const struct ptx_function *function) {
    return analyze(function, false);
}

void ptx_analysis_free(struct ptx_analysis *analysis) {
    if (!analysis)
        return;
    struct base_arena arena = *analysis->arena;
    base_arena_free(&arena);
}
