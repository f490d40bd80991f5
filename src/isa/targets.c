/* The list of targets. */
#include "isa/internal.h"

static const struct isa_target *const targets[] = {
#define CONFIG_TARGET(name) &isa_##name,
#include "config/targets.def"
#undef CONFIG_TARGET
};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

const struct isa_target *isa_target_of(const struct config_machine *machine) {
    return targets[machine->lowering.target];
}

const struct isa_target *const *isa_targets(size_t *count) {
    *count = N_TARGETS;
    return targets;
}

const struct isa_target *isa_find_target(const char *name) {
    for (size_t i = 0; i < N_TARGETS; i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    return NULL;
}

const char *isa_target_name(const struct isa_target *target) { return target->name; }

bool isa_is_compiled(const struct isa_target *target) { return target->compiler; }
