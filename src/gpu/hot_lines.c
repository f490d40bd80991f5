/* The source lines that cost a launch most: the line whose loads were in flight longest, the one with the most bank
 * conflicts, and the one whose branches diverged most. Every timed run counts these by instruction (struct sm_hot), so
 * that its advice can name a line. The full listing needs an observer (lines.c). */
#include <stdlib.h>

#include "base/memory.h"
#include "gpu/engine.h"

static uint64_t cost_of(const struct sm_hot *hot, enum gpu_hot kind) {
    return kind == GPU_HOT_LOADS ? hot->in_flight : kind == GPU_HOT_CONFLICTS ? hot->conflicts : hot->diverged;
}

/* A source line with the sum of its instructions. */
struct sum {
    struct gpu_place place;
    struct gpu_hot_line line;
};

static struct sum *sum_at(struct sum *sum, uint32_t *n, struct gpu_place place) {
    for (uint32_t i = *n; i-- > 0;)
        if (gpu_is_same_place(sum[i].place, place))
            return &sum[i];
    sum[*n] = (struct sum){.place = place};
    return &sum[(*n)++];
}

/* Adds the line of the same file with most conflicts after this one, if it has nine tenths of them or more: both are
 * worth a repair. */
static void add_second(const struct sum *sum, uint32_t n, uint32_t most, struct gpu_hot_line *line) {
    uint32_t second = n;
    for (uint32_t i = 0; i < n; i++)
        if (i != most && sum[i].place.file == sum[most].place.file && sum[i].place.line &&
            10 * sum[i].line.part >= 9 * sum[most].line.part &&
            (second == n || sum[i].line.part > sum[second].line.part))
            second = i;
    if (second == n)
        return;
    line->second = sum[second].place.line;
    line->part += sum[second].line.part;
}

static struct gpu_hot_line find(struct gpu *gpu, const struct exec_program *program, const struct sm_hot *hot,
                                enum gpu_hot kind, struct sum *sum) {
    uint32_t n = 0, most = 0;
    uint64_t whole = 0;
    for (uint32_t pc = 0; pc < program->n_insns; pc++) {
        uint64_t cost = cost_of(&hot[pc], kind);
        if (!cost)
            continue;
        struct gpu_hot_line *line = &sum_at(sum, &n, gpu_place_at(program, pc))->line;
        line->part += cost;
        line->accesses += kind == GPU_HOT_LOADS ? hot[pc].accesses : 0;
        line->lines += kind == GPU_HOT_LOADS ? hot[pc].lines : 0;
        whole += cost;
    }
    for (uint32_t i = 1; i < n; i++)
        if (sum[i].line.part > sum[most].line.part)
            most = i;
    if (!n)
        return (struct gpu_hot_line){0};
    struct gpu_hot_line line = sum[most].line;
    line.file = sum[most].place.file ? gpu_keep_name(gpu, sum[most].place.file) : NULL;
    line.line = sum[most].place.line;
    line.whole = whole;
    if (kind == GPU_HOT_CONFLICTS)
        add_second(sum, n, most, &line);
    return line;
}

void gpu_find_hot_lines(const struct gpu_run *run, struct gpu_launch_record *record) {
    const struct exec_program *program = run->grid->program;
    struct sm_hot *hot = base_allocate(program->n_insns, sizeof *hot);
    struct sum *sum = base_allocate(program->n_insns, sizeof *sum);
    for (uint32_t i = 0; i < run->timed->machine.sm.count; i++)
        sm_add_hot(run->timed->sm[i], hot);
    for (int kind = 0; kind < GPU_N_HOT; kind++)
        record->hot[kind] = find(run->gpu, program, hot, (enum gpu_hot)kind, sum);
    free(hot);
    free(sum);
}
