/* Shared by the files that read an experiment. */
#pragma once

#include "experiment/experiment.h"
#include "experiment/yaml_tree.h"

/* settings.c: reads a map of a run's settings. */
bool experiment_read_settings(struct experiment_yaml *yaml, yaml_node_t *node, struct experiment_settings *settings);
/* Checks that it is a bundled workload or an existing file. */
bool experiment_check_program_name(struct experiment_yaml *yaml, const yaml_node_t *node, const char *name);

/* load.c: the axis that the node names. NULL with the error. */
struct experiment_axis *experiment_axis_named(struct experiment *experiment, struct experiment_yaml *yaml,
                                              yaml_node_t *value);
/* Adds a map of measures to those that the experiment has. */
bool experiment_read_more_measures(struct experiment *experiment, struct experiment_yaml *yaml, yaml_node_t *value);

/* load_claims.c: keys of the file; the context is the experiment, whose axes, measures and means have been read. */
bool experiment_read_numbers(void *context, struct experiment_yaml *yaml, yaml_node_t *value);
bool experiment_read_claims(void *context, struct experiment_yaml *yaml, yaml_node_t *value);
