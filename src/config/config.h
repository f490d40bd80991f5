/* Machines: load them by name or file, change single keys, check them, write them out. Everything walks the rows of
 * options.def. On failure a function returns false and fills `error`: one line, followed, for a place in a file, by an
 * excerpt with a caret. It never ends in a newline. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "config/machine.h"

enum { CONFIG_ERROR_BYTES = 1024, CONFIG_VALUE_BYTES = 192 };

/* ---- Options ----------------------------------------------------------------------------------------------------- */

enum config_type {
    CONFIG_UINT,   /* uint32_t or uint64_t */
    CONFIG_BYTES,  /* uint32_t; K, M and G multiply by 1024 */
    CONFIG_FLOAT,  /* double */
    CONFIG_BOOL,   /* bool */
    CONFIG_CHOICE, /* an enumeration, stored as the index of the word */
    CONFIG_TEXT    /* char[], printable ASCII */
};

struct config_option {
    const char *name; /* "l1.size" */
    enum config_type type;
    size_t offset, bytes; /* of the field */
    const char *initial;  /* the default, as a user would write it */
    const char *allowed;  /* see options.def */
    const char *unit, *help;
};

extern const struct config_option config_options[];
extern const unsigned config_n_options;

const struct config_option *config_find_option(const char *name); /* NULL if there is none */
/* Writes the value as a user would: 16K, 0.7, fr-fcfs. */
void config_format(const struct config_option *option, const struct config_machine *machine,
                   char text[CONFIG_VALUE_BYTES]);
/* Describes the values of an option: "a whole number from 1 to 32". */
void config_describe(const struct config_option *option, char text[CONFIG_VALUE_BYTES]);
/* Write Markdown tables: the options, and for each group the values of those of `count` machines that change one. */
void config_write_options(FILE *file);
void config_write_values(FILE *file, const struct config_machine *machines, unsigned count);

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

/* The machine of a timed run that names none. */
#define CONFIG_DEFAULT_MACHINE "gtx480"

void config_defaults(struct config_machine *machine);

/* Reads NAME.yaml of `folder`, or the file itself if the text has a slash or ends in .yaml or .yml. Options that the
 * file does not set keep the value of the machine that it extends, or the default. Call config_check() after the last
 * config_set(). */
bool config_load(struct config_machine *machine, const char *name_or_path, const char *folder, char *error,
                 size_t error_bytes);
/* True if the text names a file, not a machine of the folder. */
bool config_is_path(const char *name_or_path);
/* Like config_load(), for the text of a file. Messages show `name`. The text may extend machines of `folder`. */
bool config_load_text(struct config_machine *machine, const char *text, const char *name, const char *folder,
                      char *error, size_t error_bytes);
/* Applies "key=value". */
bool config_set(struct config_machine *machine, const char *assignment, char *error, size_t error_bytes);
/* Checks the rules between options; call it once everything is set. */
bool config_check(const struct config_machine *machine, char *error, size_t error_bytes);

/* Returns the size of the L1 in a launch whose blocks need this much shared memory on an SM: unified.shared_sizes. */
uint32_t config_l1_bytes(const struct config_machine *machine, uint64_t shared_bytes);
/* Writes every option as YAML, which loads as the same machine. */
void config_dump(const struct config_machine *machine, FILE *file);

/* Returns the names of the machines in a folder, sorted; NULL, with the reason in `error`, when it cannot be read. */
const char **config_list(const char *folder, struct base_arena *arena, unsigned *count, char *error,
                         size_t error_bytes);
