/* Writes a machine as YAML that loads again, and as tables for the documentation. */
#include "config/config.h"

#include <ctype.h>
#include <string.h>

#include "config/internal.h"

enum { COMMENT_COLUMN = 32 };

/* An option's name split at its dot; the group is empty for names without one. */
struct key {
    char group[32];
    const char *key;
};

static struct key split(const char *name) {
    struct key key = {.key = name};
    const char *dot = strchr(name, '.');
    if (dot) {
        snprintf(key.group, sizeof key.group, "%.*s", (int)(dot - name), name);
        key.key = dot + 1;
    }
    return key;
}

/* Returns whether YAML reads the text as it is, without quotes. */
static bool is_plain(const char *text) {
    return isalnum((unsigned char)text[0]) &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == strlen(text);
}

/* Writes the value and returns its width. */
static int write_value(FILE *file, const char *text) {
    if (is_plain(text))
        return fprintf(file, "%s", text);
    int width = fprintf(file, "\"");
    for (const char *c = text; *c; c++)
        width += fprintf(file, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    return width + fprintf(file, "\"");
}

void config_dump(const struct config_machine *machine, FILE *file) {
    char group[32] = "", text[CONFIG_VALUE_BYTES];
    for (unsigned i = 0; i < config_n_options; i++) {
        const struct config_option *option = &config_options[i];
        struct key key = split(option->name);
        if (config_is_absent(option, machine))
            continue;
        if (strcmp(key.group, group) != 0) {
            strcpy(group, key.group);
            fprintf(file, "%s:\n", group);
        }
        config_format(option, machine, text);
        int width = fprintf(file, "%s%s: ", *group ? "  " : "", key.key) + write_value(file, text);
        if (option->type == CONFIG_TEXT)
            fputc('\n', file);
        else
            fprintf(file, "%*s # %s%s%s\n", width < COMMENT_COLUMN ? COMMENT_COLUMN - width : 0, "", option->unit,
                    *option->unit ? "; " : "", option->help);
    }
}

/* ---- Markdown ---------------------------------------------------------------------------------------------------- */

/* Writes a cell and escapes |, which would end it. */
static void write_cell(FILE *file, const char *text) {
    for (const char *c = text; *c; c++)
        fprintf(file, "%s%c", *c == '|' ? "\\" : "", *c);
    fputs(" | ", file);
}

void config_write_options(FILE *file) {
    char allowed[CONFIG_VALUE_BYTES];
    fputs("| option | takes | default | unit | meaning |\n|---|---|---|---|---|\n", file);
    for (unsigned i = 0; i < config_n_options; i++) {
        const struct config_option *option = &config_options[i];
        config_describe(option, allowed);
        fprintf(file, "| `%s` | ", option->name);
        write_cell(file, allowed);
        write_cell(file, option->initial);
        write_cell(file, option->unit);
        fprintf(file, "%s |\n", option->help);
    }
}

/* Returns whether the machine's value is not the default. Names are in the heading, and descriptions are too long for a
 * column: they never count. */
static bool differs(const struct config_option *option, const struct config_machine *machine) {
    char text[CONFIG_VALUE_BYTES];
    config_format(option, machine, text);
    return strcmp(text, option->initial) != 0 && strcmp(option->name, "name") != 0 &&
           strcmp(option->name, "description") != 0;
}

/* The options from `first` to before `end`: a group. */
struct group {
    unsigned first, end;
};

static bool any_differs(struct group group, const struct config_machine *machine) {
    for (unsigned i = group.first; i < group.end; i++)
        if (differs(&config_options[i], machine))
            return true;
    return false;
}

/* Writes the values of a parameter, with nothing for machines that do not have its mechanism. */
static void write_row(FILE *file, const struct config_option *option, const struct config_machine *const *machine,
                      unsigned count) {
    char text[CONFIG_VALUE_BYTES];
    fprintf(file, "| `%s` | %s |", option->name, option->initial);
    for (unsigned i = 0; i < count; i++) {
        config_format(option, machine[i], text);
        fprintf(file, " %s |", config_is_absent(option, machine[i]) ? "" : text);
    }
    fputc('\n', file);
}

/* A column for each machine that differs from the defaults in this group, a row for each option in which one does. */
static void write_group(FILE *file, struct group group, const struct config_machine *machines, unsigned count) {
    const struct config_machine *shown[count];
    unsigned n_shown = 0;
    for (unsigned i = 0; i < count; i++)
        if (any_differs(group, &machines[i]))
            shown[n_shown++] = &machines[i];
    if (!n_shown)
        return;
    fputs("\n| option | default |", file);
    for (unsigned i = 0; i < n_shown; i++)
        fprintf(file, " %s |", shown[i]->name);
    fputs("\n|---|---|", file);
    for (unsigned i = 0; i < n_shown; i++)
        fputs("---|", file);
    fputc('\n', file);
    bool is_mechanism = config_switch_of(&config_options[group.first]);
    for (unsigned i = group.first; i < group.end; i++) {
        bool is_shown = is_mechanism;
        for (unsigned j = 0; j < n_shown; j++)
            is_shown |= differs(&config_options[i], shown[j]);
        if (is_shown)
            write_row(file, &config_options[i], shown, n_shown);
    }
}

void config_write_values(FILE *file, const struct config_machine *machines, unsigned count) {
    struct group group = {0, 0};
    while (group.first < config_n_options) {
        struct key key = split(config_options[group.first].name);
        while (group.end < config_n_options && strcmp(split(config_options[group.end].name).group, key.group) == 0)
            group.end++;
        write_group(file, group, machines, count);
        group.first = group.end;
    }
    fputc('\n', file);
}
