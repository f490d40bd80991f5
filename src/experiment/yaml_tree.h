/* A YAML file as a tree whose errors have a place: maps are read by a table of their possible keys. */
#pragma once

#include <yaml.h>

#include "base/arena.h"
#include "base/diag.h"

struct experiment_yaml {
    struct base_source source;
    yaml_document_t document;
    struct base_arena *arena;
    struct base_diag *diag;
    const char *dollar; /* replaces $ in texts; NULL: $ stays */
};

/* A key of a map; `read` is called with its value. */
struct experiment_yaml_key {
    const char *name;
    bool (*read)(void *context, struct experiment_yaml *yaml, yaml_node_t *value);
    bool is_required;
    const char *takes; /* what it accepts: "a list of programs" */
};

/* Returns the root of the file; NULL with the error in diag. */
yaml_node_t *experiment_yaml_open(struct experiment_yaml *yaml, const char *path);
void experiment_yaml_close(struct experiment_yaml *yaml);

/* Records an error at a node. Always returns false. */
__attribute__((format(printf, 3, 4))) bool experiment_yaml_fail(struct experiment_yaml *yaml, const yaml_node_t *node,
                                                                const char *format, ...);
/* The byte at which a node begins; for a text in quotes, after the quote. */
size_t experiment_yaml_offset(const struct experiment_yaml *yaml, const yaml_node_t *node);

/* Reads a map in the order of the table, whatever its order in the file. `what` names it in messages: "an axis". */
bool experiment_yaml_read_map(struct experiment_yaml *yaml, yaml_node_t *node, const char *what,
                              const struct experiment_yaml_key *keys, unsigned n_keys, void *context);
/* A text with $ replaced; NULL after an error. */
const char *experiment_yaml_text(struct experiment_yaml *yaml, yaml_node_t *node, const char *what);
bool experiment_yaml_number(struct experiment_yaml *yaml, yaml_node_t *node, const char *what, double *value);
bool experiment_yaml_flag(struct experiment_yaml *yaml, yaml_node_t *node, const char *what, bool *value);
/* Reads one of some words and sets its index. Returns false after an error that names them. */
bool experiment_yaml_word(struct experiment_yaml *yaml, yaml_node_t *node, const char *what, const char *const *words,
                          unsigned n, unsigned *place);

bool experiment_yaml_is_empty(const yaml_node_t *node);  /* nothing after the colon, or ~ */
unsigned experiment_yaml_count(const yaml_node_t *node); /* entries of a map or a list */
yaml_node_t *experiment_yaml_item(struct experiment_yaml *yaml, const yaml_node_t *list, unsigned i);
yaml_node_t *experiment_yaml_key_at(struct experiment_yaml *yaml, const yaml_node_t *map, unsigned i);
yaml_node_t *experiment_yaml_value_at(struct experiment_yaml *yaml, const yaml_node_t *map, unsigned i);
