/* What the files that read an experiment share. */
#pragma once

#include "cli/experiments/experiment.h"
#include "cli/experiments/yaml_tree.h"

/* settings.c: a map of what a run is made of. */
bool cli_read_settings(struct cli_yaml *yaml, yaml_node_t *node, struct cli_settings *settings);
/* A bundled workload or a file that is there. */
bool cli_check_program_name(struct cli_yaml *yaml, const yaml_node_t *node, const char *name);
