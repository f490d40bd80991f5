/* What the files of config share. */
#pragma once

#include "base/diag.h"
#include "config/config.h"

/* Stores the text in the option's field. On a mistake false, and one line in `error` that names the key, the value and
 * what is allowed. */
bool config_store(struct config_machine *machine, const struct config_option *option, const char *text, char *error,
                  size_t error_bytes);
/* One line about a key that is none, with the nearest one. Always false. */
bool config_unknown_key(const char *key, char *error, size_t error_bytes);
/* True for the first word of a dotted name: "l1". */
bool config_is_group(const char *word);
/* 16384 as 16K. */
void config_format_bytes(uint32_t value, char text[CONFIG_VALUE_BYTES]);
/* One formatted line in `error`. Always false. */
__attribute__((format(printf, 3, 4))) bool config_error(char *error, size_t error_bytes, const char *format, ...);

/* A file that is being read, and how it finds the file that it extends. */
struct config_reading {
    struct config_machine *machine;
    struct base_arena *arena;
    struct base_diag *diag;
    const char *folder; /* of machines that are named */
    unsigned depth;     /* files that extend each other up to here */
    bool has_name;      /* the file has said how the machine is called */
};

/* yaml.c: applies every key of the text in order. */
bool config_read_yaml(struct config_reading *reading, const struct base_source *source);
/* load.c: the machine that `extends` names, `at` being the place of the name in `source`. */
bool config_extend(struct config_reading *reading, const struct base_source *source, size_t at, const char *name);
