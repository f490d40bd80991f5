/* `heddle paper` and the lists of schedulers and experiments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

/* Expects the command to succeed and to print this text. */
static void says(const char *words, const char *text) {
    struct outcome outcome = heddle("%s", words);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, text);
    outcome_free(&outcome);
}

/* An experiment whose results go to a store of this test. */
static void says_of_paper(const char *words, const char *text) {
    struct outcome outcome = heddle("paper %s --store %s/s.db", words, scratch());
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    expect_text(outcome.out, text);
    outcome_free(&outcome);
}

static void schedulers_are_listed_with_their_options(void **state) {
    (void)state;
    says("list schedulers --names", "srr\nlrr\ngto\n");
    says("list schedulers", "greedy then oldest");
    says("list schedulers", "  switch=empty");
    says("list schedulers", "empty|stall");
    struct outcome outcome = heddle("list schedulers --json");
    json_t *array = json_output(&outcome);
    size_t i;
    json_t *scheduler, *two_level = NULL;
    json_array_foreach(array, i, scheduler) {
        if (strcmp(json_string_value(json_object_get(scheduler, "name")), "two-level") == 0)
            two_level = scheduler;
    }
    json_t *group = json_array_get(json_object_get(two_level, "options"), 0);
    assert_string_equal(json_string_value(json_object_get(group, "name")), "group");
    assert_string_equal(json_string_value(json_object_get(group, "default")), "8");
    assert_string_equal(json_string_value(json_object_get(group, "takes")), "1..128");
    json_decref(array);
    outcome_free(&outcome);
}

static void experiments_are_listed_by_both_commands(void **state) {
    (void)state;
    says("paper", "liu2023-fig1");
    says("paper", "SRR 45, LRR 39, GTO 41, LFWS 37 cycles");
    says("list experiments", "six warps, single issue, under four schedulers");
    says("list experiments --names", "liu2023-fig1\n");
    says("list experiments --json", "\"result\": \"SRR 45, LRR 39, GTO 41, LFWS 37 cycles\"");
}

static void the_worked_example_stands_beside_the_papers_numbers(void **state) {
    (void)state;
    says_of_paper("liu2023-fig1", "srr            45      21\n");
    says_of_paper("liu2023-fig1", "lrr   cycles     37     39          -2");
    says_of_paper("liu2023-fig1", "\nlrr: the rule as the paper states it gives 37\n");
    says_of_paper("liu2023-fig1", "  holds      LFWS is faster than strict round robin");
    says_of_paper("liu2023-fig1", "  explained  LFWS is faster than loose round robin.\n"
                                  "             loose round robin as section 2.2 states it");
    says_of_paper("liu2023-fig1", "lfws, 37 cycles\n"
                                  "  w1 L---------L---------SL---------\n"
                                  "  w2     SSL---------L---------\n");
}

static void results_are_json_too(void **state) {
    (void)state;
    struct outcome outcome = heddle("paper liu2023-fig1 --store %s/s.db --json -", scratch());
    json_t *array = json_output(&outcome);
    json_t *values = json_object_get(json_array_get(array, 0), "values");
    assert_int_equal(json_array_size(values), 8);
    json_t *lrr = json_array_get(values, 1);
    assert_string_equal(json_string_value(json_object_get(json_object_get(lrr, "at"), "scheduler")), "lrr");
    assert_string_equal(json_string_value(json_object_get(lrr, "measure")), "cycles");
    assert_true(json_number_value(json_object_get(lrr, "ours")) == 37);
    assert_true(json_number_value(json_object_get(lrr, "paper")) == 39);
    json_t *claims = json_object_get(json_array_get(array, 0), "claims");
    assert_string_equal(json_string_value(json_object_get(json_array_get(claims, 0), "state")), "holds");
    json_decref(array);
    outcome_free(&outcome);
}

/* The value of a measure at a point of the only axis. */
static double value_of(const json_t *values, const char *measure, const char *axis, const char *point) {
    size_t i;
    json_t *value;
    json_array_foreach(values, i, value) {
        const json_t *at = json_object_get(json_object_get(value, "at"), axis);
        if (strcmp(json_string_value(at), point) == 0 &&
            strcmp(json_string_value(json_object_get(value, "measure")), measure) == 0)
            return json_number_value(json_object_get(value, "ours"));
    }
    fail_msg("no %s of %s", measure, point);
    return 0;
}

static double cycles_of_run(const char *words) {
    struct outcome outcome = heddle("run -m narasiman2014-db --set sm.registers=65536 --json - %s", words);
    json_t *object = json_output(&outcome);
    double cycles = json_number_value(json_object_get(json_object_get(object, "total"), "cycles"));
    json_decref(object);
    outcome_free(&outcome);
    return cycles;
}

static void an_experiment_that_simulates_shows_what_its_runs_measured(void **state) {
    (void)state;
    struct outcome outcome = heddle("paper narasiman2014-fig8.1 --size small --store %s/s.db --json -", scratch());
    json_t *array = json_output(&outcome);
    json_t *values = json_object_get(json_array_get(array, 0), "values");
    double ballot = value_of(values, "cycles", "code", "ballot");
    double cond_acc = value_of(values, "cycles", "code", "cond_acc");
    assert_true(ballot == cycles_of_run("scan -- --code ballot_skip"));
    assert_true(cond_acc == cycles_of_run("scan -- --code cond_acc_skip"));
    double gain = value_of(values, "gain", "code", "cond_acc");
    assert_true(gain > 100 * (ballot / cond_acc - 1) - 1e-6 && gain < 100 * (ballot / cond_acc - 1) + 1e-6);
    json_decref(array);
    outcome_free(&outcome);
}

static double ipc_of_mum(unsigned latency) {
    struct outcome outcome = heddle("run mum --size small --no-check -q -m malits2012 --set sm.count=2 --set "
                                    "sm.registers=0 -d odgs:latency=%u --json -",
                                    latency);
    expect_status(&outcome, 0);
    json_t *run = json_output(&outcome);
    double ipc = json_real_value(json_object_get(json_object_get(run, "total"), "ipc"));
    json_decref(run);
    outcome_free(&outcome);
    return ipc;
}

/* What malits2012-fig15 shows at size paper: on two SMs the reads of size small fill the chip. */
static void the_latency_of_handling_costs_mum_under_odgs(void **state) {
    (void)state;
    double ipc[] = {ipc_of_mum(64), ipc_of_mum(256), ipc_of_mum(512)};
    assert_true(ipc[0] > ipc[1] && ipc[1] > ipc[2]);
    assert_true(ipc[0] > 1.1 * ipc[2]);
}

static void results_are_csv_too(void **state) {
    (void)state;
    says_of_paper("liu2023-fig1 --csv -", "experiment,measure,size,scheduler,ours,low,high,paper\n"
                                          "liu2023-fig1,cycles,,srr,45,45,45,45\n");
    says_of_paper("liu2023-fig1 --json -", "\"at\": {\n          \"scheduler\": \"srr\"\n        }");
}

static void figures_are_svg(void **state) {
    (void)state;
    says_of_paper("liu2023-fig1 --plot -", "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    says_of_paper("liu2023-fig1 --plot -", ">lfws</text>");
    says_of_paper("liu2023-fig1 --plot -", "black marks: the paper");
}

static void a_page_has_all_results(void **state) {
    (void)state;
    says_of_paper("liu2023-fig1 --report -", "| [liu2023-fig1](#liu2023-fig1) | six warps");
    says_of_paper("liu2023-fig1 --report -", "| lrr | cycles | 37 | 39 | -2 | section 2.2; the rule");
    says_of_paper("liu2023-fig1 --report -", "- **explained**: LFWS is faster than loose round robin.");
    says_of_paper("liu2023-fig1 --report -", "that the figure shows. Shown by `cycles[lrr] = 37`.\n");
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* At size medium one block; at size paper more, where the file does not forbid that size. */
static const char sizes[] = "title: mine\nrun: {machine: gtx480, scheduler: lrr}\n%s"
                            "programs: [{picture: {medium_arguments: --blocks 1}}]\n"
                            "measures: {blocks: {of: blocks, places: 0}}\n"
                            "claims:\n"
                            "  - {says: one block., check: 'blocks[picture] = 1'}\n"
                            "  - {says: some., check: 'blocks[picture] > 0'}\n";

static struct outcome page_of_sizes(const char *name, const char *largest, const char *options) {
    char path[256], text[1024];
    snprintf(path, sizeof path, "%s/%s.yaml", scratch(), name);
    snprintf(text, sizeof text, sizes, largest);
    write_file(path, text);
    return heddle("sweep %s --store %s/sizes.db %s", path, scratch(), options);
}

/* Estimates are other runs than full ones: the store keeps both, and `blocks` is exact in both. */
static void a_sweep_can_estimate_its_runs(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/estimated.yaml", scratch());
    write_file(path, "title: mine\nrun: {machine: gtx480}\nprograms: [lu]\n"
                     "measures: {blocks: {of: blocks, places: 0}, cycles: {of: cycles, places: 0}}\n");
    struct outcome full = heddle("sweep %s --size small --store %s/e.db --json -", path, scratch());
    struct outcome some = heddle("sweep %s --size small --store %s/e.db --estimate --json -", path, scratch());
    struct outcome again = heddle("sweep %s --size small --store %s/e.db --json -", path, scratch());
    expect_status(&some, 0);
    expect_text(full.out, "39112");
    assert_string_equal(full.out, again.out);
    assert_null(strstr(some.out, "39112"));
    expect_text(some.out, "\"cycles\"");
    assert_null(strstr(full.out, "estimated from samples"));
    expect_text(some.out, "estimated from samples");
    struct outcome table = heddle("sweep %s --size small --store %s/e.db --estimate", path, scratch());
    expect_text(table.out,
                "mine\nsize small, first on gtx480\nestimated from samples of the launches; half the interval");
    expect_text(table.out, " % (lu)\n");
    outcome_free(&table);
    table = heddle("sweep %s --size small --store %s/e.db", path, scratch());
    assert_null(strstr(table.out, "estimated from"));
    outcome_free(&table);
    table = heddle("sweep %s --size small --store %s/e.db --estimate --csv - -q", path, scratch());
    expect_text(table.out, "ours,low,high,paper,cycles_halfwidth\n");
    const char *last = strrchr(table.out, ',');
    assert_true(last && strtod(last + 1, NULL) > 0.0001 && strtod(last + 1, NULL) < 1);
    outcome_free(&table);
    table = heddle("sweep %s --size small --store %s/e.db --csv - -q", path, scratch());
    expect_text(table.out, "ours,low,high,paper\n");
    outcome_free(&table);
    table = heddle("sweep %s --size small --store %s/e.db --estimate --report -", path, scratch());
    expect_text(table.out, "mine. The runs were estimated from samples");
    outcome_free(&table);
    outcome_free(&full);
    outcome_free(&some);
    outcome_free(&again);
}

static void a_page_at_size_paper_has_medium_beside_it_where_they_differ(void **state) {
    (void)state;
    struct outcome outcome = page_of_sizes("sizes", "", "--size paper --report -");
    expect_status(&outcome, 0);
    expect_text(outcome.out, " wrote this page from its measurements at size paper.");
    expect_text(outcome.out, "At size medium, 0 of 2 claims are known and 0 have another verdict");
    expect_text(outcome.out, "- **open**: one block.");
    outcome_free(&outcome);
    outcome = page_of_sizes("sizes", "", "--size medium -q");
    outcome_free(&outcome);
    outcome = page_of_sizes("sizes", "", "--size paper --report -");
    expect_text(outcome.out, "At size medium, 2 of 2 claims are known and 1 have another verdict");
    expect_text(outcome.out, "- **open** (size medium: holds): one block.");
    expect_text(outcome.out, "- **holds**: some.");
    expect_text(outcome.out, "| paper | claims | hold | hold mostly | explained | open |\n|---|---|---|---|---|---|\n"
                             "| sizes | 2 | 1 | 0 | 0 | 1 |\n| all | 2 | 1 | 0 | 0 | 1 |\n");
    outcome_free(&outcome);
}

static void a_size_that_cannot_be_run_is_named_with_its_reason(void **state) {
    (void)state;
    struct outcome outcome = page_of_sizes("largest", "largest: {size: medium, reason: No host has the memory.}\n",
                                           "--size paper --report -");
    expect_status(&outcome, 0);
    expect_text(outcome.out, "mine. Measured at size medium: No host has the memory.\n");
    expect_text(outcome.out, "- **holds**: one block.");
    outcome_free(&outcome);
    outcome = page_of_sizes("largest", "largest: {size: medium}\n", "--size paper --report -");
    expect_status(&outcome, 1);
    outcome_free(&outcome);
}

static void mistakes_are_named(void **state) {
    (void)state;
    expect_refusal(2, "paper liu2023-fig11", "no experiment 'liu2023-fig11'; did you mean 'liu2023-fig1'?");
    expect_refusal(2, "paper frobnicate", "no experiment 'frobnicate'; 'heddle paper' lists them");
    expect_refusal(2, "paper liu2023-fig1 frobnicate", "no experiment 'frobnicate'");
    expect_refusal(2, "paper liu2023-fig1 --all", "--all is every experiment, 'liu2023-fig1' among them");
    expect_refusal(2, "paper --json -", "--json is for results: heddle paper NAME --json FILE");
    expect_refusal(2, "paper --plot x.svg", "--plot is for results: heddle paper NAME --plot FILE");
    expect_refusal(2, "paper liu2023-fig1 --json - --csv -", "--json and --csv cannot both write to '-'");
    expect_refusal(2, "paper liu2023-fig1 --size small", "liu2023-fig1 takes no --size");
    expect_refusal(2, "paper liu2023-fig1 --check --csv x", "--check judges claims: it writes no file");
    expect_refusal(2, "paper liu2023-fig1 --reasons --check", "it takes no --check, no --slurm and writes no file");
    expect_refusal(1, "paper liu2023-fig1 --json /nowhere/x.json", "cannot write '/nowhere/x.json'");
    expect_refusal(1, "paper liu2023-fig1 --store /proc/nowhere/x.db", "'/proc/nowhere/x.db' cannot be opened");
    expect_refusal(2, "list schedulers gto", "list schedulers takes no 'gto'");
}

/* Four warps of two long operations under two schedulers: claims that do not hold, with and without runs that show why.
 */
static const char reasons[] =
    "title: mine\nrun: {example: {warps: [LLSL, SSLL, LLSL], long: 10, short: 1}}\n"
    "axes: [{axis: s, values: [lrr, gto], with: {scheduler: $}}]\n"
    "measures: {c: {of: cycles, places: 0}}\n"
    "claims:\n"
    "  - says: gto is twice as fast.\n"
    "    check: c[gto] * 2 < c[lrr]\n"
    "    reason: Both wait.\n"
    "    shown_by:\n"
    "      - {with: {scheduler: srr}, check: 'c[lrr] = c[gto]'}\n"
    "      - {at: {s: gto}, with: {scheduler: srr}, measures: {n: stalls}, check: 'c[gto] >= c[lrr] and n[gto] > 0'}\n"
    "  - {says: lrr takes a cycle., check: 'c[lrr] = 1', reason: A guess.}\n";

static void runs_that_show_a_reason_are_repeated(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/reasons.yaml", scratch());
    write_file(path, reasons);
    struct outcome outcome = heddle("sweep %s --reasons --store %s/s.db", path, scratch());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "reasons: mine\n  gto is twice as fast.\n    shown      c[lrr] = c[gto]   with srr\n");
    expect_text(outcome.out, "              c[lrr] is ");
    expect_text(outcome.out, "    open       no run shows the reason that the file gives\n");
    expect_text(outcome.out, "\n2 reasons: 1 shown, 0 not shown, 1 open\n");
    outcome_free(&outcome);

    outcome = heddle("sweep %s --store %s/s.db", path, scratch());
    expect_text(outcome.out, "  explained  gto is twice as fast.\n             Both wait.\n");
    expect_text(outcome.out, "  open       lrr takes a cycle.\n             supposed, but shown by no run: A guess.\n");
    outcome_free(&outcome);
}

static void a_reason_that_its_runs_do_not_show_fails(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/wrong.yaml", scratch());
    write_file(path, "title: mine\nrun: {example: {warps: [LLSL, SSLL, LLSL], long: 10, short: 1}}\n"
                     "axes: [{axis: s, values: [lrr, gto], with: {scheduler: $}}]\n"
                     "measures: {c: {of: cycles, places: 0}}\n"
                     "claims: [{says: one., check: 'c[lrr] = 1', reason: r, shown_by: [{check: 'c[lrr] = 2'}]}]\n");
    struct outcome outcome = heddle("sweep %s --reasons --store %s/s.db", path, scratch());
    expect_status(&outcome, 3);
    expect_text(outcome.out, "    not shown  c[lrr] = 2\n");
    expect_line(&outcome, "1 reasons are not shown by the runs that their files name");
    outcome_free(&outcome);
}

static void a_users_own_experiment_is_a_file_too(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/mine.yaml", scratch());
    write_file(path,
               "title: mine\nrun: {machine: gtx480, size: small}\nprograms: [vecadd]\n"
               "axes: [{axis: L1, values: [16K, 32K], with: {set: {l1.size: $}}}]\n"
               "variations: [{}, {arguments: --seed 7}]\n"
               "measures: {hits: {of: 100 * (1 - l1_misses / l1_accesses), places: 1}, c: {of: cycles, places: 0}}\n"
               "claims: [{says: a larger cache does no harm., check: 'c[vecadd, 32K] <= c[vecadd, 16K]'}]\n");
    struct outcome outcome = heddle("sweep %s --store %s/s.db", path, scratch());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "mine: mine\nsize small, first on gtx480\n");
    expect_text(outcome.out, " ("); /* the spread */
    expect_text(outcome.out, "  holds      a larger cache does no harm.\n");
    outcome_free(&outcome);

    write_file(path, "title: mine\nprograms: [vecad]\nmeasures: {c: cycles}\n");
    outcome = heddle("sweep %s", path);
    expect_status(&outcome, 1);
    assert_string_equal(outcome.out, "");
    expect_text(outcome.err, "mine.yaml:2:12: error: no workload 'vecad'; did you mean 'vecadd'?\n");
    expect_text(outcome.err, "\n    programs: [vecad]\n               ^\n");
    outcome_free(&outcome);
    expect_refusal(2, "sweep", "sweep needs a file: heddle sweep FILE.yaml");
    expect_refusal(1, "sweep /nowhere.yaml", "/nowhere.yaml");
}

/* vecadd with `medium_arguments: --blocks 1`: at size medium one block, at size small as many as ever. */
static void arguments_for_size_medium_apply_there_alone(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/medium.yaml", scratch());
    write_file(path, "title: mine\nrun: {machine: gtx480}\n"
                     "programs: [{divergent: {medium_arguments: --blocks 1}}]\n"
                     "measures: {blocks: {of: blocks, places: 0}}\n"
                     "claims: [{says: one block., check: 'blocks[divergent] = 1'}]\n");
    struct outcome outcome = heddle("sweep %s --size medium --store %s/m.db", path, scratch());
    expect_text(outcome.out, "  holds      one block.\n");
    outcome_free(&outcome);
    outcome = heddle("sweep %s --size small --store %s/m.db", path, scratch());
    expect_text(outcome.out, "  open       one block.\n");
    outcome_free(&outcome);
}

/* vecadd with perfect memory takes as long with any seed, longer with a slower L1, and mostly less with a faster one.
 */
static void noise_tells_claims_from_luck(void **state) {
    (void)state;
    char path[256], text[1024];
    struct outcome outcome = heddle("run vecadd -m gtx480 --set memory.perfect=true --json - -q");
    json_t *run = json_output(&outcome);
    int cycles = (int)json_integer_value(json_object_get(json_object_get(run, "total"), "cycles"));
    json_decref(run);
    outcome_free(&outcome);
    snprintf(path, sizeof path, "%s/noise.yaml", scratch());
    snprintf(text, sizeof text,
             "title: mine\nrun: {machine: gtx480, set: {memory.perfect: true}}\nprograms: [vecadd]\n"
             "measures: {c: {of: cycles, places: 0}}\n"
             "claims:\n  - {says: always., check: 'c[vecadd] > 1'}\n"
             "  - {says: by luck., check: 'c[vecadd] <= %d'}\n"
             "  - {says: exactly., check: 'c[vecadd] < %d'}\n  - {says: never., check: 'c[vecadd] < 1'}\n",
             cycles, cycles);
    write_file(path, text);
    outcome = heddle("sweep %s --size small --noise --store %s/n.db", path, scratch());
    expect_status(&outcome, 0);
    expect_text(outcome.out, "  holds      always. (in 7 of 7 neighbours at size small: c[vecadd] ");
    expect_text(outcome.out, "  holds mostly  by luck. (in ");
    expect_text(outcome.out, "  open       exactly. (in ");
    expect_text(outcome.out, "  open       never. (in 0 of 7 neighbours");
    outcome_free(&outcome);
    outcome = heddle("sweep %s --size small --noise --store %s/n.db --report -", path, scratch());
    expect_text(outcome.out, "4 claims were also judged in neighbours (`--noise`)");
    expect_text(outcome.out, "| noise | 4 | 1 | 1 | 0 | 2 |\n");
    expect_text(outcome.out, "- **holds mostly**: by luck. `c[vecadd] <= ");
    expect_text(outcome.out, "\n  - Noise: in 7 of 7 neighbours at size small: c[vecadd] ");
    outcome_free(&outcome);
    expect_refusal(2, "paper liu2023-fig4 --noise --check", "--noise judges claims in neighbours: it takes no --check");
}

/* A run that ends, then one that the limit stops. */
static void a_time_limit_leaves_the_rest_for_the_next_time(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/limit.yaml", scratch());
    write_file(path,
               "title: mine\nrun: {machine: gtx480, size: small}\n"
               "axes: [{axis: a, points: {short: {program: vecadd}, long: {program: /bin/sleep, arguments: 60}}}]\n"
               "measures: {blocks: {of: blocks, places: 0}}\n");
    struct outcome outcome = heddle("sweep %s -j 1 --time-limit 8 --store %s/l.db --csv -", path, scratch());
    expect_status(&outcome, 4);
    expect_line(&outcome, "stopped at the time limit of 8 s; 1 of 2 runs had ended");
    expect_text(outcome.out, "limit,blocks,small,short,192,192,192,\nlimit,blocks,small,long,,,,\n");
    outcome_free(&outcome);
    outcome = heddle("sweep %s --store %s/l.db --slurm --status", path, scratch());
    expect_text(outcome.out, "2 runs: 1 done, ");
    outcome_free(&outcome);
}

static void a_store_that_cannot_grow_is_told_in_one_line(void **state) {
    (void)state;
    expect_refusal(1, "paper liu2023-fig1 --store /dev/full", "the store of results '/dev/full'");
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedulers_are_listed_with_their_options),
        cmocka_unit_test(experiments_are_listed_by_both_commands),
        cmocka_unit_test(the_worked_example_stands_beside_the_papers_numbers),
        cmocka_unit_test(results_are_json_too),
        cmocka_unit_test(an_experiment_that_simulates_shows_what_its_runs_measured),
        cmocka_unit_test(the_latency_of_handling_costs_mum_under_odgs),
        cmocka_unit_test(results_are_csv_too),
        cmocka_unit_test(figures_are_svg),
        cmocka_unit_test(a_page_has_all_results),
        cmocka_unit_test(a_sweep_can_estimate_its_runs),
        cmocka_unit_test(a_page_at_size_paper_has_medium_beside_it_where_they_differ),
        cmocka_unit_test(a_size_that_cannot_be_run_is_named_with_its_reason),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(runs_that_show_a_reason_are_repeated),
        cmocka_unit_test(a_reason_that_its_runs_do_not_show_fails),
        cmocka_unit_test(a_users_own_experiment_is_a_file_too),
        cmocka_unit_test(arguments_for_size_medium_apply_there_alone),
        cmocka_unit_test(noise_tells_claims_from_luck),
        cmocka_unit_test(a_time_limit_leaves_the_rest_for_the_next_time),
        cmocka_unit_test(a_store_that_cannot_grow_is_told_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
