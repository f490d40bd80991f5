/* The lane functions for the host's instruction set. Each file of exec/lanes is compiled once per set (lanes.h); this
 * file chooses the best set that the host can run. All sets compute the same bits. */
#include "exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Declares the selectors of one set, with its suffix, and their table. */
#define SELECTOR(name, isa) exec_lanes_fn *exec_select_##name##_##isa(const struct exec_form *form)
#define ISA_TABLE(isa)                                                                                                 \
    SELECTOR(integer, isa);                                                                                            \
    SELECTOR(bits, isa);                                                                                               \
    SELECTOR(compare, isa);                                                                                            \
    SELECTOR(move, isa);                                                                                               \
    SELECTOR(video, isa);                                                                                              \
    SELECTOR(single, isa);                                                                                             \
    SELECTOR(double, isa);                                                                                             \
    SELECTOR(half, isa);                                                                                               \
    SELECTOR(approx, isa);                                                                                             \
    SELECTOR(convert, isa);                                                                                            \
    void exec_blend_##isa(void *dst, const void *src, uint32_t mask, unsigned bits);                                   \
    exec_sum_fn exec_sum_products_##isa;                                                                               \
    void exec_span_32_##isa(const uint32_t *, uint32_t, uint32_t, uint64_t *, struct exec_span *);                     \
    void exec_span_64_##isa(const uint64_t *, uint64_t, uint32_t, uint64_t *, struct exec_span *);                     \
    static const struct exec_lanes_table table_##isa = {                                                               \
        .integer = exec_select_integer_##isa,                                                                          \
        .bits = exec_select_bits_##isa,                                                                                \
        .compare = exec_select_compare_##isa,                                                                          \
        .move = exec_select_move_##isa,                                                                                \
        .video = exec_select_video_##isa,                                                                              \
        .single = exec_select_single_##isa,                                                                            \
        .double_ = exec_select_double_##isa,                                                                           \
        .half = exec_select_half_##isa,                                                                                \
        .approx = exec_select_approx_##isa,                                                                            \
        .convert = exec_select_convert_##isa,                                                                          \
        .blend = exec_blend_##isa,                                                                                     \
        .sum_products = exec_sum_products_##isa,                                                                       \
        .span_32 = exec_span_32_##isa,                                                                                 \
        .span_64 = exec_span_64_##isa,                                                                                 \
    };

ISA_TABLE(base)
#if defined(__x86_64__) && !defined(EXEC_BASE_ONLY)
#define HAS_LEVELS
ISA_TABLE(v3)
ISA_TABLE(v4)
#endif

struct isa {
    const char *name;
    const struct exec_lanes_table *table;
    bool is_supported;
};

enum { MAX_ISAS = 3 };

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

/* The sets compiled in, best first. */
static unsigned list_isas(struct isa isas[MAX_ISAS]) {
    unsigned n = 0;
#ifdef HAS_LEVELS
    isas[n++] = (struct isa){"v4", &table_v4, has_v4()};
    isas[n++] = (struct isa){"v3", &table_v3, has_v3()};
#endif
    isas[n++] = (struct isa){"base", &table_base, true};
    return n;
}

const struct exec_lanes_table *exec_isa_table(void) {
    struct isa isas[MAX_ISAS];
    unsigned n = list_isas(isas);
    const char *wanted = getenv("HEDDLE_ISA");
    bool is_unset = wanted == NULL || *wanted == '\0';
    for (unsigned i = 0; i < n; i++)
        if (isas[i].is_supported && (is_unset || strcmp(wanted, isas[i].name) == 0))
            return isas[i].table;
    fprintf(stderr, "heddle: HEDDLE_ISA=%s: this host does not run that instruction set; leave it unset or use base\n",
            wanted);
    exit(EXIT_FAILURE);
}
