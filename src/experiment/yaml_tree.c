/* Wraps libyaml's document and turns its marks into messages. libyaml counts characters, but messages count bytes. */
#include "experiment/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static size_t offset_of(const struct experiment_yaml *yaml, size_t n_characters) {
    const char *text = yaml->source.text;
    size_t length = yaml->source.length, at = 0;
    for (size_t i = 0; i < n_characters && at < length; i++) {
        at++;
        while (at < length && ((unsigned char)text[at] & 0xC0) == 0x80)
            at++;
    }
    return at;
}

size_t experiment_yaml_offset(const struct experiment_yaml *yaml, const yaml_node_t *node) {
    bool is_quoted = node->type == YAML_SCALAR_NODE && (node->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
                                                        node->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    return offset_of(yaml, node->start_mark.index) + is_quoted;
}

bool experiment_yaml_fail(struct experiment_yaml *yaml, const yaml_node_t *node, const char *format, ...) {
    char text[BASE_DIAG_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return base_diag_error_at(yaml->diag, &yaml->source, offset_of(yaml, node->start_mark.index), "%s", text);
}

static bool refuse_yaml(struct experiment_yaml *yaml, const yaml_parser_t *parser) {
    size_t at =
        parser->error == YAML_READER_ERROR ? parser->problem_offset : offset_of(yaml, parser->problem_mark.index);
    if (at > yaml->source.length)
        at = yaml->source.length;
    return base_diag_error_at(yaml->diag, &yaml->source, at, "not YAML: %s",
                              parser->problem ? parser->problem : "out of memory");
}

yaml_node_t *experiment_yaml_open(struct experiment_yaml *yaml, const char *path) {
    if (!base_source_read(&yaml->source, yaml->arena, path, yaml->diag))
        return NULL;
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        base_diag_error(yaml->diag, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)yaml->source.text, yaml->source.length);
    bool is_read = yaml_parser_load(&parser, &yaml->document);
    if (!is_read)
        refuse_yaml(yaml, &parser);
    yaml_parser_delete(&parser);
    if (!is_read)
        return NULL;
    yaml_node_t *root = yaml_document_get_root_node(&yaml->document);
    if (!root) {
        base_diag_error_at(yaml->diag, &yaml->source, 0, "the file is empty: an experiment is a map of keys");
        yaml_document_delete(&yaml->document);
    }
    return root;
}

void experiment_yaml_close(struct experiment_yaml *yaml) { yaml_document_delete(&yaml->document); }

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

bool experiment_yaml_is_empty(const yaml_node_t *node) {
    return node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (node->data.scalar.length == 0 || strcmp((const char *)node->data.scalar.value, "~") == 0);
}

unsigned experiment_yaml_count(const yaml_node_t *node) {
    if (node->type == YAML_SEQUENCE_NODE)
        return (unsigned)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (node->type == YAML_MAPPING_NODE)
        return (unsigned)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    return 0;
}

yaml_node_t *experiment_yaml_item(struct experiment_yaml *yaml, const yaml_node_t *list, unsigned i) {
    return yaml_document_get_node(&yaml->document, list->data.sequence.items.start[i]);
}

yaml_node_t *experiment_yaml_key_at(struct experiment_yaml *yaml, const yaml_node_t *map, unsigned i) {
    return yaml_document_get_node(&yaml->document, map->data.mapping.pairs.start[i].key);
}

yaml_node_t *experiment_yaml_value_at(struct experiment_yaml *yaml, const yaml_node_t *map, unsigned i) {
    return yaml_document_get_node(&yaml->document, map->data.mapping.pairs.start[i].value);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static const char *replace_dollar(struct experiment_yaml *yaml, const char *text) {
    const char *at;
    if (!yaml->dollar || !(at = strchr(text, '$')))
        return base_arena_copy(yaml->arena, text, strlen(text));
    return base_arena_printf(yaml->arena, "%.*s%s%s", (int)(at - text), text, yaml->dollar,
                             replace_dollar(yaml, at + 1));
}

const char *experiment_yaml_text(struct experiment_yaml *yaml, yaml_node_t *node, const char *what) {
    if (node->type != YAML_SCALAR_NODE || experiment_yaml_is_empty(node)) {
        experiment_yaml_fail(yaml, node, "%s takes a text", what);
        return NULL;
    }
    if (strlen((const char *)node->data.scalar.value) != node->data.scalar.length) {
        experiment_yaml_fail(yaml, node, "%s holds a zero byte", what);
        return NULL;
    }
    const char *text = replace_dollar(yaml, (const char *)node->data.scalar.value);
    return text;
}

bool experiment_yaml_number(struct experiment_yaml *yaml, yaml_node_t *node, const char *what, double *value) {
    const char *text = experiment_yaml_text(yaml, node, what);
    if (!text)
        return false;
    char *end;
    *value = strtod(text, &end);
    return (end != text && !*end) || experiment_yaml_fail(yaml, node, "%s takes a number, not '%s'", what, text);
}

bool experiment_yaml_flag(struct experiment_yaml *yaml, yaml_node_t *node, const char *what, bool *value) {
    static const char *const words[] = {"false", "true"};
    unsigned place = 0;
    if (!experiment_yaml_word(yaml, node, what, words, 2, &place))
        return false;
    *value = place == 1;
    return true;
}

bool experiment_yaml_word(struct experiment_yaml *yaml, yaml_node_t *node, const char *what, const char *const *words,
                          unsigned n, unsigned *place) {
    const char *text = experiment_yaml_text(yaml, node, what), *all = "";
    if (!text)
        return false;
    for (unsigned i = 0; i < n; i++) {
        if (strcmp(words[i], text) == 0) {
            *place = i;
            return true;
        }
        all = base_arena_printf(yaml->arena, "%s%s%s", all, i == 0 ? "" : i + 1 == n ? " or " : ", ", words[i]);
    }
    return experiment_yaml_fail(yaml, node, "%s takes %s, not '%s'", what, all, text);
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

static bool refuse_key(struct experiment_yaml *yaml, const yaml_node_t *key, const char *what,
                       const struct experiment_yaml_key *keys, unsigned n_keys) {
    const char *text = (const char *)key->data.scalar.value, *all = "";
    struct base_nearest nearest = base_nearest_to(text);
    for (unsigned i = 0; i < n_keys; i++) {
        base_nearest_offer(&nearest, keys[i].name);
        all = base_arena_printf(yaml->arena, "%s%s%s", all, i ? ", " : "", keys[i].name);
    }
    if (nearest.best)
        return experiment_yaml_fail(yaml, key, "%s has no key '%.64s'; did you mean '%s'?", what, text, nearest.best);
    return experiment_yaml_fail(yaml, key, "%s has no key '%.64s'; it has: %s", what, text, all);
}

bool experiment_yaml_read_map(struct experiment_yaml *yaml, yaml_node_t *node, const char *what,
                              const struct experiment_yaml_key *keys, unsigned n_keys, void *context) {
    if (node->type != YAML_MAPPING_NODE)
        return experiment_yaml_fail(yaml, node, "%s is a map, such as %s: %s", what, keys[0].name, keys[0].takes);
    yaml_node_t **key_of = BASE_ARENA_ARRAY(yaml->arena, yaml_node_t *, n_keys);
    yaml_node_t **value_of = BASE_ARENA_ARRAY(yaml->arena, yaml_node_t *, n_keys);
    for (unsigned i = 0; i < experiment_yaml_count(node); i++) {
        yaml_node_t *key = experiment_yaml_key_at(yaml, node, i);
        if (key->type != YAML_SCALAR_NODE)
            return experiment_yaml_fail(yaml, key, "a key of %s is a word", what);
        unsigned k = 0;
        while (k < n_keys && strcmp(keys[k].name, (const char *)key->data.scalar.value) != 0)
            k++;
        if (k == n_keys)
            return refuse_key(yaml, key, what, keys, n_keys);
        if (key_of[k])
            return experiment_yaml_fail(yaml, key, "%s is given twice; it already is on line %zu", keys[k].name,
                                        key_of[k]->start_mark.line + 1);
        key_of[k] = key;
        value_of[k] = experiment_yaml_value_at(yaml, node, i);
        if (experiment_yaml_is_empty(value_of[k]))
            return experiment_yaml_fail(yaml, key, "%s has no value; it takes %s", keys[k].name, keys[k].takes);
    }
    for (unsigned k = 0; k < n_keys; k++) {
        if (keys[k].is_required && !key_of[k])
            return experiment_yaml_fail(yaml, node, "%s needs the key '%s': %s", what, keys[k].name, keys[k].takes);
        if (key_of[k] && !keys[k].read(context, yaml, value_of[k]))
            return false;
    }
    return true;
}
