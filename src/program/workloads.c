/* The bundled workloads by name, from the list that builds them, and their aliases. */
#include <string.h>

#include "base/text.h"
#include "command/command.h"
#include "program/workloads.h"

const struct program_workload program_workloads[] = {
#define WORKLOAD(name, summary, papers, shape) {#name, summary, papers, shape},
#define WORKLOAD_ALIAS(name, workload, arguments, papers)
#define WORKLOAD_VARIANT(name, workload, small, medium, paper, papers)
#include "../../workloads/workloads.def"
#undef WORKLOAD
#undef WORKLOAD_ALIAS
#undef WORKLOAD_VARIANT
};
const unsigned program_n_workloads = sizeof program_workloads / sizeof program_workloads[0];

const struct program_alias program_aliases[] = {
#define WORKLOAD(name, summary, papers, shape)
#define WORKLOAD_ALIAS(name, workload, arguments, papers) {#name, #workload, {"", "", arguments}, papers},
#define WORKLOAD_VARIANT(name, workload, small, medium, paper, papers)                                                 \
    {#name, #workload, {small, medium, paper}, papers},
#include "../../workloads/workloads.def"
#undef WORKLOAD
#undef WORKLOAD_ALIAS
#undef WORKLOAD_VARIANT
};
const unsigned program_n_aliases = sizeof program_aliases / sizeof program_aliases[0];

const struct program_workload_facts *program_find_facts(const struct program_workload *workload) {
    static const struct program_workload_facts all[] = {
#define WORKLOAD_FACTS(name, branches, long_percent, divergence) {#name, branches, long_percent, divergence},
#include "program/workload_facts.def"
#undef WORKLOAD_FACTS
    };
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(all[i].workload, workload->name) == 0)
            return &all[i];
    return NULL;
}

const struct program_alias *program_find_alias(const char *name) {
    for (unsigned i = 0; i < program_n_aliases; i++)
        if (strcmp(program_aliases[i].name, name) == 0)
            return &program_aliases[i];
    return NULL;
}

const struct program_workload *program_find_workload(const char *name) {
    const struct program_alias *alias = program_find_alias(name);
    for (unsigned i = 0; i < program_n_workloads; i++)
        if (strcmp(program_workloads[i].name, alias ? alias->workload : name) == 0)
            return &program_workloads[i];
    return NULL;
}

const char *program_nearest_workload(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < program_n_workloads; i++)
        base_nearest_offer(&nearest, program_workloads[i].name);
    for (unsigned i = 0; i < program_n_aliases; i++)
        base_nearest_offer(&nearest, program_aliases[i].name);
    return nearest.best;
}
