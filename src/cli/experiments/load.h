/* Shared by the files that read an experiment. */
#pragma once

#include "cli/experiments/experiment.h"
#include "cli/experiments/yaml_tree.h"

/* settings.c: reads a map of a run's settings. */
bool cli_read_settings(struct cli_yaml *yaml, yaml_node_t *node, struct cli_settings *settings);
/* Checks that it is a bundled workload or an existing file. */
bool cli_check_program_name(struct cli_yaml *yaml, const yaml_node_t *node, const char *name);

/* load.c: the axis that the node names. NULL with the error. */
struct cli_axis *cli_axis_named(struct cli_experiment *experiment, struct cli_yaml *yaml, yaml_node_t *value);
/* Adds a map of measures to those that the experiment has. */
bool cli_read_more_measures(struct cli_experiment *experiment, struct cli_yaml *yaml, yaml_node_t *value);

/* load_claims.c: keys of the file; the context is the experiment, whose axes, measures and means have been read. */
bool cli_read_numbers(void *context, struct cli_yaml *yaml, yaml_node_t *value);
bool cli_read_claims(void *context, struct cli_yaml *yaml, yaml_node_t *value);
