/* `heddle list [WHAT]`: lists the contents of Heddle. Each kind is one row of `kinds`. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "command/machine_options.h"
#include "command/output.h"
#include "divergence/divergence.h"
#include "experiment/session.h"
#include "experiment/store.h"
#include "mem/dram_policy.h"
#include "program/place.h"
#include "program/target.h"
#include "program/workloads.h"
#include "report/report.h"
#include "sched/sched.h"

struct list_options {
    bool names, json;
    struct command_machine_options machine;
};

static const struct command_option options[] = {
    {"--names", 0, COMMAND_FLAG, NULL, "the names alone, one on a line", offsetof(struct list_options, names), 0, 0},
    {"--json", 0, COMMAND_FLAG, NULL, "an array of JSON objects", offsetof(struct list_options, json), 0, 0},
    COMMAND_SET_ROW(offsetof(struct list_options, machine)),
};

const struct command cli_list_command = {
    .name = "list",
    .summary = "list what Heddle includes: workloads, machines, policies, experiments, statistics",
    .usage = "list [workloads|aliases|machines [NAME|FILE.yaml]|options|schedulers|divergence|dram|\n"
             "                    experiments|stats|commands] [options]",
    .text = "Without a word it prints the names of everything. Workloads are described at size small: grid and\n"
            "block of the first launch, conditional branches in the kernels, the share of instructions that\n"
            "access global or local memory or a texture, and how much warps diverge ('heddle help\n"
            "characterize'). An alias is a paper's own name for a workload. At size paper it has the paper's\n"
            "input, at other sizes the paper's variant of the program. A single machine is shown as YAML that\n"
            "you can change and use as your own.\n",
    .examples = "  heddle list\n"
                "  heddle list workloads --names\n"
                "  heddle list schedulers\n"
                "  heddle list machines gtx480 --set l1.size=32K >mine.yaml\n",
    .options = options,
    .n_options = sizeof options / sizeof options[0],
    .main = cli_list,
};

/* One list. */
struct list {
    const struct list_options *given;
    const char *subject; /* the word after the list's name, or NULL */
    struct base_arena *arena;
    struct config_machine *machines; /* for the list of machines */
    unsigned n_machines;
    const struct config_policies *policies;       /* for the lists of policies */
    const struct experiment *experiment;          /* for the list of experiments; NULL: only their names */
    const char **experiment_name, ***claim_state; /* claim_state[experiment][claim]; NULL: never judged */
    unsigned n_experiments;
};

/* ---- Workloads --------------------------------------------------------------------------------------------------- */

/* "bfs_1, bfs_2" */
static const char *other_names(const struct program_workload *workload, struct base_arena *arena) {
    const char *names = "";
    for (unsigned i = 0; i < program_n_aliases; i++)
        if (strcmp(program_aliases[i].workload, workload->name) == 0)
            names = base_arena_printf(arena, "%s%s%s", names, *names ? ", " : "", program_aliases[i].name);
    return names;
}

static void fact_cells(struct report_table *table, const struct program_workload_facts *facts) {
    if (!facts) {
        for (unsigned i = 0; i < 3; i++)
            report_table_cell(table, "-");
        return;
    }
    report_table_cell(table, "%u", facts->branches);
    report_table_cell(table, "%.1f %%", facts->long_percent);
    report_table_cell(table, "%s", facts->divergence);
}

static void workload_rows(const struct list *list, struct report_table *table) {
    table->n_columns = 8;
    table->is_left[3] = table->is_left[4] = false;
    report_table_cell(table, "workload");
    report_table_cell(table, "also as");
    report_table_cell(table, "grid x block");
    report_table_cell(table, "branches");
    report_table_cell(table, "long");
    report_table_cell(table, "divergence");
    report_table_cell(table, "papers");
    report_table_cell(table, "what it does");
    for (unsigned i = 0; i < program_n_workloads; i++) {
        const struct program_workload *workload = &program_workloads[i];
        report_table_cell(table, "%s", workload->name);
        report_table_cell(table, "%s", other_names(workload, list->arena));
        report_table_cell(table, "%s", workload->shape);
        fact_cells(table, program_find_facts(workload));
        report_table_cell(table, "%s", workload->papers);
        report_table_cell(table, "%s", workload->summary);
    }
}

static const char *workload_name(const struct list *list, unsigned i) {
    (void)list;
    return i < program_n_workloads ? program_workloads[i].name : NULL;
}

static json_t *workload_json(const struct list *list, unsigned i) {
    (void)list;
    const struct program_workload *workload = &program_workloads[i];
    const struct program_workload_facts *facts = program_find_facts(workload);
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "name", workload->name, "summary", workload->summary, "papers",
                               workload->papers, "shape", workload->shape);
    json_object_set_new(object, "branches", facts ? json_integer(facts->branches) : json_null());
    json_object_set_new(object, "long_percent", facts ? json_real(facts->long_percent) : json_null());
    json_object_set_new(object, "divergence", facts ? json_string(facts->divergence) : json_null());
    return object;
}

/* ---- Aliases ----------------------------------------------------------------------------------------------------- */

static void alias_rows(const struct list *list, struct report_table *table) {
    (void)list;
    report_table_cell(table, "alias");
    report_table_cell(table, "workload");
    report_table_cell(table, "papers");
    report_table_cell(table, "options at size small");
    report_table_cell(table, "medium");
    report_table_cell(table, "paper");
    for (unsigned i = 0; i < program_n_aliases; i++) {
        const struct program_alias *alias = &program_aliases[i];
        report_table_cell(table, "%s", alias->name);
        report_table_cell(table, "%s", alias->workload);
        report_table_cell(table, "%s", alias->papers);
        for (unsigned size = 0; size < 3; size++)
            report_table_cell(table, "%s", *alias->arguments[size] ? alias->arguments[size] : "none");
    }
}

static const char *alias_name(const struct list *list, unsigned i) {
    (void)list;
    return i < program_n_aliases ? program_aliases[i].name : NULL;
}

static json_t *alias_json(const struct list *list, unsigned i) {
    (void)list;
    const struct program_alias *alias = &program_aliases[i];
    return json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s}}", "name", alias->name, "workload", alias->workload, "papers",
                     alias->papers, "arguments", "small", alias->arguments[0], "medium", alias->arguments[1], "paper",
                     alias->arguments[2]);
}

/* ---- Statistics -------------------------------------------------------------------------------------------------- */

struct statistic {
    const char *name, *meaning;
};

/* Returns the counters in results, then the statistics computed from them. The name is NULL after the last. */
static struct statistic statistic(unsigned i) {
    for (unsigned k = 0; k < STATS_N_COUNTERS; k++)
        if (stats_is_shown(&stats_list[k], true) && i-- == 0)
            return (struct statistic){stats_list[k].name, stats_list[k].meaning};
    if (i < report_n_derived)
        return (struct statistic){report_derived[i].name, report_derived[i].meaning};
    return (struct statistic){0};
}

static void statistic_rows(const struct list *list, struct report_table *table) {
    (void)list;
    table->n_columns = 2;
    report_table_cell(table, "statistic");
    report_table_cell(table, "what it counts");
    for (unsigned i = 0; statistic(i).name; i++) {
        report_table_cell(table, "%s", statistic(i).name);
        report_table_cell(table, "%s", statistic(i).meaning);
    }
}

static const char *statistic_name(const struct list *list, unsigned i) {
    (void)list;
    return statistic(i).name;
}

static json_t *statistic_json(const struct list *list, unsigned i) {
    (void)list;
    return json_pack("{s:s, s:s}", "name", statistic(i).name, "summary", statistic(i).meaning);
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static void command_rows(const struct list *list, struct report_table *table) {
    (void)list;
    table->n_columns = 2;
    report_table_cell(table, "command");
    report_table_cell(table, "what it does");
    for (unsigned i = 0; i < cli_n_commands; i++) {
        report_table_cell(table, "%s", cli_commands[i]->name);
        report_table_cell(table, "%s", cli_commands[i]->summary);
    }
}

static const char *command_name(const struct list *list, unsigned i) {
    (void)list;
    return i < cli_n_commands ? cli_commands[i]->name : NULL;
}

static json_t *command_json(const struct list *list, unsigned i) {
    (void)list;
    return json_pack("{s:s, s:s}", "name", cli_commands[i]->name, "summary", cli_commands[i]->summary);
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

/* Loads all bundled machines, or the one named. */
static int load_machines(struct list *list) {
    const char *folder = program_find_machines(list->arena);
    if (!folder)
        return COMMAND_ERROR;
    char error[CONFIG_ERROR_BYTES];
    struct command_machine_options given = list->given->machine;
    if (!list->subject && given.set.count)
        return command_fail(COMMAND_USAGE, "--set changes one machine: heddle list machines NAME --set %s",
                            given.set.item[0]);
    const char **names = &list->subject;
    list->n_machines = 1;
    if (!list->subject)
        names = config_list(folder, list->arena, &list->n_machines, error, sizeof error);
    if (!names)
        return command_fail(COMMAND_ERROR, "%s", error);
    list->machines = BASE_ARENA_ARRAY(list->arena, struct config_machine, list->n_machines);
    int status = COMMAND_DONE;
    for (unsigned i = 0; i < list->n_machines && status == COMMAND_DONE; i++) {
        given.machine = names[i];
        status = command_load_machine(&list->machines[i], &given, folder);
    }
    return status;
}

static void machine_rows(const struct list *list, struct report_table *table) {
    report_table_cell(table, "machine");
    report_table_cell(table, "SMs x threads");
    report_table_cell(table, "warp");
    report_table_cell(table, "what it is");
    for (unsigned i = 0; i < list->n_machines; i++) {
        const struct config_machine *machine = &list->machines[i];
        report_table_cell(table, "%s", machine->name);
        report_table_cell(table, "%u x %u", machine->sm.count, machine->sm.threads);
        report_table_cell(table, "%u", machine->sm.warp_size);
        report_table_cell(table, "%s", machine->description);
    }
}

static const char *machine_name(const struct list *list, unsigned i) {
    return i < list->n_machines ? list->machines[i].name : NULL;
}

static json_t *machine_json(const struct list *list, unsigned i) {
    const struct config_machine *machine = &list->machines[i];
    json_t *values = json_object();
    for (unsigned j = 0; j < config_n_options; j++) {
        char text[CONFIG_VALUE_BYTES];
        config_format(&config_options[j], machine, text);
        json_object_set_new(values, config_options[j].name, json_string(text));
    }
    return json_pack("{s:s, s:s, s:o}", "name", machine->name, "summary", machine->description, "options", values);
}

/* ---- Options of machines ----------------------------------------------------------------------------------------- */

static void option_rows(const struct list *list, struct report_table *table) {
    (void)list;
    report_table_cell(table, "option");
    report_table_cell(table, "takes");
    report_table_cell(table, "default");
    report_table_cell(table, "meaning");
    for (unsigned i = 0; i < config_n_options; i++) {
        const struct config_option *option = &config_options[i];
        char takes[CONFIG_VALUE_BYTES];
        config_describe(option, takes);
        report_table_cell(table, "%s", option->name);
        report_table_cell(table, "%s", takes);
        report_table_cell(table, "%s", option->initial);
        report_table_cell(table, "%s%s%s", option->unit, *option->unit ? "; " : "", option->help);
    }
}

static const char *option_name(const struct list *list, unsigned i) {
    (void)list;
    return i < config_n_options ? config_options[i].name : NULL;
}

static json_t *option_json(const struct list *list, unsigned i) {
    (void)list;
    const struct config_option *option = &config_options[i];
    char takes[CONFIG_VALUE_BYTES];
    config_describe(option, takes);
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "name", option->name, "summary", option->help, "takes", takes,
                     "default", option->initial, "unit", option->unit);
}

/* ---- Policies ---------------------------------------------------------------------------------------------------- */

static const char *default_text(const struct config_plugin_option *option, struct base_arena *arena) {
    char text[256];
    config_plugin_format_value(option, option->default_value, text, sizeof text);
    return base_arena_copy(arena, text, strlen(text));
}

static const char *range_text(const struct config_plugin_option *option, struct base_arena *arena) {
    return option->choices ? option->choices : base_arena_printf(arena, "%u..%u", option->least, option->most);
}

static const char *policy_name(const struct list *list, unsigned i) {
    const void *table = list->policies->table(i);
    return table ? list->policies->plugin_of(table).name : NULL;
}

/* Adds a row for each option and preset of a policy, with its default. */
static void plugin_rows(const struct list *list, struct report_table *table, const struct config_plugin *plugin) {
    report_table_cell(table, "%s", plugin->name);
    report_table_cell(table, "%s", "");
    report_table_cell(table, "%s", plugin->help);
    for (const struct config_plugin_option *option = plugin->option; option && option->name; option++) {
        report_table_cell(table, "  %s=%s", option->name, default_text(option, list->arena));
        report_table_cell(table, "%s", range_text(option, list->arena));
        report_table_cell(table, "%s", option->help);
    }
    for (const struct config_preset *preset = plugin->preset; preset && preset->name; preset++) {
        report_table_cell(table, "  %s", preset->name);
        report_table_cell(table, "%s", "");
        report_table_cell(table, "%s: %s", preset->help, preset->values);
    }
}

static json_t *plugin_json(const struct list *list, const struct config_plugin *plugin) {
    json_t *array = json_array(), *presets = json_array();
    for (const struct config_plugin_option *option = plugin->option; option && option->name; option++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s, s:s}", "name", option->name, "summary", option->help, "takes",
                                        range_text(option, list->arena), "default", default_text(option, list->arena)));
    for (const struct config_preset *preset = plugin->preset; preset && preset->name; preset++)
        json_array_append_new(presets, json_pack("{s:s, s:s, s:s}", "name", preset->name, "summary", preset->help,
                                                 "values", preset->values));
    json_t *object = json_pack("{s:s, s:s, s:o}", "name", plugin->name, "summary", plugin->help, "options", array);
    if (json_array_size(presets))
        json_object_set(object, "presets", presets);
    json_decref(presets);
    return object;
}

static void policy_rows(const struct list *list, struct report_table *table) {
    table->n_columns = 3;
    report_table_cell(table, "%s", list->policies->kind);
    report_table_cell(table, "takes");
    report_table_cell(table, "what it does");
    const void *policy;
    for (unsigned i = 0; (policy = list->policies->table(i)); i++) {
        struct config_plugin plugin = list->policies->plugin_of(policy);
        plugin_rows(list, table, &plugin);
    }
}

static json_t *policy_json(const struct list *list, unsigned i) {
    struct config_plugin plugin = list->policies->plugin_of(list->policies->table(i));
    return plugin_json(list, &plugin);
}

/* ---- Experiments ------------------------------------------------------------------------------------------------- */

static int load_experiments(struct list *list) {
    struct experiment_store *store;
    if (list->given->names) {
        list->experiment_name = experiment_names(list->arena, &list->n_experiments);
        return COMMAND_DONE;
    }
    struct experiment_set all;
    int status = experiment_load_all(&all, list->arena);
    if (status != COMMAND_DONE)
        return status;
    list->experiment = all.item;
    list->n_experiments = all.count;
    list->claim_state = BASE_ARENA_ARRAY(list->arena, const char **, all.count);
    experiment_store_open_to_read(&store, experiment_store_path(NULL, list->arena));
    for (unsigned i = 0; i < all.count; i++) {
        list->claim_state[i] = BASE_ARENA_ARRAY(list->arena, const char *, all.item[i].n_claims);
        for (unsigned k = 0; k < all.item[i].n_claims && store; k++)
            list->claim_state[i][k] =
                experiment_store_claim(store, all.item[i].name, all.item[i].claim[k].says, list->arena);
    }
    experiment_store_close(store);
    return COMMAND_DONE;
}

static const char *state_of(const struct list *list, unsigned i, unsigned k) {
    return list->claim_state[i][k] ? list->claim_state[i][k] : "not run";
}

/* A paper's name is the part before the first dash. */
static bool is_of_same_paper(const char *a, const char *b) {
    size_t length = strcspn(a, "-");
    return length == strcspn(b, "-") && strncmp(a, b, length) == 0;
}

/* Adds each experiment with its claims, and their last results. */
static void experiment_rows(const struct list *list, struct report_table *table) {
    table->n_columns = 3;
    report_table_cell(table, "experiment");
    report_table_cell(table, "claims");
    report_table_cell(table, "what it shows, and what the paper claims");
    for (unsigned i = 0; i < list->n_experiments; i++) {
        const struct experiment *experiment = &list->experiment[i];
        if (i > 0 && !is_of_same_paper(list->experiment[i - 1].name, experiment->name))
            for (unsigned column = 0; column < 3; column++)
                report_table_cell(table, "%s", "");
        report_table_cell(table, "%s", experiment->name);
        report_table_cell(table, "%s", "");
        report_table_cell(table, "%s", experiment->title);
        for (unsigned k = 0; k < experiment->n_claims; k++) {
            report_table_cell(table, "%s", "");
            report_table_cell(table, "%s", state_of(list, i, k));
            report_table_cell(table, "  %s", experiment->claim[k].says);
        }
    }
}

static const char *experiment_name(const struct list *list, unsigned i) {
    if (i >= list->n_experiments)
        return NULL;
    return list->experiment ? list->experiment[i].name : list->experiment_name[i];
}

static json_t *experiment_json(const struct list *list, unsigned i) {
    const struct experiment *experiment = &list->experiment[i];
    json_t *claims = json_array();
    for (unsigned k = 0; k < experiment->n_claims; k++)
        json_array_append_new(
            claims, json_pack("{s:s, s:s}", "says", experiment->claim[k].says, "state", state_of(list, i, k)));
    return json_pack("{s:s, s:s, s:s*, s:s*, s:o}", "name", experiment->name, "title", experiment->title, "source",
                     experiment->source, "result", experiment->result, "claims", claims);
}

/* ---- Kinds ------------------------------------------------------------------------------------------------------- */

struct list_kind {
    const char *name;
    const char *heading;             /* in the overview; NULL: not there */
    int (*start)(struct list *list); /* loads the list's data, or prints why it cannot; NULL: none needed */
    void (*rows)(const struct list *list, struct report_table *table);
    const char *(*item_name)(const struct list *list, unsigned i); /* NULL after the last */
    json_t *(*item_json)(const struct list *list, unsigned i);
    const struct config_policies *policies;
};

static const struct list_kind kinds[] = {
    {"workloads", "workloads, for heddle run", NULL, workload_rows, workload_name, workload_json, NULL},
    {"aliases", "papers' names for workloads", NULL, alias_rows, alias_name, alias_json, NULL},
    {"machines", "machines, for --machine", load_machines, machine_rows, machine_name, machine_json, NULL},
    {"options", NULL, NULL, option_rows, option_name, option_json, NULL},
    {"schedulers", "warp schedulers, for --scheduler", NULL, policy_rows, policy_name, policy_json, &sched_policies},
    {"divergence", "divergence models, for --divergence", NULL, policy_rows, policy_name, policy_json,
     &divergence_policies},
    {"dram", "DRAM policies, for --dram-policy", NULL, policy_rows, policy_name, policy_json, &mem_dram_policies},
    {"experiments", "experiments, for heddle paper", load_experiments, experiment_rows, experiment_name,
     experiment_json, NULL},
    {"stats", "statistics", NULL, statistic_rows, statistic_name, statistic_json, NULL},
    {"commands", NULL, NULL, command_rows, command_name, command_json, NULL},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static int print_json(const struct list_kind *kind, const struct list *list) {
    json_t *array = json_array();
    for (unsigned i = 0; kind->item_name(list, i); i++)
        json_array_append_new(array, kind->item_json(list, i));
    int failed = json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
    return failed ? command_fail(COMMAND_ERROR, "cannot write to standard output") : COMMAND_DONE;
}

static int print_kind(const struct list_kind *kind, const struct list *list) {
    if (list->given->json)
        return print_json(kind, list);
    if (list->given->names) {
        for (unsigned i = 0; kind->item_name(list, i); i++)
            puts(kind->item_name(list, i));
        return COMMAND_DONE;
    }
    if (list->subject) {
        config_dump(list->machines, stdout);
        return COMMAND_DONE;
    }
    struct report_table table = report_table_new(list->arena, 4);
    memset(table.is_left, true, sizeof table.is_left);
    kind->rows(list, &table);
    report_table_print(&table, stdout, false);
    return COMMAND_DONE;
}

/* ---- The overview ------------------------------------------------------------------------------------------------ */

/* Names of one paragraph, wrapped to the terminal. */
struct paragraph {
    unsigned used, columns;
};

static void print_name(struct paragraph *paragraph, const char *name, bool is_last) {
    unsigned length = (unsigned)strlen(name) + !is_last;
    if (paragraph->used && paragraph->used + 1 + length > paragraph->columns) {
        putchar('\n');
        paragraph->used = 0;
    }
    paragraph->used += (unsigned)printf("%s%s%s", paragraph->used ? " " : "  ", name, is_last ? "\n" : ",");
}

static void print_names(const struct list_kind *kind, const struct list *list) {
    struct paragraph paragraph = {.columns = command_columns(stdout)};
    for (unsigned i = 0; kind->item_name(list, i); i++)
        print_name(&paragraph, kind->item_name(list, i), !kind->item_name(list, i + 1));
}

/* Uses only the names of experiments, which cost no parsing. */
static int print_overview(struct list *list) {
    struct list_options names = {.names = true};
    list->given = &names;
    for (unsigned i = 0; i < N_KINDS; i++) {
        const struct list_kind *kind = &kinds[i];
        int status = kind->heading && kind->start ? kind->start(list) : COMMAND_DONE;
        if (status != COMMAND_DONE)
            return status;
        if (!kind->heading)
            continue;
        list->policies = kind->policies;
        printf("%s%s: 'heddle list %s' says more\n", i ? "\n" : "", kind->heading, kind->name);
        print_names(kind, list);
    }
    printf("'heddle list options' lists the %u keys of a machine for --set; 'heddle help new' explains how to write a "
           "policy of your own\n",
           config_n_options);
    return COMMAND_DONE;
}

static int refuse_kind(const char *name, struct base_arena *arena) {
    struct base_nearest nearest = base_nearest_to(name);
    for (unsigned i = 0; i < N_KINDS; i++)
        base_nearest_offer(&nearest, kinds[i].name);
    if (nearest.best)
        return command_fail(COMMAND_USAGE, "no list '%s'; did you mean '%s'?", name, nearest.best);
    const char *all = "";
    for (unsigned i = 0; i < N_KINDS; i++)
        all = base_arena_printf(arena, "%s%s%s", all, i ? ", " : "", kinds[i].name);
    return command_fail(COMMAND_USAGE, "no list '%s'; there are: %s", name, all);
}

static int run_list(const struct command_words *words, struct list *list) {
    const char *name = words->count ? words->item[0] : NULL;
    if (!name && (list->given->names || list->given->json))
        return command_fail(COMMAND_USAGE, "--%s needs a list: heddle list workloads --%s",
                            list->given->names ? "names" : "json", list->given->names ? "names" : "json");
    if (!name && !list->given->machine.set.count)
        return print_overview(list);
    unsigned i = 0;
    while (name && i < N_KINDS && strcmp(kinds[i].name, name) != 0)
        i++;
    if (i == N_KINDS)
        return refuse_kind(name, list->arena);
    bool is_of_machines = kinds[i].start == load_machines;
    unsigned most = is_of_machines ? 2 : 1;
    if (words->count > most)
        return command_fail(COMMAND_USAGE, "list %s takes no '%s'", name, words->item[most]);
    if (!is_of_machines && list->given->machine.set.count)
        return command_fail(COMMAND_USAGE, "--set is for machines: heddle list machines NAME --set %s",
                            list->given->machine.set.item[0]);
    list->policies = kinds[i].policies;
    list->subject = words->count > 1 ? words->item[1] : NULL;
    int status = kinds[i].start ? kinds[i].start(list) : COMMAND_DONE;
    return status == COMMAND_DONE ? print_kind(&kinds[i], list) : status;
}

int cli_list(int argc, char **argv) {
    struct base_arena arena = {0};
    struct list_options given = {0};
    struct command_words words = {0};
    struct list list = {.given = &given, .arena = &arena};
    int status = COMMAND_DONE;
    if (command_parse(&cli_list_command, argc, argv, &given, &words, &arena, &status))
        status = run_list(&words, &list);
    base_arena_free(&arena);
    return status;
}
