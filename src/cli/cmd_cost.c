/* `heddle cost [MODEL|SCHEDULER...]`: the storage that a mechanism adds to an SM, as its paper counts it. The numbers
 * come from the mechanisms' operations tables (cost_bits). If no paper counts a mechanism's storage, the mechanism has
 * no numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "command/machine_options.h"
#include "command/output.h"
#include "config/plugin.h"
#include "divergence/divergence.h"
#include "program/place.h"
#include "program/target.h"
#include "report/report.h"
#include "sched/sched.h"

struct cost_options {
    struct command_machine_options machine;
    unsigned color;
    const char *json, *csv;
};

#define FIELD(name) offsetof(struct cost_options, name)

static const struct command_option options[] = {
    COMMAND_MACHINE_ROW(FIELD(machine)),
    COMMAND_SET_ROW(FIELD(machine)),
    {"--json", 0, COMMAND_TEXT, "FILE|-", "write the table as one JSON object", FIELD(json), 0, 0},
    {"--csv", 0, COMMAND_TEXT, "FILE|-", "write the table as CSV", FIELD(csv), 0, 0},
    COMMAND_COLOR_ROW(FIELD(color)),
};

const struct command cli_cost_command = {
    .name = "cost",
    .summary = "the storage that divergence models and schedulers add to an SM, as their papers count it",
    .usage = "cost [MODEL|SCHEDULER|FILE.so...] [options]",
    .text = "Each may have options: lwm:size=512. Without a name, all are shown. The bits are for one SM of the\n"
            "machine. If no paper counts them, there is no number. Storage that the SM has anyway (registers,\n"
            "instruction buffers) is not counted.\n",
    .examples = "  heddle cost\n"
                "  heddle cost lwm lwm:size=512 stack -m narasiman2011\n"
                "  heddle cost dws:wst=32 -m meng2010 --json -\n"
                "  heddle cost ./mine.so\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_cost,
};

/* One line of the table. */
struct cost {
    const char *name, *kind; /* "divergence" or "scheduler" */
    bool is_known;
    uint64_t bits;
    const char *how, *area; /* how it is counted, or why it is not; may be NULL */
};

struct table {
    struct config_machine machine;
    struct cost *cost;
    unsigned count;
    struct base_arena *arena;
};

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

enum { FORMULA_BYTES = 400, NAME_BYTES = 256 };

static int add_model(struct table *table, const char *text, bool is_asked_for) {
    const struct divergence_ops *ops;
    void *given;
    char error[512], formula[FORMULA_BYTES] = "";
    if (!divergence_parse_by(table->machine.rules, text, &ops, &given, error, sizeof error))
        return command_fail(COMMAND_USAGE, "%s", error);
    struct cost *cost = &table->cost[table->count++];
    *cost = (struct cost){.name = text, .kind = "divergence", .area = ops->area};
    const char *rule = ops->refuses ? ops->refuses(given, &table->machine, NULL, error, sizeof error) : NULL;
    if (!rule && ops->cost_bits) {
        cost->bits = ops->cost_bits(given, &table->machine, formula, sizeof formula);
        cost->is_known = true;
    }
    const char *how = rule ? rule : formula;
    cost->how = base_arena_copy(table->arena, how, strlen(how));
    free(given);
    return rule && is_asked_for ? command_fail(COMMAND_USAGE, "%s", rule) : COMMAND_DONE;
}

static int add_scheduler(struct table *table, const char *text) {
    const struct sched_ops *ops;
    void *given;
    char error[512], formula[FORMULA_BYTES] = "";
    if (!sched_parse_by(table->machine.rules, text, &ops, &given, error, sizeof error))
        return command_fail(COMMAND_USAGE, "%s", error);
    struct cost *cost = &table->cost[table->count++];
    *cost = (struct cost){.name = text, .kind = "scheduler"};
    cost->is_known = sched_count_bits(ops, given, &table->machine, &cost->bits, formula, sizeof formula);
    cost->how = base_arena_copy(table->arena, formula, strlen(formula));
    free(given);
    return COMMAND_DONE;
}

static int unknown(const char *name) {
    struct base_nearest nearest = base_nearest_to(name);
    size_t n_models, n_schedulers;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    const struct sched_ops *const *schedulers = sched_list(&n_schedulers);
    for (size_t i = 0; i < n_models; i++)
        base_nearest_offer(&nearest, models[i]->name);
    for (size_t i = 0; i < n_schedulers; i++)
        base_nearest_offer(&nearest, schedulers[i]->name);
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "no divergence model or scheduler '%s'; did you mean '%s'?", name,
                            nearest.best);
    return command_fail(COMMAND_USAGE, "no divergence model or scheduler '%s'; 'heddle cost' shows all", name);
}

static int add_file(struct table *table, const char *text) {
    char error[512];
    const char *path = base_arena_copy(table->arena, text, config_plugin_file_length(text));
    const struct heddle_plugin *plugin = config_plugin_open(path, error, sizeof error);
    if (!plugin)
        return command_fail(COMMAND_ERROR, "%s", error);
    if (plugin->kind == HEDDLE_PLUGIN_DRAM_POLICY)
        return command_fail(COMMAND_USAGE, "%s is a DRAM policy, whose storage is not counted", path);
    return plugin->kind == HEDDLE_PLUGIN_SCHEDULER ? add_scheduler(table, text) : add_model(table, text, true);
}

static int add_word(struct table *table, const char *word) {
    if (config_plugin_file_length(word))
        return add_file(table, word);
    const char *name = base_arena_copy(table->arena, word, strcspn(word, ":"));
    if (divergence_find(name))
        return add_model(table, word, true);
    return sched_find(name) ? add_scheduler(table, word) : unknown(name);
}

static int add_all(struct table *table) {
    size_t n_models, n_schedulers;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    const struct sched_ops *const *schedulers = sched_list(&n_schedulers);
    table->cost = BASE_ARENA_ARRAY(table->arena, struct cost, n_models + n_schedulers);
    int status = COMMAND_DONE;
    for (size_t i = 0; i < n_models && status == COMMAND_DONE; i++)
        status = add_model(table, models[i]->name, false);
    for (size_t i = 0; i < n_schedulers && status == COMMAND_DONE; i++)
        status = add_scheduler(table, schedulers[i]->name);
    return status;
}

static int fill(struct table *table, const struct command_words *words) {
    if (!words->count)
        return add_all(table);
    table->cost = BASE_ARENA_ARRAY(table->arena, struct cost, words->count);
    int status = COMMAND_DONE;
    for (unsigned i = 0; i < words->count && status == COMMAND_DONE; i++)
        status = add_word(table, words->item[i]);
    return status;
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_of(const struct cost *cost) { return (cost->bits + 7) / 8; }

static void print_table(const struct table *table, bool is_colored) {
    struct report_table out = report_table_new(table->arena, 5);
    out.is_left[1] = out.is_left[4] = true;
    static const char *const headings[] = {"mechanism", "kind", "bits of an SM", "bytes", "how they are counted"};
    for (unsigned i = 0; i < 5; i++)
        report_table_cell(&out, "%s", headings[i]);
    for (unsigned i = 0; i < table->count; i++) {
        const struct cost *cost = &table->cost[i];
        report_table_cell(&out, "%s", cost->name);
        report_table_cell(&out, "%s", cost->kind);
        if (cost->is_known) {
            report_table_count(&out, cost->bits);
            report_table_count(&out, bytes_of(cost));
        } else {
            report_table_cell(&out, "-");
            report_table_cell(&out, "-");
        }
        const char *how = *cost->how ? cost->how : "no paper counts it";
        report_table_cell(&out, "%s%s%s", how, cost->area ? "; " : "", cost->area ? cost->area : "");
    }
    printf("%s: %u SMs, %u threads on each, warps of %u\n", table->machine.name, table->machine.sm.count,
           table->machine.sm.threads, table->machine.sm.warp_size);
    report_table_print(&out, stdout, is_colored);
}

static json_t *text_json(const char *text) { return text && *text ? json_string(text) : json_null(); }

static bool write_json(FILE *file, const struct table *table) {
    json_t *costs = json_array();
    for (unsigned i = 0; i < table->count; i++) {
        const struct cost *cost = &table->cost[i];
        json_t *bits = cost->is_known ? json_integer((json_int_t)cost->bits) : json_null();
        json_t *bytes = cost->is_known ? json_integer((json_int_t)bytes_of(cost)) : json_null();
        json_array_append_new(costs, json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "name", cost->name, "kind", cost->kind,
                                               "bits", bits, "bytes", bytes, "formula", text_json(cost->how), "area",
                                               text_json(cost->area)));
    }
    json_t *all =
        json_pack("{s:s, s:s, s:o}", "heddle", HEDDLE_VERSION, "machine", table->machine.name, "costs", costs);
    bool is_good = json_dumpf(all, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    json_decref(all);
    return is_good;
}

static void print_text(FILE *file, const char *text) {
    fputs(",\"", file);
    for (; text && *text; text++)
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', file);
}

static bool write_csv(FILE *file, const struct table *table) {
    fputs("machine,mechanism,kind,bits,bytes,formula,area\n", file);
    for (unsigned i = 0; i < table->count; i++) {
        const struct cost *cost = &table->cost[i];
        fprintf(file, "%s,\"%s\",%s,", table->machine.name, cost->name, cost->kind);
        if (cost->is_known)
            fprintf(file, "%" PRIu64 ",%" PRIu64, cost->bits, bytes_of(cost));
        else
            fputc(',', file);
        print_text(file, cost->how);
        print_text(file, cost->area);
        fputc('\n', file);
    }
    return !ferror(file);
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static int show(const struct table *table, const struct cost_options *given) {
    FILE *json = NULL, *csv = NULL;
    int status = command_open_outputs(given->json, &json, given->csv, &csv);
    if (status != COMMAND_DONE)
        return status;
    if (!command_is_stdout(given->json) && !command_is_stdout(given->csv))
        print_table(table, command_is_colored(given->color));
    bool is_written = true;
    if (json)
        is_written &= command_close_output(given->json, json, write_json(json, table));
    if (csv)
        is_written &= command_close_output(given->csv, csv, write_csv(csv, table));
    return is_written ? COMMAND_DONE : COMMAND_ERROR;
}

int cli_cost(int argc, char **argv) {
    struct base_arena arena = {0};
    struct cost_options given = {.color = COMMAND_COLOR_AUTO};
    struct command_words words = {0};
    struct table table = {.arena = &arena};
    int status;
    if (command_parse(&cli_cost_command, argc, argv, &given, &words, &arena, &status)) {
        const char *folder = program_find_machines(&arena);
        status = folder ? command_load_machine(&table.machine, &given.machine, folder) : COMMAND_ERROR;
        if (status == COMMAND_DONE)
            status = fill(&table, &words);
        if (status == COMMAND_DONE)
            status = show(&table, &given);
    }
    base_arena_free(&arena);
    return status;
}
