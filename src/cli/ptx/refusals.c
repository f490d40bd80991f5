/* Reasons to refuse a kernel: its requirements on the machine, and the divergence models that cannot run it on any
 * machine. The messages are the same as when a launch fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ptx/view.h"
#include "config/config.h"
#include "divergence/divergence.h"

static void add(struct cli_ptx_refusals *refusals, const char *who, const char *why, struct base_arena *arena) {
    refusals->item[refusals->count++] = (struct cli_ptx_refusal){who, base_arena_copy(arena, why, strlen(why))};
}

static void add_machine(struct cli_ptx_refusals *refusals, const struct exec_program *program,
                        struct base_arena *arena) {
    char name[80];
    const struct ptx_instruction *multiplication = program->first_multiplication;
    if (multiplication)
        add(refusals, "machines",
            base_arena_printf(arena, "it multiplies matrices (line %u: %s), which needs matrix.rate",
                              multiplication->at.line, ptx_instruction_name(multiplication, name, sizeof name)),
            arena);
    if (program->uses_warps)
        add(refusals, "machines", "it uses warp-wide instructions, which need warps of 32", arena);
}

/* Uses the default machine, which breaks no rule that depends only on the machine: such rules are not about the
 * kernel. */
static void add_model(struct cli_ptx_refusals *refusals, const char *model, const struct exec_program *program,
                      struct base_arena *arena) {
    const struct divergence_ops *ops;
    void *options;
    char error[512], rule[400];
    struct config_machine machine;
    config_defaults(&machine);
    if (!divergence_parse(model, &ops, &options, error, sizeof error))
        return;
    bool is_about_kernel = ops->refuses && !ops->refuses(options, &machine, NULL, rule, sizeof rule);
    const char *why = is_about_kernel ? ops->refuses(options, &machine, program, rule, sizeof rule) : NULL;
    if (why)
        add(refusals, ops->name, why, arena);
    free(options);
}

struct cli_ptx_refusals cli_ptx_find_refusals(const struct exec_program *program, struct base_arena *arena) {
    enum { OF_MACHINES = 2 };
    size_t n_models;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    struct cli_ptx_refusals refusals = {.item =
                                            BASE_ARENA_ARRAY(arena, struct cli_ptx_refusal, n_models + OF_MACHINES)};
    add_machine(&refusals, program, arena);
    for (size_t i = 0; i < n_models; i++)
        add_model(&refusals, models[i]->name, program, arena);
    return refusals;
}
