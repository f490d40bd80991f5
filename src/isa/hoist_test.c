/* Tests of loads that move ahead of branches, as in the code of ptxas 13.0 for the same kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/internal.h"

#define HEAD                                                                                                           \
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"                              \
    ".reg .b32 %r<32>;\n.reg .f32 %f<64>;\n.reg .b64 %rd<8>;\n.reg .pred %p<8>;\n"

/* Twelve instructions, too many for a predicate. */
#define LONG "ex2.approx.f32 %f3, %f3;\nex2.approx.f32 %f3, %f3;\nex2.approx.f32 %f3, %f3;\n"

static struct ptx_module *module;

/* Moves the loads of the kernel and writes the lines of its instructions, counted from the first of the body. */
static const char *hoist(const char *body) {
    static char text[16384], lines[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text, "%s%s}\n", HEAD, body);
    module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    isa_hoist_loads(isa_find_target("sm_90"), function);
    uint32_t first = 1;
    for (const char *c = HEAD; *c; c++)
        first += *c == '\n';
    lines[0] = '\0';
    for (uint32_t i = 0; i < function->n_instructions; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s%u", i ? " " : "",
                 function->instruction[i].at.line - first);
    return lines;
}

static void loads_behind_a_branch_come_before_it(void **state) {
    (void)state;
    assert_string_equal(
        hoist("ld.global.f32 %f1, [%rd0];\nsetp.gt.f32 %p1, %f1, %f2;\n@%p1 bra A;\n" LONG
              "A: add.s64 %rd1, %rd0, 8;\nld.global.f32 %f4, [%rd1];\nsetp.gt.f32 %p2, %f4, %f2;\n"
              "@%p2 bra B;\n" LONG
              "B: ld.shared.f32 %f5, [%r1];\nadd.f32 %f6, %f5, %f4;\nst.global.f32 [%rd0], %f6;\nret;\n"),
        "0 1 6 7 13 2 3 4 5 8 9 10 11 12 14 15 16");
    const struct ptx_function *function = ptx_find_function(module, "k");
    assert_int_equal(function->instruction[5].operand[0].target, 9); /* the branches go to what has stayed */
    assert_int_equal(function->instruction[10].operand[0].target, 14);
    ptx_module_free(module);
}

static void a_branch_that_becomes_a_predicate_is_passed_with_others(void **state) {
    (void)state;
    hoist(
        "setp.gt.f32 %p1, %f1, %f2;\n@%p1 bra A;\n" LONG "setp.gt.f32 %p2, %f3, %f2;\n@%p2 bra A;\n"
        "mov.f32 %f2, %f3;\nA: ld.global.f32 %f4, [%rd0];\nadd.f32 %f6, %f2, %f4;\nst.global.f32 [%rd0], %f6;\nret;\n");
    assert_int_equal(ptx_find_function(module, "k")->instruction[1].opcode, PTX_OP_LD);
    ptx_module_free(module);
}

static void loads_stay_behind(void **state) {
    (void)state;
    static const char *const bodies[] = {
        LONG "st.global.f32 [%rd1], %f3;\nA: ",              /* a store to the same memory */
        LONG "bar.sync 0;\nA: ",                             /* a barrier */
        LONG "div.rn.f32 %f3, %f3, %f2;\nA: ",               /* a division that may call a function */
        LONG "add.s64 %rd0, %rd0, 4;\nA: ",                  /* another address */
        LONG "mov.f32 %f4, %f3;\nA: add.f32 %f3, %f4, %f3;", /* a value that is still read */
        LONG "bra.uni B;\nA: " LONG "B: ",                   /* two ways */
        LONG "setp.gt.f32 %p2, %f3, %f2;\n@%p2 bra B;\n" LONG "B: " LONG "A: ", /* a branch that remains */
        LONG "shfl.sync.bfly.b32 %f3, %f3, 1, 31, -1;\nA: ",
    };
    for (unsigned k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        char body[4096];
        snprintf(body, sizeof body,
                 "setp.gt.f32 %%p1, %%f1, %%f2;\n@%%p1 bra A;\n%sld.global.f32 %%f4, [%%rd0];\n"
                 "add.f32 %%f6, %%f3, %%f4;\nst.global.f32 [%%rd0], %%f6;\nret;\n",
                 bodies[k]);
        hoist(body);
        if (ptx_find_function(module, "k")->instruction[1].opcode == PTX_OP_LD)
            fail_msg("the load moves ahead of\n%s", bodies[k]);
        ptx_module_free(module);
    }
}

/* Returns how many of 16 loads, each behind another branch, come before all branches while `n` values are live. */
static unsigned loads_ahead(unsigned n) {
    static char body[16384];
    snprintf(body, sizeof body, ".reg .f32 %%v<16>, %%a<64>;\n");
    for (unsigned k = 0; k < n; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "ld.global.f32 %%a%u, [%%rd0+%u];\n", k, 4 * k);
    for (unsigned k = 0; k < 16; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "ld.global.f32 %%v%u, [%%rd0+%u];\nsetp.gt.f32 %%p1, %%v%u, %%f2;\n@%%p1 bra A%u;\n%sA%u:\n", k,
                 400 + 4 * k, k, k, LONG, k);
    for (unsigned k = 0; k < n; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "st.global.f32 [%%rd0+%u], %%a%u;\n", 4 * k, k);
    strcat(body, "ret;\n");
    hoist(body);
    unsigned ahead = 0;
    while (ptx_find_function(module, "k")->instruction[n + ahead].opcode != PTX_OP_BRA)
        ahead++;
    ptx_module_free(module);
    return ahead - 1; /* one is the comparison */
}

static void registers_limit_the_loads(void **state) {
    (void)state;
    assert_in_range(loads_ahead(0), 12, 16);
    assert_in_range(loads_ahead(22), 1, 12);
    assert_in_range(loads_ahead(40), 1, 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_behind_a_branch_come_before_it),
        cmocka_unit_test(a_branch_that_becomes_a_predicate_is_passed_with_others),
        cmocka_unit_test(loads_stay_behind),
        cmocka_unit_test(registers_limit_the_loads),
    };
    return cmocka_run_group_tests_name("isa/hoist", tests, NULL, NULL);
}
