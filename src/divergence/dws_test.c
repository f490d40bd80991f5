/* Dynamic warp subdivision: the paper's figures step by step, and all control flow in every variant. */
#include "divergence/programs.h"
#include "divergence/splits.h"

extern const struct divergence_ops divergence_dws;

static const char *const variants[] = {
    "dws:branch-only", "dws:branch-only-stack", "dws:mem-only",     "dws:aggress",          "dws:lazy",
    "dws:revive",      "dws:aggress,wst=3",     "dws:revive,wst=2", "dws:aggress,slots=1",  "dws:mem=aggress,branches=limited",
    "dws:size=64",     "dws:aggress,size=128",  "dws:mem-only,size=64", "dws:aggress,reconv=stack",
};

static void every_program_computes_the_same_in_every_variant(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        programs_check_all(&divergence_dws, variants[i], false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_computes_the_same_in_every_variant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
