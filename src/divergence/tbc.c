/* tbc: thread block compaction (Fung and Aamodt 2011, as described in Narasiman 2014, 5.2.1). The warps of a block
 * share one post-dominator stack, meet where it may change, and are compacted when a branch diverges. compact/compact.c
 * contains the rules. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "divergence/compact/compact.h"

enum { MEET_MAY_DIVERGE, MEET_EVERY };

struct options {
    uint32_t meet;
};

static const struct config_plugin_option option_table[] = {
    {"meet", CONFIG_PLUGIN_CHOICE, offsetof(struct options, meet), MEET_MAY_DIVERGE, 0, 0, "may-diverge|every",
     "the conditional branches at which a block's warps wait for each other: those that may diverge, or every one"},
    {.name = NULL},
};

static void *new_model(const struct divergence_setup *setup) {
    struct divergence_compact *compact = base_allocate(1, sizeof *compact);
    divergence_compact_start(compact, setup);
    compact->meets_if_uniform = ((const struct options *)setup->options)->meet == MEET_EVERY;
    return compact;
}

static void *new_block(void *user, const struct exec_cta *cta) {
    (void)user;
    return divergence_compact_new_block(cta);
}

static void free_block(void *user, void *state) {
    (void)user;
    divergence_compact_free_block(state);
}

static void admit(void *user, struct divergence_block *place, uint64_t cycle) {
    uint32_t threads[EXEC_MAX_ROWS];
    for (uint32_t i = 0; i < place->cta->n_rows; i++)
        threads[i] = place->cta->row[i].threads;
    divergence_compact_admit(user, place->state, place, threads, cycle);
}

static void control(void *user, struct divergence_group *group, uint32_t pc, uint32_t mask, uint64_t cycle) {
    divergence_compact_control(user, group, pc, mask, cycle);
}

static void reached(void *user, struct divergence_group *group, uint64_t cycle) {
    divergence_compact_reached(user, group, cycle);
}

static void resume(void *user, struct divergence_group *group, uint64_t cycle) {
    divergence_compact_resume(user, group, cycle);
}

static const char *refuses(const void *options, const struct config_machine *machine,
                           const struct exec_program *program, char *text, size_t size) {
    (void)options;
    (void)machine;
    return divergence_compact_refuses(program, "tbc", text, size);
}

/* Nothing says how large a block must be; but the runs that the model is compared in have 256 threads, and smaller
 * blocks have fewer warps to compact. */
static const char *remarks(const void *options, const struct exec_program *program, uint32_t n_threads, char *text,
                           size_t size) {
    enum { PAPER_THREADS = 256 }; /* Narasiman 2014, 5.2.1 */
    (void)options, (void)program;
    if (n_threads >= PAPER_THREADS)
        return NULL;
    snprintf(text, size, "tbc: blocks of %d threads (Narasiman 2014) are not reached, its blocks have %u",
             PAPER_THREADS, n_threads);
    return text;
}

static void visit(const void *user, const struct divergence_block *place,
                  void (*thread)(void *user, const struct divergence_group *group, const struct exec_row *row,
                                 uint32_t lane),
                  void *visitor) {
    (void)user;
    divergence_compact_visit(place->state, thread, visitor);
}

const struct divergence_ops divergence_tbc = {
    .name = "tbc",
    .help = "one stack for a block, whose warps meet at branches and are compacted when they diverge",
    .option = option_table,
    .options_bytes = sizeof(struct options),
    .shares_sms = true,
    .splits_rows = true,
    .refuses = refuses,
    .remarks = remarks,
    .new_model = new_model,
    .free_model = free,
    .new_block = new_block,
    .free_block = free_block,
    .admit = admit,
    .control = control,
    .reached = reached,
    .resume = resume,
    .visit = visit,
};
