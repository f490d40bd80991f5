/* The bundled workloads by name, from the list that builds them, and their aliases. */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

const struct cli_workload cli_workloads[] = {
#define WORKLOAD(name, summary, papers, shape) {#name, summary, papers, shape},
#define WORKLOAD_ALIAS(name, workload, arguments, papers)
#define WORKLOAD_VARIANT(name, workload, small, medium, paper, papers)
#include "../../workloads/workloads.def"
#undef WORKLOAD
#undef WORKLOAD_ALIAS
#undef WORKLOAD_VARIANT
};
const unsigned cli_n_workloads = sizeof cli_workloads / sizeof cli_workloads[0];

const struct cli_alias cli_aliases[] = {
#define WORKLOAD(name, summary, papers, shape)
#define WORKLOAD_ALIAS(name, workload, arguments, papers) {#name, #workload, {"", "", arguments}, papers},
#define WORKLOAD_VARIANT(name, workload, small, medium, paper, papers)                                                 \
    {#name, #workload, {small, medium, paper}, papers},
#include "../../workloads/workloads.def"
#undef WORKLOAD
#undef WORKLOAD_ALIAS
#undef WORKLOAD_VARIANT
};
const unsigned cli_n_aliases = sizeof cli_aliases / sizeof cli_aliases[0];

const struct cli_workload_facts *cli_find_facts(const struct cli_workload *workload) {
    static const struct cli_workload_facts all[] = {
#define WORKLOAD_FACTS(name, branches, long_percent, divergence) {#name, branches, long_percent, divergence},
#include "cli/experiments/workload_facts.def"
#undef WORKLOAD_FACTS
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].workload, workload->name) == 0)
            return &all[i];
    return NULL;
}

const struct cli_alias *cli_find_alias(const char *name) {
    for (unsigned i = 0; i < cli_n_aliases; i++)
        if (strcmp(cli_aliases[i].name, name) == 0)
            return &cli_aliases[i];
    return NULL;
}

const struct cli_workload *cli_find_workload(const char *name) {
    const struct cli_alias *alias = cli_find_alias(name);
    for (unsigned i = 0; i < cli_n_workloads; i++)
        if (strcmp(cli_workloads[i].name, alias ? alias->workload : name) == 0)
            return &cli_workloads[i];
    return NULL;
}

const char *cli_nearest_workload(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < cli_n_workloads; i++)
        base_nearest_offer(&nearest, cli_workloads[i].name);
    for (unsigned i = 0; i < cli_n_aliases; i++)
        base_nearest_offer(&nearest, cli_aliases[i].name);
    return nearest.best;
}
