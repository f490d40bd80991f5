/* Shared by the files that read an experiment. */
#pragma once

#include "cli/experiments/experiment.h"
#include "cli/experiments/yaml_tree.h"

/* settings.c: reads a map of a run's settings. */
bool cli_read_settings(struct cli_yaml *yaml, yaml_node_t *node, struct cli_settings *settings);
/* Checks that it is a bundled workload or an existing file. */
bool cli_check_program_name(struct cli_yaml *yaml, const yaml_node_t *node, const char *name);
