/* Mistakes on the command line: one line with the correction, and the exit status of wrong usage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "command.h"

static void misspelt_names_get_the_nearest_right_one(void **state) {
    (void)state;
    expect_refusal(2, "rnu bfs", "heddle: no command 'rnu'; did you mean 'run'?");
    expect_refusal(2, "bfs", "did you mean 'heddle run bfs'?");
    expect_refusal(2, "help bnch", "did you mean 'bench'?");
    expect_refusal(2, "run bsf --functional", "heddle: no workload and no file 'bsf'; did you mean 'bfs'?");
    expect_refusal(2, "run bfs --functionl", "heddle: unknown option '--functionl'; did you mean '--functional'?");
    expect_refusal(2, "run bfs --max-inst 5", "did you mean '--max-instructions'?");
    expect_refusal(2, "run bfs -sgto", "heddle: unknown option '-sgto'; did you mean '-s gto'?");
    expect_refusal(2, "run bfs --thread 5", "did you mean '--threads'?");
    expect_refusal(2, "run bfs --functional --size smal",
                   "--size takes small|medium|paper, not 'smal'; did you mean 'small'?");
    expect_refusal(2, "list workload", "did you mean 'workloads'?");
    expect_refusal(2, "bench fna", "did you mean 'fma'?");
    expect_refusal(2, "run bfs -m gtx48", "heddle: no machine 'gtx48'; did you mean 'gtx480'?");
    expect_refusal(2, "run bfs -s gtp", "heddle: no scheduler 'gtp'; did you mean 'gto'?");
    expect_refusal(2, "run bfs --set scheduler=gtp", "heddle: no scheduler 'gtp'; did you mean 'gto'?");
    expect_refusal(2, "run bfs -s two-level:gruop=4", "two-level has no option 'gruop'; did you mean 'group'?");
    expect_refusal(2, "run bfs -d stak", "heddle: no divergence model 'stak'; did you mean 'stack'?");
    expect_refusal(2, "run bfs --set sm.cuont=4", "did you mean 'sm.count'?");
    expect_refusal(2, "compare bfs -m 'gtx480 gtx48'", "heddle: no machine 'gtx48'; did you mean 'gtx480'?");
    expect_refusal(2, "compare bfs -s 'lrr gtp'", "heddle: no scheduler 'gtp'; did you mean 'gto'?");
    expect_refusal(2, "compare bfs bsf", "heddle: no workload and no file 'bsf'; did you mean 'bfs'?");
    expect_refusal(2, "compra bfs", "did you mean 'compare'?");
    expect_refusal(2, "characterize bsf", "did you mean 'bfs'?");
    expect_refusal(2, "characterize bfs -t liu202", "did you mean 'liu2023'?");
    expect_refusal(2, "validate h20", "heddle: no machine 'h20'; did you mean 'h200'?");
    expect_refusal(2, "validate h200 bsf", "heddle: the recording has no workload 'bsf'; did you mean 'bfs'?");
    expect_refusal(2, "list machines gtx48", "did you mean 'gtx480'?");
    expect_refusal(2, "paper liu2023-fig", "did you mean 'liu2023-fig1'?");
    expect_refusal(2, "cost dwss", "did you mean 'dws'?");
    expect_refusal(2, "new schedler mine", "did you mean 'scheduler'?");
    expect_refusal(2, "run bfs --dram-policy fr-fcf", "no DRAM policy 'fr-fcf'; did you mean 'fr-fcfs'?");
    expect_refusal(2, "ptx tests/cli/kernels.ptx --kernel saxyp", "did you mean 'saxpy'?");
    expect_refusal(2, "bench bsf", "did you mean 'bfs'?");
}

static void names_far_from_everything_lead_to_the_list(void **state) {
    (void)state;
    expect_refusal(2, "frobnicate", "heddle: no command 'frobnicate'; 'heddle help' lists them");
    expect_refusal(2, "run frobnicate --functional", "'heddle list workloads'");
    expect_refusal(2, "list frobnicate",
                   "there are: workloads, aliases, machines, options, schedulers, divergence, dram, experiments, "
                   "stats, commands");
    expect_refusal(2, "run bfs --frobnicate", "options of the program come after --");
    expect_refusal(2, "run bfs -d frobnicate", "heddle: no divergence model 'frobnicate'; there are: stack");
    expect_refusal(2, "list --frobnicate", "'heddle help list' lists the options");
}

static void values_are_checked(void **state) {
    (void)state;
    expect_refusal(2, "run bfs --functional --size", "--size needs a value: small|medium|paper");
    expect_refusal(2, "run bfs --functional=yes", "--functional takes no value");
    expect_refusal(2, "run bfs --thread-map ''", "--thread-map needs a value: PREFIX");
    expect_refusal(2, "run bfs --json=", "--json needs a value: FILE|-");
    expect_refusal(2, "compare bfs -s ''", "--scheduler needs a value: NAME");
    expect_refusal(2, "compare bfs -s ' '", "heddle: --scheduler names nothing");
    expect_refusal(2, "compare bfs -d ' ' -s gto", "heddle: --divergence names nothing");
    expect_refusal(2, "compare bfs -m ' '", "heddle: --machine names nothing");
    expect_refusal(2, "run bfs --functional --timeout 0", "a number of seconds above 0, not '0'");
    expect_refusal(2, "run bfs --functional --timeout 1x", "not '1x'");
    expect_refusal(2, "run bfs --functional --max-instructions -3", "not '-3'");
    expect_refusal(2, "run bfs --functional --seed 4294967296", "from 0 to 4294967295");
    expect_refusal(2, "bench --repeat 0", "from 1 to 1000");
    expect_refusal(2, "compare bfs --threads 0", "heddle: --threads takes a whole number from 1 to 1024, not '0'");
    expect_refusal(2, "compare bfs --threads x", "from 1 to 1024, not 'x'");
    expect_refusal(2, "characterize --threads 100000", "from 1 to 1024, not '100000'");
    expect_refusal(2, "paper --threads -1", "from 1 to 1024, not '-1'");
    expect_refusal(2, "run bfs --threads 1.5", "from 1 to 1024, not '1.5'");
    expect_refusal(2, "compare bfs -j", "--threads needs a value: N");
    expect_refusal(2, "bench --threads 2", "unknown option '--threads'");
}

static void options_must_fit_the_program(void **state) {
    (void)state;
    expect_refusal(2, "run bfs --functional -s gto", "--scheduler applies to timed runs, not to --functional");
    expect_refusal(2, "run bfs --functional --max-cycles 5", "--max-cycles applies to timed runs");
    expect_refusal(2, "bench --functional --set sm.count=1", "--set applies to timed runs");
    expect_refusal(2, "bench bfs --set sm.count=1,2 --set l1.ways=1,2", "only one --set may have several values");
    expect_refusal(2, "compare -s gto", "heddle: compare needs a program");
    expect_refusal(2, "compare -- bfs", "heddle: compare needs a program");
    expect_refusal(2, "compare bfs --dump-config -s 'gto lrr'", "--dump-config prints one machine");
    expect_refusal(2, "compare bfs --json - --csv -", "cannot both write");
    expect_refusal(2, "compare bfs --dump-config -s gto --json -",
                   "--json is about a run, and --dump-config runs nothing");
    expect_refusal(2, "run --dump-config --csv x.csv", "--csv is about a run, and --dump-config runs nothing");
    expect_refusal(2, "compare bfs /bin/true --size small", "--size is for bundled workloads");
    expect_refusal(2, "run --functional", "heddle: run needs a program");
    expect_refusal(2, "run bfs --functional --grid 4", "--grid is for .ptx files; 'bfs' is not one");
    expect_refusal(2, "run /bin/true --functional --size small", "--size is for bundled workloads");
    expect_refusal(2, "run bfs --functional --json - --csv -", "cannot both write");
    expect_refusal(2, "run bfs --functional --blokcs 4", "did you mean '--blocks'?");
    expect_refusal(2, "list workloads commands", "list workloads takes no 'commands'");
    expect_refusal(2, "--functional run bfs", "the command comes first");
}

static void files_that_cannot_be_used_are_named(void **state) {
    (void)state;
    expect_refusal(1, "run ./nothing/here --functional", "cannot find './nothing/here'");
    expect_refusal(1, "run nothing.ptx --functional", "cannot find 'nothing.ptx'");
    expect_refusal(1, "run docs/ --functional", "'docs/' is a folder");
    expect_refusal(1, "run ./LICENSE --functional", "'./LICENSE' is a text without a first line '#!...'");
    expect_refusal(1, "run bfs --functional --json /nowhere/x.json", "cannot write '/nowhere/x.json'");
    expect_refusal(1, "ptx nothing.ptx", "heddle: cannot open 'nothing.ptx': No such file or directory");
    expect_refusal(1, "ptx docs", "heddle: cannot read 'docs': Is a directory");
}

static void folders_and_binaries_are_no_input(void **state) {
    (void)state;
    expect_refusal(1, "import docs", "heddle: cannot read 'docs': Is a directory");
    expect_refusal(1, "report docs -o /dev/null", "heddle: 'docs' is a folder, not results");
    expect_refusal(1, "sweep docs", "heddle: cannot read 'docs': Is a directory");
    expect_refusal(1, "sweep nothing.yaml", "heddle: cannot open 'nothing.yaml': No such file or directory");
    expect_refusal(2, "run bfs -s ./LICENSE",
                   "heddle: no scheduler './LICENSE'; the name of a plug-in's file ends in .so");
    expect_refusal(1, "paper liu2023-fig1 --plot /nowhere/x.svg", "cannot write '/nowhere/x.svg': No such file");
    expect_refusal(2, "paper liu2023-fig1 --plot x.png",
                   "--plot draws SVG, so 'x.png' should end in .svg, not in '.png'");
    static const char *const binary[] = {"run bfs -m /bin/true", "sweep /bin/true"};
    for (size_t i = 0; i < sizeof binary / sizeof binary[0]; i++) {
        struct outcome outcome = heddle("%s", binary[i]);
        expect_status(&outcome, 1);
        expect_text(outcome.err, "/bin/true:1:1: error: not YAML");
        assert_int_equal(strncmp(outcome.err, "/bin/true", 9), 0);
        for (const char *c = outcome.err; *c; c++)
            assert_true(*c == '\n' || (*c >= ' ' && *c < 127));
        outcome_free(&outcome);
    }
}

static void workloads_refuse_their_own_mistakes(void **state) {
    (void)state;
    expect_refusal(2, "run bfs --functional --threads-per-block 4096",
                   "--threads-per-block 4096 is more than this device's");
    expect_refusal(2, "run bfs --functional -- --sise small", "bfs: unknown option '--sise'");
}

static void output_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    static const char *const to_stdout[] = {
        "list workloads >/dev/full",
        "compare vecadd -s gto >/dev/full",
        "compare vecadd -s gto --json - >/dev/full",
        "compare vecadd -s gto --csv - >/dev/full",
        "ptx tests/cli/kernels.ptx --json - >/dev/full",
        "cost --json - >/dev/full",
    };
    static const char *const to_file[] = {
        "compare vecadd -s gto -q --json /dev/full",  "compare vecadd -s gto -q --csv /dev/full",
        "run vecadd --functional -q --csv /dev/full", "characterize vecadd -t liu2023 --functional -q --json /dev/full",
        "paper liu2023-fig1 -q --csv /dev/full",
    };
    for (size_t i = 0; i < sizeof to_stdout / sizeof to_stdout[0]; i++)
        expect_refusal(1, to_stdout[i], "heddle: cannot write to standard output: No space left on device");
    for (size_t i = 0; i < sizeof to_file / sizeof to_file[0]; i++) {
        struct outcome outcome = heddle("%s", to_file[i]);
        expect_status(&outcome, 1);
        expect_line(&outcome, "heddle: cannot write '/dev/full': No space left on device");
        outcome_free(&outcome);
    }
}

static void one_file_is_not_written_twice_under_two_names(void **state) {
    (void)state;
    struct outcome outcome = heddle("run vecadd --functional --json %s/x --csv %s/./x", scratch(), scratch());
    expect_status(&outcome, 2);
    expect_line(&outcome, "heddle: --json and --csv cannot both write to '");
    outcome_free(&outcome);
}

/* Returns the processor time of all commands so far. */
static double processor_seconds(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* A time longer than system calls accept acts as no limit, and waiting for it does not poll. */
static void a_very_long_time_is_a_time(void **state) {
    (void)state;
    double before = processor_seconds();
    struct outcome outcome = heddle("run /bin/sleep 1 --functional --timeout 1e300 -q");
    expect_status(&outcome, 0);
    outcome_free(&outcome);
    assert_true(processor_seconds() - before < 0.3);
}

/* Expects the command to succeed and to print this text. */
static void says(const char *words, const char *text) {
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, text);
    outcome_free(&outcome);
}

static void every_command_teaches(void **state) {
    (void)state;
    says("", "heddle compare bfs ");
    says("help", "usage: heddle COMMAND");
    says("--help", "usage: heddle COMMAND");
    says("--version", "heddle " HEDDLE_VERSION "\n");
    struct outcome list = heddle("list commands --names");
    expect_status(&list, 0);
    for (char *rest, *name = strtok_r(list.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
        char words[64], usage[64];
        snprintf(usage, sizeof usage, "usage: heddle %s", name);
        snprintf(words, sizeof words, "help %s", name);
        says(words, usage);
        snprintf(words, sizeof words, "%s --help", name);
        says(words, usage);
        snprintf(words, sizeof words, "help %s --options", name);
        says(words, "--help\n");
    }
    outcome_free(&list);
}

static void is_first_in_json(const char *arguments, const char *name) {
    struct outcome outcome = heddle("%s", arguments);
    json_t *array = json_output(&outcome);
    assert_true(json_array_size(array) > 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(array, 0), "name")), name);
    json_decref(array);
    outcome_free(&outcome);
}

static void lists_are_for_people_and_for_programs(void **state) {
    (void)state;
    says("list workloads", "breadth-first search");
    says("list stats", "divergent_branches");
    says("list divergence", "stack ");
    says("list workloads --names", "\nbfs\n");
    says("list workloads", "bfs_1, bfs_1024, bfs_2");
    says("list aliases", "--nodes 65536");
    says("list aliases --names", "bfs_1\nbfs_1024\nbfs_2\n");
    is_first_in_json("list workloads --json", "aes");
    is_first_in_json("list aliases --json", "bfs_1");
}

/* Plain `list` names everything of every kind, in lines that fit a terminal. */
static void the_overview_names_everything(void **state) {
    (void)state;
    static const char *const kinds[] = {"workloads",  "aliases",     "machines", "schedulers",
                                        "divergence", "experiments", "stats"};
    struct outcome all = heddle("list");
    expect_status(&all, 0);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char more[64];
        snprintf(more, sizeof more, ": 'heddle list %s' says more\n", kinds[i]);
        expect_text(all.out, more);
        struct outcome names = heddle("list %s --names", kinds[i]);
        for (char *rest, *name = strtok_r(names.out, "\n", &rest); name; name = strtok_r(NULL, "\n", &rest)) {
            char within[128], last[128];
            snprintf(within, sizeof within, " %s,", name);
            snprintf(last, sizeof last, " %s\n", name);
            if (!strstr(all.out, within) && !strstr(all.out, last))
                fail_msg("the overview lacks %s", name);
        }
        outcome_free(&names);
    }
    expect_text(all.out, "'heddle list options' lists the ");
    unsigned n_lines = 0;
    for (const char *line = all.out; *line; line += strcspn(line, "\n") + 1, n_lines++)
        if (strchr(line, ',') && line[0] == ' ')
            assert_true(strcspn(line, "\n") <= 79);
    assert_true(n_lines <= 85);
    outcome_free(&all);
    expect_refusal(2, "list --names", "heddle: --names needs a list: heddle list workloads --names");
    expect_refusal(2, "list --set l1.size=1K", "heddle: --set is for machines: heddle list machines NAME");
    struct outcome help = heddle("help list");
    assert_null(strstr(help.out, "as a your"));
    outcome_free(&help);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misspelt_names_get_the_nearest_right_one),
        cmocka_unit_test(names_far_from_everything_lead_to_the_list),
        cmocka_unit_test(values_are_checked),
        cmocka_unit_test(options_must_fit_the_program),
        cmocka_unit_test(files_that_cannot_be_used_are_named),
        cmocka_unit_test(folders_and_binaries_are_no_input),
        cmocka_unit_test(workloads_refuse_their_own_mistakes),
        cmocka_unit_test(output_that_cannot_be_written_is_an_error),
        cmocka_unit_test(one_file_is_not_written_twice_under_two_names),
        cmocka_unit_test(a_very_long_time_is_a_time),
        cmocka_unit_test(every_command_teaches),
        cmocka_unit_test(lists_are_for_people_and_for_programs),
        cmocka_unit_test(the_overview_names_everything),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
