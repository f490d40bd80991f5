/* Reads a machine file: one YAML map from option names to values. Groups may be nested (l1: {size: 16K}) or dotted
 * (l1.size: 16K). libyaml parses the text. This file checks keys and values and reports the place of a mistake. A flat
 * table of options needs no lists, anchors, aliases, tags or second document, so they are refused or ignored. */
#include "config/internal.h"

#include <string.h>

#include <yaml.h>

#include "base/text.h"

enum { KEY_BYTES = 128 };

struct reader {
    struct config_reading *reading;
    const struct base_source *source;
    yaml_parser_t parser;
    unsigned *line_of; /* the line that sets each option in this file; 0: none yet */
    unsigned n_keys;   /* read so far */
};

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* libyaml counts characters, diagnostics count bytes. */
static size_t offset_of(const struct reader *reader, yaml_mark_t mark) {
    const char *text = reader->source->text;
    size_t length = reader->source->length, at = 0;
    for (size_t i = 0; i < mark.index && at < length; i++) {
        at++;
        while (at < length && ((unsigned char)text[at] & 0xC0) == 0x80)
            at++;
    }
    return at;
}

#define FAIL(reader, event, ...)                                                                                       \
    base_diag_error_at((reader)->reading->diag, (reader)->source, offset_of(reader, (event)->start_mark), __VA_ARGS__)

static bool refuse_yaml(const struct reader *reader) {
    const yaml_parser_t *parser = &reader->parser;
    size_t at = parser->error == YAML_READER_ERROR ? parser->problem_offset : offset_of(reader, parser->problem_mark);
    if (at > reader->source->length)
        at = reader->source->length;
    return base_diag_error_at(reader->reading->diag, reader->source, at, "not YAML: %s",
                              parser->problem ? parser->problem : "out of memory");
}

static bool next_event(struct reader *reader, yaml_event_t *event) {
    return yaml_parser_parse(&reader->parser, event) || refuse_yaml(reader);
}

/* ---- Keys and values --------------------------------------------------------------------------------------------- */

static bool refuse_key(const struct reader *reader, const yaml_event_t *event, const char *key) {
    char error[CONFIG_ERROR_BYTES];
    config_unknown_key(key, error, sizeof error);
    return FAIL(reader, event, "%s", error);
}

static bool refuse_value(const struct reader *reader, const yaml_event_t *event, const struct config_option *option) {
    char allowed[CONFIG_VALUE_BYTES];
    config_describe(option, allowed);
    const char *what = event->type == YAML_MAPPING_START_EVENT    ? "a map"
                       : event->type == YAML_SEQUENCE_START_EVENT ? "a list"
                                                                  : "an alias";
    return FAIL(reader, event, "%s is %s, but takes %s", option->name, what, allowed);
}

static bool note_key(struct reader *reader, const yaml_event_t *key, const struct config_option *option) {
    unsigned *line = &reader->line_of[option - config_options];
    if (*line)
        return FAIL(reader, key, "%s is set twice; line %u already sets it", option->name, *line);
    *line = (unsigned)key->start_mark.line + 1;
    return true;
}

/* Returns the line of this file that sets a parameter of the mechanism; 0 if there is none. */
static unsigned parameter_line(const struct reader *reader, const struct config_option *present) {
    for (unsigned i = 0; i < config_n_options; i++)
        if (reader->line_of[i] && &config_options[i] != present && config_switch_of(&config_options[i]) == present)
            return reader->line_of[i];
    return 0;
}

/* Refuses a file that switches a mechanism off and also sets one of its parameters. Call it after config_store(). */
static bool check_mechanism(const struct reader *reader, const struct config_option *option, bool was_absent,
                            const yaml_event_t *value) {
    const struct config_option *present = config_switch_of(option);
    if (!present)
        return true;
    unsigned off = reader->line_of[present - config_options];
    if (option != present && was_absent && off)
        return FAIL(reader, value, "%s is set, but line %u sets %s to false", option->name, off, present->name);
    unsigned set = option == present ? parameter_line(reader, present) : 0;
    if (set && !config_is_on(present, reader->reading->machine))
        return FAIL(reader, value, "%s is false, but line %u sets a parameter of it", present->name, set);
    return true;
}

static bool read_option(struct reader *reader, const struct config_option *option, const yaml_event_t *value) {
    char error[CONFIG_ERROR_BYTES];
    if (value->type != YAML_SCALAR_EVENT)
        return refuse_value(reader, value, option);
    const char *text = (const char *)value->data.scalar.value;
    if (strlen(text) != value->data.scalar.length)
        return FAIL(reader, value, "%s holds a zero byte", option->name);
    bool was_absent = config_is_absent(option, reader->reading->machine);
    if (!config_store(reader->reading->machine, option, text, error, sizeof error))
        return FAIL(reader, value, "%s", error);
    if (!check_mechanism(reader, option, was_absent, value))
        return false;
    if (strcmp(option->name, "name") == 0)
        reader->reading->has_name = true;
    return true;
}

static bool read_extends(struct reader *reader, const yaml_event_t *key, const yaml_event_t *value, bool is_first) {
    if (!is_first)
        return FAIL(reader, key, "extends must be the first key: what follows changes the machine that it names");
    if (value->type != YAML_SCALAR_EVENT || value->data.scalar.length == 0)
        return FAIL(reader, value, "extends takes the name of a machine or a .yaml file");
    return config_extend(reader->reading, reader->source, offset_of(reader, value->start_mark),
                         (const char *)value->data.scalar.value);
}

static bool read_map(struct reader *reader, const char *group);

static bool read_value(struct reader *reader, const char *key, const yaml_event_t *key_event, yaml_event_t *value) {
    bool is_first = reader->n_keys++ == 0;
    if (strcmp(key, "extends") == 0)
        return read_extends(reader, key_event, value, is_first);
    const struct config_option *option = config_find_option(key);
    if (option)
        return note_key(reader, key_event, option) && read_option(reader, option, value);
    if (!config_is_group(key))
        return refuse_key(reader, key_event, key);
    if (value->type != YAML_MAPPING_START_EVENT)
        return FAIL(reader, value, "%s is a group of options and takes a map; or write %s.KEY: VALUE", key, key);
    return read_map(reader, key);
}

/* Reads one key of a map, prefixed with its group, and its value. */
static bool read_entry(struct reader *reader, const char *group, const yaml_event_t *key_event) {
    char key[KEY_BYTES];
    if (key_event->type != YAML_SCALAR_EVENT)
        return FAIL(reader, key_event, "a key must be the name of an option");
    snprintf(key, sizeof key, "%s%s%.64s", group, *group ? "." : "", (const char *)key_event->data.scalar.value);
    yaml_event_t value;
    if (!next_event(reader, &value))
        return false;
    bool is_good = read_value(reader, key, key_event, &value);
    yaml_event_delete(&value);
    return is_good;
}

/* Reads the entries of a map up to its end, after its start. Groups do not nest, so this recurses at most once. */
static bool read_map(struct reader *reader, const char *group) {
    for (;;) {
        yaml_event_t event;
        if (!next_event(reader, &event))
            return false;
        bool is_end = event.type == YAML_MAPPING_END_EVENT;
        bool is_good = is_end || read_entry(reader, group, &event);
        yaml_event_delete(&event);
        if (is_end || !is_good)
            return is_good;
    }
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* Reads one event, which must have this type. */
static bool expect(struct reader *reader, yaml_event_type_t type, const char *complaint) {
    yaml_event_t event;
    if (!next_event(reader, &event))
        return false;
    bool is_good = event.type == type || FAIL(reader, &event, "%s", complaint);
    yaml_event_delete(&event);
    return is_good;
}

static bool read_document(struct reader *reader) {
    static const char not_a_map[] = "a machine file is a map, such as l1.size: 16K";
    return expect(reader, YAML_STREAM_START_EVENT, not_a_map) && expect(reader, YAML_DOCUMENT_START_EVENT, not_a_map) &&
           expect(reader, YAML_MAPPING_START_EVENT, not_a_map) && read_map(reader, "") &&
           expect(reader, YAML_DOCUMENT_END_EVENT, not_a_map) &&
           expect(reader, YAML_STREAM_END_EVENT, "a machine file holds one document");
}

bool config_read_yaml(struct config_reading *reading, const struct base_source *source) {
    struct reader reader = {.reading = reading, .source = source};
    reader.line_of = BASE_ARENA_ARRAY(reading->arena, unsigned, config_n_options);
    if (!yaml_parser_initialize(&reader.parser))
        return base_diag_error(reading->diag, "out of memory");
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)source->text, source->length);
    bool is_good = read_document(&reader);
    yaml_parser_delete(&reader.parser);
    return is_good;
}
