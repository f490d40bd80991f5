/* The lane functions for the host. Each file of exec/lanes is compiled once per level of the host's instruction set
 * (lanes.h). This file chooses the best level that the host can run. All levels compute the same bits. */
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declares the selectors of one level, with its suffix, and their table. */
#define SELECTOR(name, level) exec_lanes_fn *exec_select_##name##_##level(const struct exec_form *form)
#define LEVEL_TABLE(level)                                                                                             \
    SELECTOR(integer, level);                                                                                          \
    SELECTOR(bits, level);                                                                                             \
    SELECTOR(compare, level);                                                                                          \
    SELECTOR(move, level);                                                                                             \
    SELECTOR(video, level);                                                                                            \
    SELECTOR(single, level);                                                                                           \
    SELECTOR(double, level);                                                                                           \
    SELECTOR(half, level);                                                                                             \
    SELECTOR(approx, level);                                                                                           \
    SELECTOR(convert, level);                                                                                          \
    exec_blend_fn exec_blend_1_##level, exec_blend_16_##level, exec_blend_32_##level, exec_blend_64_##level;           \
    exec_sum_fn exec_sum_products_##level;                                                                             \
    exec_span_32_fn exec_span_32_##level;                                                                              \
    exec_span_64_fn exec_span_64_##level;                                                                              \
    static const struct exec_lanes_table table_##level = {                                                             \
        .integer = exec_select_integer_##level,                                                                        \
        .bits = exec_select_bits_##level,                                                                              \
        .compare = exec_select_compare_##level,                                                                        \
        .move = exec_select_move_##level,                                                                              \
        .video = exec_select_video_##level,                                                                            \
        .single = exec_select_single_##level,                                                                          \
        .double_ = exec_select_double_##level,                                                                         \
        .half = exec_select_half_##level,                                                                              \
        .approx = exec_select_approx_##level,                                                                          \
        .convert = exec_select_convert_##level,                                                                        \
        .blend = {exec_blend_1_##level, exec_blend_16_##level, exec_blend_32_##level, exec_blend_64_##level},          \
        .sum_products = exec_sum_products_##level,                                                                     \
        .span_32 = exec_span_32_##level,                                                                               \
        .span_64 = exec_span_64_##level,                                                                               \
    };

LEVEL_TABLE(base)
#if defined(__x86_64__) && !defined(EXEC_BASE_ONLY)
#define HAS_LEVELS
LEVEL_TABLE(v3)
LEVEL_TABLE(v4)
#endif

struct level {
    const char *name;
    const struct exec_lanes_table *table;
    bool is_supported;
};

enum { MAX_LEVELS = 3 };

#ifdef HAS_LEVELS
/* The levels of the x86-64 psABI. No processor has these features without the rest of the level. */
static bool has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}

static bool has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

/* Lists the levels compiled in, best first. */
static unsigned list_levels(struct level levels[MAX_LEVELS]) {
    unsigned n = 0;
#ifdef HAS_LEVELS
    levels[n++] = (struct level){"v4", &table_v4, has_v4()};
    levels[n++] = (struct level){"v3", &table_v3, has_v3()};
#endif
    levels[n++] = (struct level){"base", &table_base, true};
    return n;
}

const struct exec_lanes_table *exec_level_table(void) {
    struct level levels[MAX_LEVELS];
    unsigned n = list_levels(levels);
    const char *wanted = getenv("HEDDLE_HOST_LEVEL");
    bool is_unset = wanted == NULL || *wanted == '\0';
    for (unsigned i = 0; i < n; i++)
        if (levels[i].is_supported && (is_unset || strcmp(wanted, levels[i].name) == 0))
            return levels[i].table;
    fprintf(stderr, "heddle: HEDDLE_HOST_LEVEL=%s: this host does not run that level; leave it unset or use base\n",
            wanted);
    exit(EXIT_FAILURE);
}
