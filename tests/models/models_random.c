/* Random programs under every divergence model: final memory and the number of instructions of each thread equal those
 * of the functional run, and every run ends.
 *
 * - models_random SEED COUNT [MODEL]: programs 0 to COUNT - 1 of the seed, on targets drawn for each
 * - models_random --threads SEED COUNT [MODEL]: the same, often with more blocks than the SMs hold, on 1, 2, 3 and 7
 *   host threads, with the counters of a run in which every block takes its turn
 * - models_random --ptx SEED NUMBER: the PTX of one program
 * - models_random --one SEED NUMBER MODEL SCHEDULER MACHINE
 * - models_random --shrink SEED NUMBER MODEL SCHEDULER MACHINE: drops statements while it fails
 *
 * MACHINE may be `functional`. MODEL is a name (drawn with options), with a colon one set of options, or a plug-in:
 * ./mine.so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "differential/random.h"
#include "divergence/divergence.h"
#include "run.h"
#include "sched/sched.h"

enum { MOST_FAILURES = 10, TARGETS_OF_MODEL = 2, CHECK_EVERY = 23, FEW_BLOCKS = 6 };

struct tester {
    uint64_t seed;
    const char *model;           /* NULL: all */
    bool has_threads;            /* compares runs on several host threads with those on one */
    uint32_t n_sms, most_blocks; /* has_threads: of the targets of a program */
    struct machines machines;
    unsigned n_failures;
    uint64_t n_runs, n_refused;
};

/* --- targets --- */

static void append(char *text, size_t size, const char *separator, const char *more, size_t length) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.*s", separator, (int)length, more);
}

static void append_value(char *text, size_t size, const struct config_plugin_option *option, struct random *random) {
    char number[16];
    if (option->type == CONFIG_PLUGIN_CHOICE) {
        unsigned n = 1;
        for (const char *at = option->choices; *at; at++)
            n += *at == '|';
        const char *word = option->choices;
        for (unsigned skip = random_below(random, n); skip > 0; skip--)
            word = strchr(word, '|') + 1;
        append(text, size, "=", word, strcspn(word, "|"));
        return;
    }
    static const uint32_t numbers[] = {0, 1, 2, 3, 4, 8, 16, 32, 64, 200};
    uint32_t value = numbers[random_below(random, sizeof numbers / sizeof numbers[0])];
    value = value < option->least ? option->least : value > option->most ? option->most : value;
    snprintf(number, sizeof number, "%" PRIu32, value);
    append(text, size, "=", number, strlen(number));
}

/* Draws NAME, NAME:PRESET or NAME:KEY=VALUE,...; drops what does not fit. */
static void draw_options(char *text, size_t size, const char *name, const struct config_plugin_option *option,
                         const struct config_preset *preset, struct random *random) {
    const char *separator = ":";
    unsigned n_presets = 0;
    snprintf(text, size, "%s", name);
    while (preset && preset[n_presets].name)
        n_presets++;
    if (n_presets && random_chance(random, 50)) {
        const char *word = preset[random_below(random, n_presets)].name;
        append(text, size, separator, word, strlen(word));
        separator = ",";
    }
    for (; option && option->name; option++) {
        if (!random_chance(random, 35) || strlen(text) + strlen(option->name) + 12 >= size)
            continue;
        append(text, size, separator, option->name, strlen(option->name));
        append_value(text, size, option, random);
        separator = ",";
    }
}

static void draw_target(const struct tester *tester, const struct divergence_ops *ops, bool has_options,
                        struct random *random, struct target *target) {
    size_t n_schedulers;
    const struct sched_ops *const *schedulers = sched_list(&n_schedulers);
    const struct sched_ops *scheduler = schedulers[random_below(random, (uint32_t)n_schedulers)];
    while (ops->chip && (scheduler->blocks || scheduler->choose_block)) /* refused */
        scheduler = schedulers[random_below(random, (uint32_t)n_schedulers)];
    uint32_t machine = random_below(random, tester->machines.count);
    if (tester->has_threads && random_chance(random, 50)) /* the last, on which SMs go on when blocks end */
        machine = tester->machines.count - 1;
    *target = (struct target){.machine = &tester->machines.machine[machine]};
    snprintf(target->scheduler, sizeof target->scheduler, "%s", scheduler->name);
    snprintf(target->divergence, sizeof target->divergence, "%s", ops->name);
    if (tester->model && (strchr(tester->model, ':') || config_plugin_file_length(tester->model)))
        snprintf(target->divergence, sizeof target->divergence, "%s", tester->model);
    else if (has_options)
        draw_options(target->divergence, sizeof target->divergence, ops->name, ops->option, ops->preset, random);
}

/* --- runs --- */

static void tell(struct tester *tester, const struct program *program, const struct target *target, const char *what) {
    tester->n_failures++;
    if (target->machine && tester->has_threads)
        printf("program %" PRIu64 " of seed %" PRIu64 ", model %s, scheduler %s, machine %s with %u SMs: %s\n"
               "    models_random --threads %" PRIu64 " %" PRIu64 "\n",
               program->number, program->seed, target->divergence, target->scheduler, target->machine->name,
               target->n_sms, what, program->seed, program->number + 1);
    else if (target->machine)
        printf("program %" PRIu64 " of seed %" PRIu64 ", model %s, scheduler %s, machine %s: %s\n"
               "    models_random --shrink %" PRIu64 " %" PRIu64 " %s %s %s\n",
               program->number, program->seed, target->divergence, target->scheduler, target->machine->name, what,
               program->seed, program->number, target->divergence, target->scheduler, target->machine->name);
    else
        printf("program %" PRIu64 " of seed %" PRIu64 ", functional: %s\n    models_random --shrink %" PRIu64
               " %" PRIu64 " - - functional\n",
               program->number, program->seed, what, program->seed, program->number);
    fflush(stdout);
}

/* Returns whether the program has the same memory and counters on one and several host threads as in `turns`, in which
 * every block takes its turn. */
static bool is_same_on_threads(const struct program *program, const struct text *text, struct target target,
                               const struct outcome *turns, char *what, size_t size) {
    static const uint32_t threads[] = {1, 2, 3, 7};
    bool is_same = true;
    for (unsigned i = 0; i < sizeof threads / sizeof *threads && is_same; i++) {
        struct outcome outcome;
        target.n_threads = threads[i];
        run_program(program, text, &target, 0, &outcome);
        is_same = outcome_agrees(&outcome, turns, program, true, what, size);
        for (unsigned k = 0; k < STATS_N_COUNTERS && is_same; k++) {
            is_same = outcome.counters.value[k] == turns->counters.value[k];
            snprintf(what, size, "%s: %" PRIu64 " in turns, %" PRIu64 " otherwise", stats_list[k].name,
                     turns->counters.value[k], outcome.counters.value[k]);
        }
        outcome_free(&outcome);
        if (!is_same) {
            size_t used = strlen(what);
            snprintf(what + used, size - used, " (grid of %u, at most %u blocks on an SM, %u threads)", program->grid,
                     target.most_blocks, threads[i]);
        }
    }
    return is_same;
}

static void test_model(struct tester *tester, const struct program *program, const struct text *text,
                       const struct outcome *expected, const struct divergence_ops *ops, struct random *random) {
    bool may_go_on = tester->has_threads && ops->shares_sms; /* SMs, when blocks end: more than one way for turns.c */
    for (unsigned i = 0; i < (may_go_on ? 2 : 1) * TARGETS_OF_MODEL; i++) {
        struct target target;
        struct outcome outcome;
        char what[1100];
        draw_target(tester, ops, i > 0, random, &target);
        target.n_sms = tester->n_sms;
        target.most_blocks = tester->most_blocks;
        bool is_checked = random_chance(random, 50) || tester->has_threads;
        run_program(program, text, &target, is_checked * CHECK_EVERY, &outcome);
        tester->n_runs += !outcome.is_refused;
        tester->n_refused += outcome.is_refused;
        if (!outcome.is_refused && !outcome_agrees(&outcome, expected, program, false, what, sizeof what))
            tell(tester, program, &target, what);
        else if (tester->has_threads && !outcome.is_refused &&
                 !is_same_on_threads(program, text, target, &outcome, what, sizeof what))
            tell(tester, program, &target, what);
        outcome_free(&outcome);
    }
}

/* Returns whether timed runs of the program would take too long. */
static bool is_long(const struct outcome *outcome) {
    return *outcome->error || outcome->counters.warp_instructions > MOST_INSTRUCTIONS;
}

/* Chooses how many blocks the SMs hold, and mostly a grid with some more. */
static void draw_places(struct tester *tester, struct program *program, struct random *random) {
    tester->n_sms = 2 + random_below(random, random_chance(random, 75) ? 7 : 23);
    tester->most_blocks = 1 + random_below(random, 3);
    uint32_t n_places = tester->n_sms * tester->most_blocks;
    if (random_chance(random, 25))
        tester->most_blocks = 0;
    if (random_chance(random, 75))
        program->grid = n_places + random_below(random, 2 * n_places);
}

/* Runs the program without timing, with fewer blocks if it takes long. */
static void run_functional(struct program *program, const struct text *text, struct outcome *outcome) {
    run_program(program, text, &(struct target){.machine = NULL}, 0, outcome);
    while (is_long(outcome) && program->grid > FEW_BLOCKS) {
        outcome_free(outcome);
        program->grid /= 2;
        run_program(program, text, &(struct target){.machine = NULL}, 0, outcome);
    }
}

static void test_program(struct tester *tester, uint64_t number) {
    struct program program;
    struct text text = {0};
    struct outcome expected;
    struct random random = random_stream(tester->seed, number, 3);
    size_t n_models, name_length = tester->model ? strcspn(tester->model, ":") : 0;
    const struct divergence_ops *const *models = divergence_list(&n_models);
    program_make(&program, tester->seed, number);
    program_emit(&program, &text);
    if (tester->has_threads)
        draw_places(tester, &program, &random);
    run_functional(&program, &text, &expected);
    if (*expected.error)
        tell(tester, &program, &(struct target){.machine = NULL}, expected.error);
    bool is_skipped = is_long(&expected);
    if (tester->model && config_plugin_file_length(tester->model) && !is_skipped)
        test_model(tester, &program, &text, &expected, models[0], &random);
    for (size_t i = 0; i < n_models && !is_skipped; i++) {
        bool is_wanted = !tester->model || (strlen(models[i]->name) == name_length &&
                                            strncmp(models[i]->name, tester->model, name_length) == 0);
        if (is_wanted)
            test_model(tester, &program, &text, &expected, models[i], &random);
    }
    outcome_free(&expected);
    text_free(&text);
    program_free(&program);
}

/* --- one program --- */

static bool fails(const struct program *program, const struct target *target, char *what, size_t size) {
    struct text text = {0};
    struct outcome expected, outcome = {.is_refused = true};
    program_emit(program, &text);
    run_program(program, &text, &(struct target){.machine = NULL}, 0, &expected);
    bool has_failed = *expected.error;
    if (has_failed)
        snprintf(what, size, "functional: %s", expected.error);
    else if (target->machine)
        run_program(program, &text, target, 1, &outcome);
    if (*outcome.error && outcome.is_refused)
        snprintf(what, size, "refused: %s", outcome.error);
    if (!outcome.is_refused)
        has_failed = !outcome_agrees(&outcome, &expected, program, false, what, size);
    outcome_free(&expected);
    outcome_free(&outcome);
    text_free(&text);
    return has_failed && !*expected.error == !!target->machine;
}

static void shrink(struct program *program, const struct target *target) {
    char what[1100];
    uint32_t grid = program->grid;
    for (program->grid = 1; program->grid < grid && !fails(program, target, what, sizeof what);)
        program->grid++;
    for (bool has_changed = true; has_changed;) {
        has_changed = false;
        for (unsigned i = 0; i < program_count(program);) {
            struct statement *statement = program_statement(program, i);
            statement->is_dropped = true;
            if (fails(program, target, what, sizeof what)) {
                has_changed = true;
                continue;
            }
            statement->is_dropped = false;
            i++;
        }
    }
}

static void print_ptx(const struct program *program) {
    struct text text = {0};
    program_emit(program, &text);
    printf("// block %u x %u, grid %u\n%s", program->block[0], program->block[1], program->grid, text.data);
    text_free(&text);
}

static int test_one(struct tester *tester, char **argv, bool shrinks) {
    struct program program;
    struct target target = {0};
    char what[1100] = "agrees";
    program_make(&program, strtoull(argv[0], NULL, 0), strtoull(argv[1], NULL, 0));
    snprintf(target.divergence, sizeof target.divergence, "%s", argv[2]);
    snprintf(target.scheduler, sizeof target.scheduler, "%s", argv[3]);
    target.machine = machines_find(&tester->machines, argv[4]);
    if (!target.machine && strcmp(argv[4], "functional") != 0) {
        fprintf(stderr, "these tests have no machine '%s'\n", argv[4]);
        return 2;
    }
    bool has_failed = fails(&program, &target, what, sizeof what);
    if (has_failed && shrinks) {
        shrink(&program, &target);
        print_ptx(&program);
        fails(&program, &target, what, sizeof what);
    }
    printf("%s\n", what);
    program_free(&program);
    return has_failed;
}

/* --- the command line --- */

static int test_all(struct tester *tester, uint64_t count) {
    for (uint64_t i = 0; i < count && tester->n_failures < MOST_FAILURES; i++)
        test_program(tester, i);
    printf("%" PRIu64 " runs, %" PRIu64 " refused by a rule, %u failures\n", tester->n_runs, tester->n_refused,
           tester->n_failures);
    return tester->n_failures != 0 || tester->n_runs == 0;
}

int main(int argc, char **argv) {
    static struct tester tester;
    machines_load(&tester.machines);
    if (argc == 7 && (strcmp(argv[1], "--one") == 0 || strcmp(argv[1], "--shrink") == 0))
        return test_one(&tester, argv + 2, strcmp(argv[1], "--shrink") == 0);
    if (argc == 4 && strcmp(argv[1], "--ptx") == 0) {
        struct program program;
        program_make(&program, strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0));
        print_ptx(&program);
        program_free(&program);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "--threads") == 0) {
        tester.has_threads = true;
        argc--;
        argv++;
    }
    if (argc < 3 || argc > 4 || argv[1][0] == '-') {
        fprintf(stderr, "usage: models_random [--threads] SEED COUNT [MODEL], or with --ptx, --one, --shrink: see "
                        "models_random.c\n");
        return 2;
    }
    tester.seed = strtoull(argv[1], NULL, 0);
    tester.model = argc == 4 ? argv[3] : NULL;
    return test_all(&tester, strtoull(argv[2], NULL, 0));
}
