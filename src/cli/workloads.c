/* The bundled workloads by name, from the list that builds them. */
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

const struct cli_workload cli_workloads[] = {
#define WORKLOAD(name, summary, papers, shape) {#name, summary, papers, shape},
#include "../../workloads/workloads.def"
#undef WORKLOAD
};
const unsigned cli_n_workloads = sizeof cli_workloads / sizeof cli_workloads[0];

const struct cli_workload *cli_find_workload(const char *name) {
    for (unsigned i = 0; i < cli_n_workloads; i++)
        if (strcmp(cli_workloads[i].name, name) == 0)
            return &cli_workloads[i];
    return NULL;
}

const char *cli_nearest_workload(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < cli_n_workloads; i++)
        base_nearest_offer(&nearest, cli_workloads[i].name);
    return nearest.best;
}
