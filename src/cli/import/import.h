/* `heddle import`: a configuration of another simulator as a machine. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

/* One key of the machine, with the option that it comes from. */
struct cli_import_key {
    const char *key, *value;
    const char *source; /* "-gpgpu_n_clusters 15", or the reason for this value */
};

/* An option that has no equivalent in a machine. */
struct cli_import_left {
    const char *option, *reason;
};

struct cli_import {
    const char *file;
    struct cli_import_key *key;
    unsigned n_keys;
    struct cli_import_left *left;
    unsigned n_left;
    unsigned n_options;      /* in the file */
    unsigned n_options_left; /* of these, the ones in `left`; the others are sources of keys */
    const char *note;        /* one line that the user should see, or NULL */
    struct base_arena *arena;
};

/* gpgpusim.c: reads the text of a gpgpusim.config. Each of its options is the source of a key, or is left out with a
 * reason. Returns false after one line on standard error. */
bool cli_import_gpgpusim(struct cli_import *import, const char *text);
/* Writes the machine as YAML, with the omitted options as comments. */
void cli_write_import(const struct cli_import *import, const char *name, FILE *file);
