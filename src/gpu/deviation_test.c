/* The deviation of timed sections: by chance, from neighbour to neighbour, and by drift. */
#include "gpu/deviation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 40 };

static const char *const kernel = "step", *const other = "other";

/* Returns the deviation of N sections with equal counts that took these cycles; between them are as many of another
 * kernel. 0: not timed. */
static struct gpu_deviation deviation_of(const uint64_t cycles[N]) {
    struct gpu *gpu = calloc(1, sizeof *gpu);
    struct gpu_launch_record launch[2] = {{.kernel = kernel}, {.kernel = other}};
    struct gpu_section *section = calloc(2 * N, sizeof *section);
    struct stats_counters *timed = calloc(2 * N, sizeof *timed);
    assert_true(gpu && section && timed);
    gpu->launch = launch;
    for (uint32_t i = 0; i < 2 * N; i++) {
        timed[i].cycles = i % 2 ? 7 * i * i : cycles[i / 2];
        section[i] = (struct gpu_section){.launch = i % 2,
                                          .kind = GPU_SECTION_WHOLE,
                                          .stratum = i % 2,
                                          .segment = 1,
                                          .work = 100,
                                          .longest = 10,
                                          .timed = timed[i].cycles ? &timed[i] : NULL};
    }
    struct gpu_deviation deviation = gpu_deviation_of(gpu, section, 2 * N, kernel, GPU_SECTION_WHOLE);
    free(timed);
    free(section);
    free(gpu);
    return deviation;
}

static void equal_sections_do_not_deviate(void **state) {
    (void)state;
    uint64_t cycles[N];
    for (uint32_t i = 0; i < N; i++)
        cycles[i] = i % 3 ? 1000 : 0;
    struct gpu_deviation deviation = deviation_of(cycles);
    assert_true(deviation.relative < 1e-6 && deviation.drift < 1e-6);
    assert_true(deviation.freedom == 2 * N / 3 - 1); /* 26 are timed */
}

/* Neighbours differ by a fifth of their prediction: half of the mean square is 0.02. */
static void chance_is_the_difference_of_neighbours(void **state) {
    (void)state;
    uint64_t cycles[N];
    for (uint32_t i = 0; i < N; i++)
        cycles[i] = i % 2 ? 1100 : 900;
    struct gpu_deviation deviation = deviation_of(cycles);
    assert_true(deviation.relative > 0.99 * sqrt(0.02) && deviation.relative < 1.1 * sqrt(0.02));
    assert_true(deviation.drift < 0.01);
}

/* Neighbours are equal but for one pair, and all sections lie a tenth above or below their prediction. */
static void drift_is_what_neighbours_do_not_show(void **state) {
    (void)state;
    uint64_t cycles[N];
    for (uint32_t i = 0; i < N; i++)
        cycles[i] = i < N / 2 ? 900 : 1100;
    struct gpu_deviation deviation = deviation_of(cycles);
    assert_true(deviation.relative < 0.03); /* sqrt(0.02 / 39) is 0.023 */
    assert_true(deviation.drift > 0.09 && deviation.drift < 0.11);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_sections_do_not_deviate),
        cmocka_unit_test(chance_is_the_difference_of_neighbours),
        cmocka_unit_test(drift_is_what_neighbours_do_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
