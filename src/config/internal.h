/* Shared by the files of config. */
#pragma once

#include "base/diag.h"
#include "config/config.h"

/* Stores the text in the option's field. On a mistake it returns false, and one line in `error` names the key, the
 * value and the allowed values. */
bool config_store(struct config_machine *machine, const struct config_option *option, const char *text, char *error,
                  size_t error_bytes);
/* Writes one line about an unknown key, with the nearest one. Always returns false. */
bool config_unknown_key(const char *key, char *error, size_t error_bytes);
/* Returns the `present` of the mechanism that the option belongs to, NULL if it is part of every machine. */
const struct config_option *config_switch_of(const struct config_option *option);
/* Returns the value of such an option. */
bool config_is_on(const struct config_option *present, const struct config_machine *machine);
/* Returns true for a parameter of a mechanism that the machine does not have. */
bool config_is_absent(const struct config_option *option, const struct config_machine *machine);
/* Returns true for the first word of a dotted name: "l1". */
bool config_is_group(const char *word);
/* Reads 16K as 16384. */
bool config_parse_bytes(const char *text, uint64_t *value);
/* Writes 16384 as 16K. */
void config_format_bytes(uint32_t value, char text[CONFIG_VALUE_BYTES]);
/* Writes one formatted line to `error`. Always returns false. */
__attribute__((format(printf, 3, 4))) bool config_error(char *error, size_t error_bytes, const char *format, ...);

/* occupancy.c: checks that cluster.gpcs has numbers of SMs. */
bool config_check_gpcs(const struct config_machine *machine, char *error, size_t error_bytes);
/* split.c: checks that the sizes of unified.shared_sizes are in order and smaller than the L1. */
bool config_check_split(const struct config_machine *machine, char *error, size_t error_bytes);

/* The state of reading a machine file and the files that it extends. */
struct config_reading {
    struct config_machine *machine;
    struct base_arena *arena;
    struct base_diag *diag;
    const char *folder; /* contains the machines that are named without a path */
    unsigned depth;     /* how many files extend this one, directly or not */
    bool has_name;      /* the file sets the machine's name */
};

/* yaml.c: applies every key of the text, in order. */
bool config_read_yaml(struct config_reading *reading, const struct base_source *source);
/* load.c: reads the machine that `extends` names; `at` is the offset of the name in `source`. */
bool config_extend(struct config_reading *reading, const struct base_source *source, size_t at, const char *name);
