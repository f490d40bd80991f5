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

/* Leaves out names, which are in the heading, and descriptions, which are too long for a column. */
void config_write_values(FILE *file, const struct config_machine *machines, unsigned count) {
    char text[CONFIG_VALUE_BYTES];
    fputs("| option |", file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, " %s |", machines[i].name);
    fputs("\n|---|", file);
    for (unsigned i = 0; i < count; i++)
        fputs("---|", file);
    fputc('\n', file);
    for (unsigned i = 0; i < config_n_options; i++) {
        const struct config_option *option = &config_options[i];
        if (strcmp(option->name, "name") == 0 || strcmp(option->name, "description") == 0)
            continue;
        fprintf(file, "| `%s` |", option->name);
        for (unsigned j = 0; j < count; j++) {
            config_format(option, &machines[j], text);
            fprintf(file, " %s |", text);
        }
        fputc('\n', file);
    }
}
