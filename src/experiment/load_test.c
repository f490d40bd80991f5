/* Tests of reading experiment files: their contents, and messages about mistakes. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiment/experiment.h"

static struct base_arena arena;

static bool load(struct experiment *experiment, const char *text, struct base_diag *diag) {
    char path[] = "/tmp/heddle-experiment-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    bool is_good = experiment_load(experiment, path, &arena, diag);
    unlink(path);
    return is_good;
}

#define HEAD "title: t\nrun: {machine: gtx480}\nprograms: [bfs, mum]\n"
#define AXES "axes:\n  - axis: s\n    points: {lrr: {scheduler: lrr}, gto: {scheduler: gto}}\n"
#define MEASURES "measures: {gain: {of: base.cycles / cycles, base: {s: lrr}}}\n"

static void a_file_becomes_axes_measures_and_claims(void **state) {
    (void)state;
    struct experiment experiment;
    struct base_diag diag = {0};
    assert_true(load(&experiment,
                     "claims: [{says: c, check: 'gain[mean, 16K, gto] > 1', test: small}]\n" HEAD
                     "axes:\n  - {axis: L1, values: [16K, 32K], with: {set: {l1.size: $}}}\n"
                     "  - axis: s\n    points: {lrr: {scheduler: lrr}, gto: {scheduler: gto}}\n" MEASURES
                     "means: {mean: geometric}\n"
                     "numbers: [{of: 'gain[bfs, 32K, gto]', is: 1.5}]\n",
                     &diag));
    assert_int_equal(experiment.n_axes, 3);
    assert_string_equal(experiment.axis[0].name, "program");
    assert_string_equal(experiment.axis[0].point[1].settings.program, "mum");
    assert_string_equal(experiment.axis[1].point[1].name, "32K");
    assert_string_equal(experiment.axis[1].point[1].settings.set.item[0], "l1.size=32K");
    assert_string_equal(experiment.axis[2].point[1].settings.scheduler, "gto");
    assert_int_equal(experiment.axis[0].n_means, 1);
    assert_int_equal(experiment.axis[0].mean[0].n_members, 2);
    assert_int_equal(experiment_count_cells(&experiment), 8);
    assert_int_equal(experiment.number[0].cell.at[1], 1);
    assert_string_equal(experiment.claim[0].test, "small");
    assert_int_equal(experiment.n_variations, 1);
    struct experiment_cell cell = experiment_cell_of_number(&experiment, 5);
    assert_string_equal(experiment_cell_name(&experiment, &cell, &arena), "mum, 16K, gto");
    assert_int_equal(experiment_number_of_cell(&experiment, &cell), 5);
}

/* An entry of shown_by is the same experiment under other settings, at some points or at all, with more measures. */
static void a_run_that_shows_a_reason_changes_what_it_says(void **state) {
    (void)state;
    struct experiment experiment;
    struct base_diag diag = {0};
    assert_true(load(&experiment,
                     HEAD AXES MEASURES
                     "claims:\n  - says: c\n    check: gain[bfs, gto] > 1\n    reason: r\n    shown_by:\n"
                     "      - {with: {set: {l1.size: 16K}}, check: 'gain[bfs, gto] > 1'}\n"
                     "      - {at: {s: [gto]}, with: {scheduler: lfws}, measures: {i: ipc},\n"
                     "         check: 'i[bfs, gto] > 1'}\n",
                     &diag));
    const struct experiment_shown *shown = experiment.claim[0].shown;
    assert_int_equal(experiment.claim[0].n_shown, 2);
    assert_string_equal(experiment_settings_text(&shown[0].with, &arena), "l1.size=16K");
    assert_string_equal(shown[0].experiment->variation[0].set.item[0], "l1.size=16K");
    assert_null(shown[1].experiment->variation[0].scheduler);
    assert_string_equal(shown[1].experiment->axis[1].point[0].settings.scheduler, "lrr");
    assert_string_equal(shown[1].experiment->axis[1].point[1].settings.scheduler, "lfws");
    assert_int_equal(shown[1].experiment->n_measures, 2);
    assert_int_equal(experiment.n_measures, 1); /* the experiment itself is as it was */
    assert_string_equal(experiment.axis[1].point[1].settings.scheduler, "gto");
    assert_int_equal(experiment.variation[0].set.count, 0);
}

static void mistakes_have_a_place_and_a_remedy(void **state) {
    (void)state;
    static const struct {
        const char *text, *place, *message;
    } mistake[] = {
        {"", ":1:1:", "the file is empty"},
        {"title: [", ":1:9:", "not YAML"},
        {"- a\n", ":1:1:", "an experiment is a map, such as source: "},
        {"titel: t\n", ":1:1:", "an experiment has no key 'titel'; did you mean 'title'?"},
        {HEAD, ":1:1:", "an experiment needs the key 'measures': a map of what is measured"},
        {"title: t\nmeasures: {i: ipc}\n", ":2:11:", "an experiment needs 'programs' or 'axes'"},
        {"title: t\ntitle: u\n", ":2:1:", "title is given twice; it already is on line 1"},
        {"title:\n", ":1:1:", "title has no value; it takes what it shows"},
        {"title: t\nprograms: [bsf]\n", ":2:12:", "no workload 'bsf'; did you mean 'bfs'?"},
        {"title: t\nprograms: [bfs, bfs]\n", ":2:17:", "two points 'bfs'"},
        {"title: t\nrun: {machine: gtx48}\n", ":2:16:", "gtx480"},
        {"title: t\nrun: {scheduler: gtoo}\n", ":2:18:", "did you mean 'gto'?"},
        {"title: t\nrun: {divergence: 'lwm:size=3'}\n", ":2:19:", "size"},
        {"title: t\nrun: {set: {l1.sise: 1}}\n", ":2:13:", "did you mean 'l1.size'?"},
        {"title: t\nrun: {set: {l1.size: many}}\n", ":2:13:", "bytes"},
        {"title: t\nrun: {size: large}\n", ":2:13:", "size takes small, medium or paper, not 'large'"},
        {HEAD AXES "measures: {i: ipcc}\n", ":7:15:", "no statistic 'ipcc'; did you mean 'ipc'?"},
        {HEAD AXES "measures: {i: base.ipc}\n", ":7:15:", "'base.' needs the key 'base'"},
        {HEAD AXES "measures: {i: ipc +}\n", ":7:20:", "a number, a name or '(' is missing"},
        {HEAD AXES "measures: {i: ipc ipc}\n", ":7:19:", "too much"},
        {HEAD AXES "measures: {i: {of: ipc, base: {s: gtoo}}}\n", ":7:35:", "the axis 's' has no point 'gtoo'"},
        {HEAD AXES MEASURES "claims: [{says: c, check: 'gain[bfs, gtp] > 1'}]\n",
         ":8:38:", "the axis 's' has no point 'gtp'; did you mean 'gto'?"},
        {HEAD AXES MEASURES "claims: [{says: c, check: 'gain[bfs] > 1'}]\n",
         ":8:36:", "a cell has a point of each of the 2 axes"},
        {HEAD AXES MEASURES "claims: [{says: c, check: 'gian[bfs, gto] > 1'}]\n",
         ":8:28:", "no measure 'gian'; did you mean 'gain'?"},
        {HEAD AXES MEASURES "numbers: [{of: 'gain[*, gto]', is: 1}]\n", ":8:17:", "one cell, not of several"},
        {HEAD AXES MEASURES "means: {m: median}\n", ":8:12:", "a mean takes geometric, harmonic or arithmetic"},
        {HEAD AXES MEASURES "figure: {kind: pie}\n", ":8:16:", "kind takes bars, lines, stacked, series or threads"},
        {HEAD AXES MEASURES
         "claims: [{says: c, check: 'gain[bfs, gto] > 1', shown_by: [{check: 'gain[bfs, gto] > 1'}]}]\n",
         ":8:59:", "shown_by is about a reason, and the claim has none"},
        {HEAD AXES MEASURES "claims: [{says: c, check: 'gain[bfs, gto] > 1', reason: r, shown_by: [{with: {}}]}]\n",
         ":8:71:", "needs the key 'check'"},
        {HEAD AXES MEASURES "claims: [{says: c, check: 'gain[bfs, gto] > 1', reason: r, shown_by: [{at: {s: gt}, "
                            "check: 'gain[bfs, gto] > 1'}]}]\n",
         ":8:80:", "the axis 's' has no point 'gt'"},
        {"title: t\naxes: [{axis: paper, values: [1], with: {set: {a: $}}}]\n",
         ":2:15:", "an axis cannot be called 'paper': results have a column of that name"},
        {"title: t\naxes: [{axis: a, values: [1]}]\n", ":2:8:", "an axis takes 'points', or 'values' and 'with'"},
        {"title: t\nrun: {example: {warps: [LXL], long: 1, short: 1}}\n", ":2:25:", "a word of L (long) and S (short)"},
    };
    for (size_t i = 0; i < sizeof mistake / sizeof mistake[0]; i++) {
        struct experiment experiment;
        struct base_diag diag = {0};
        assert_false(load(&experiment, mistake[i].text, &diag));
        if (!strstr(diag.text, mistake[i].place) || !strstr(diag.text, mistake[i].message))
            fail_msg("'%s' at %s is not in: %s", mistake[i].message, mistake[i].place, diag.text);
    }
}

static void every_bundled_experiment_can_be_read(void **state) {
    (void)state;
    struct experiment_set all;
    assert_int_equal(experiment_load_all(&all, &arena), 0);
    assert_true(all.count > 40);
    for (unsigned i = 0; i < all.count; i++)
        if (all.item[i].n_claims == 0)
            fail_msg("%s claims nothing", all.item[i].name);
}

static int free_arena(void **state) {
    (void)state;
    base_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_becomes_axes_measures_and_claims),
        cmocka_unit_test(a_run_that_shows_a_reason_changes_what_it_says),
        cmocka_unit_test(mistakes_have_a_place_and_a_remedy),
        cmocka_unit_test(every_bundled_experiment_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, free_arena);
}
