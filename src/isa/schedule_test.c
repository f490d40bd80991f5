/* Tests of the order of instructions: loads move up, and no instruction overtakes one that it depends on. */
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
    ".reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 %rd<8>;\n.reg .pred %p<4>;\n"

static struct ptx_module *module;
static uint32_t most_threads, least_blocks; /* of the kernel's directives; 0: it has none */

/* Orders the kernel and writes the lines of its instructions, counted from the first of the body. */
static const char *order(const char *body) {
    static char text[32768], lines[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text, "%s%s}\n", HEAD, body);
    module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    function->max_threads[0] = most_threads;
    function->min_blocks_per_sm = least_blocks;
    isa_schedule(isa_find_target("sm_90"), function);
    uint32_t first = 1;
    for (const char *c = HEAD; *c; c++)
        first += *c == '\n';
    lines[0] = '\0';
    for (uint32_t i = 0; i < function->n_instructions; i++)
        snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%s%u", i ? " " : "",
                 function->instruction[i].at.line - first);
    ptx_module_free(module);
    return lines;
}

static void loads_come_before_what_uses_them(void **state) {
    (void)state;
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nadd.f32 %f2, %f1, %f1;\nadd.s64 %rd1, %rd0, %rd2;\n"
                              "ld.global.f32 %f3, [%rd1];\nadd.f32 %f4, %f3, %f3;\nret;\n"),
                        "0 2 3 1 4 5");
}

static void a_condition_on_loaded_data_does_not_keep_loads_back(void **state) {
    (void)state;
    assert_string_equal(order("L:\nld.global.f32 %f1, [%rd0];\nadd.f32 %f2, %f1, %f1;\nld.global.f32 %f3, [%rd0+4];\n"
                              "add.f32 %f4, %f3, %f2;\nsetp.gt.f32 %p1, %f4, 0f00000000;\n@%p1 bra L;\nret;\n"),
                        "1 3 2 4 5 6 7");
}

/* What needs a load's result waits; ptxas 13.0 loads the indices of all bodies of an unrolled loop first. */
static void loads_do_not_wait_for_another_loads_result(void **state) {
    (void)state;
    assert_string_equal(order("ld.global.u64 %rd1, [%rd0];\nld.global.f32 %f1, [%rd1];\nld.global.u64 %rd2, [%rd0+8];\n"
                              "ld.global.f32 %f2, [%rd2];\nadd.f32 %f3, %f1, %f2;\nret;\n"),
                        "0 2 1 3 4 5");
    assert_string_equal(order("atom.global.add.u32 %r1, [%rd0], 1;\nld.global.f32 %f1, [%rd1];\n"
                              "add.f32 %f2, %f3, %f3;\nret;\n"), /* the load only waits for its turn */
                        "0 1 2 3");
}

/* Orders 16 pairs of a load and a store to shared memory while 44 values are live; returns the loads before a store. */
static unsigned loads_ahead(unsigned threads, unsigned blocks) {
    static char body[16384];
    snprintf(body, sizeof body, ".reg .f32 %%a<64>;\n");
    for (unsigned k = 0; k < 44; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "ld.global.f32 %%a%u, [%%rd0+%u];\n", k, 4 * k);
    strcat(body, "bar.sync 0;\n");
    for (unsigned k = 0; k < 16; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "ld.global.f32 %%f%u, [%%rd1+%u];\nst.shared.f32 [%%r1+%u], %%f%u;\n", k, 4 * k, 4 * k, k);
    strcat(body, "bar.sync 0;\n");
    for (unsigned k = 0; k < 44; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "st.global.f32 [%%rd0+%u], %%a%u;\n", 4 * k, k);
    strcat(body, "ret;\n");
    most_threads = threads;
    least_blocks = blocks;
    const char *lines = order(body);
    most_threads = least_blocks = 0;
    unsigned line, n = 0;
    for (int length; sscanf(lines, "%u%n", &line, &length) == 1; lines += length)
        if (line > 46 && line % 2 == 1)
            break;
        else
            n += line >= 46 && line < 78;
    return n;
}

/* ptxas 13.0 takes a few loads ahead without directives, and all if one block is enough. */
static void loads_go_ahead_as_far_as_registers_cost_no_block(void **state) {
    (void)state;
    assert_in_range(loads_ahead(0, 0), 1, 9);
    assert_in_range(loads_ahead(512, 0), 10, 15);
    assert_int_equal(loads_ahead(64, 1), 16);
}

/* Writes loads of `n` values, their number after `other`, then all stores. */
static void hold_values(char *body, size_t size, unsigned n, const char *other) {
    snprintf(body, size, ".reg .f32 %%a<64>;\n");
    for (unsigned k = 0; k < n; k++)
        snprintf(body + strlen(body), size - strlen(body), "ld.global.f32 %%a%u, [%%rd0+%u];\n", k, 4 * k);
    snprintf(body + strlen(body), size - strlen(body), "bar.sync 0;\n%sbar.sync 0;\n", other);
    for (unsigned k = 0; k < n; k++)
        snprintf(body + strlen(body), size - strlen(body), "st.global.f32 [%%rd0+%u], %%a%u;\n", 4 * k, k);
    strcat(body, "ret;\n");
}

/* Each product takes the register of its operand, also if it reads it twice. */
static void chains_alternate_when_all_registers_are_in_use(void **state) {
    (void)state;
    char body[8192];
    hold_values(body, sizeof body, 40,
                "mul.f32 %f1, %a1, %a1;\nmul.f32 %f2, %f1, %f1;\nmul.f32 %a1, %f2, %f2;\n"
                "mul.f32 %f3, %a2, %a2;\nmul.f32 %f4, %f3, %f3;\nmul.f32 %a2, %f4, %f4;\n");
    const char *lines = strstr(order(body), " 41 ");
    assert_non_null(lines);
    assert_memory_equal(lines, " 41 42 45 43 46 44 47 48", 24);
}

/* Values that all threads have in common are in uniform registers. */
static void common_values_leave_registers_for_loads(void **state) {
    (void)state;
    for (unsigned is_common = 0; is_common < 2; is_common++) {
        static char body[16384];
        snprintf(body, sizeof body, ".reg .b32 %%c<64>;\nmov.u32 %%c0, %%%s.x;\n", is_common ? "ctaid" : "tid");
        for (unsigned k = 1; k < 24; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body), "mul.lo.s32 %%c%u, %%c%u, %%c%u;\n", k, k - 1,
                     k - 1);
        strcat(body, "bar.sync 0;\n");
        for (unsigned k = 0; k < 12; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body),
                     "ld.global.u32 %%r%u, [%%rd1+%u];\nst.shared.u32 [%%r31+%u], %%r%u;\n", k, 4 * k, 4 * k, k);
        strcat(body, "bar.sync 0;\n");
        for (unsigned k = 0; k < 24; k++)
            snprintf(body + strlen(body), sizeof body - strlen(body), "st.shared.u32 [%%r31+%u], %%c%u;\n", 4 * k, k);
        strcat(body, "ret;\n");
        bool are_together = strstr(order(body), " 26 28 30 32 34 36 38 40 42 44 46 48 ") != NULL;
        assert_int_equal(are_together, is_common);
    }
}

/* A load under a condition that its consumer needs too waits until one of the seven predicates is free. */
static void predicates_limit_the_loads(void **state) {
    (void)state;
    char body[4096] = ".reg .pred %q<12>;\n";
    for (unsigned k = 0; k < 10; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "setp.lt.s32 %%q%u, %%r%u, %u;\n@%%q%u ld.global.f32 %%f%u, [%%rd0+%u];\n"
                 "@%%q%u add.f32 %%f20, %%f20, %%f%u;\n",
                 k, k, k, k, k, 4 * k, k, k);
    strcat(body, "st.global.f32 [%rd0], %f20;\nret;\n");
    const char *lines = order(body);
    unsigned line, n = 0;
    for (int length; sscanf(lines, "%u%n", &line, &length) == 1 && (line == 0 || line % 3); lines += length)
        n += line % 3 == 2;
    assert_int_equal(n, 7);
}

/* Addresses that take long follow each other without waiting, as far as others can be computed meanwhile. */
static void addresses_are_computed_together(void **state) {
    (void)state;
    assert_string_equal(order("rem.u32 %r1, %r2, %r3;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd2, %rd0, %rd1;\n"
                              "ld.global.f32 %f1, [%rd2];\nrem.u32 %r4, %r5, %r3;\nmul.wide.u32 %rd3, %r4, 4;\n"
                              "add.s64 %rd4, %rd0, %rd3;\nld.global.f32 %f2, [%rd4];\nadd.f32 %f3, %f1, %f2;\n"
                              "st.global.f32 [%rd0], %f3;\nret;\n"),
                        "0 4 1 2 3 5 6 7 8 9 10");
}

static void loads_do_not_overtake_stores(void **state) {
    (void)state;
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nst.global.f32 [%rd1], %f1;\nld.global.f32 %f3, [%rd2];\n"
                              "st.global.f32 [%rd3], %f3;\nret;\n"),
                        "0 1 2 3 4");
    assert_string_equal(order("mov.f32 %f2, 0f00000000;\natom.global.add.u32 %r1, [%rd0], 1;\n"
                              "ld.global.f32 %f1, [%rd1];\nret;\n"),
                        "1 2 0 3");
}

static void loads_overtake_stores_that_they_cannot_meet(void **state) {
    (void)state;
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nst.shared.f32 [%rd1], %f1;\nld.global.f32 %f3, [%rd2];\n"
                              "st.shared.f32 [%rd1+4], %f3;\nret;\n"),
                        "0 2 1 3 4");
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nst.global.f32 [%rd0], %f1;\nld.global.f32 %f3, [%rd0+4];\n"
                              "st.global.f32 [%rd0+4], %f3;\nret;\n"),
                        "0 2 1 3 4");
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nst.global.f32 [%rd1], %f1;\nld.global.nc.f32 %f3, [%rd2];\n"
                              "st.global.f32 [%rd3], %f3;\nret;\n"),
                        "0 2 1 3 4");
    /* a register that changed between them, or bytes that overlap */
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nst.global.f32 [%rd0], %f1;\nadd.s64 %rd0, %rd0, 4;\n"
                              "ld.global.f32 %f3, [%rd0+4];\nst.global.f32 [%rd0+4], %f3;\nret;\n"),
                        "0 1 2 3 4 5");
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nst.global.f32 [%rd0], %f1;\nld.global.f64 %rd3, [%rd0-4];\n"
                              "st.global.f64 [%rd0-4], %rd3;\nret;\n"),
                        "0 1 2 3 4");
}

#define FRAGMENT "{%r1, %r2, %r3, %r4}"
#define NEXT "{%r5, %r6, %r7, %r8}"
#define SUMS "{%f0, %f1, %f2, %f3}"
#define PRODUCT(a) "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " SUMS ", " a ", {%r9, %r10}, " SUMS ";\n"
#define LOAD(a, at) "ldmatrix.sync.aligned.m8n8.x4.shared.b16 " a ", [%r11+" at "];\n"

static void fragments_are_loaded_ahead_of_products_but_not_of_stores(void **state) {
    (void)state;
    assert_string_equal(order(LOAD(FRAGMENT, "0") PRODUCT(FRAGMENT) LOAD(NEXT, "512") PRODUCT(NEXT) "ret;\n"),
                        "0 2 1 3 4");
    assert_string_equal(order(PRODUCT(FRAGMENT) "st.shared.f32 [%r12], %f0;\n" LOAD(NEXT, "512") "ret;\n"), "0 1 2 3");
    assert_string_equal(order(PRODUCT(FRAGMENT) "st.global.f32 [%rd0], %f0;\n" LOAD(NEXT, "512") "ret;\n"), "2 0 1 3");
    assert_string_equal(order("ld.shared.f32 %f4, [%r13];\nadd.f32 %f0, %f4, %f0;\n"
                              "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r12], {%f0, %f1, %f2, %f3, "
                              "%f0, %f1, %f2, %f3}, 16;\nld.shared.f32 %f5, [%r13];\nret;\n"),
                        "0 1 2 3 4");
}

static void nothing_crosses_a_barrier_or_the_clock(void **state) {
    (void)state;
    assert_string_equal(order("add.f32 %f1, %f2, %f3;\nbar.sync 0;\nld.shared.f32 %f4, [%r1];\nret;\n"), "0 1 2 3");
    assert_string_equal(order("add.f32 %f1, %f2, %f3;\nmov.u32 %r2, %clock;\nld.shared.f32 %f4, [%r1];\nret;\n"),
                        "0 1 2 3");
}

static void copies_their_groups_and_waits_keep_their_order(void **state) {
    (void)state;
    assert_string_equal(order("add.u64 %rd1, %rd0, 16;\ncp.async.ca.shared.global [%r1], [%rd1], 16;\n"
                              "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.f32 %f4, [%r1];\nret;\n"),
                        "0 1 2 3 4 5");
}

static void loads_cross_shuffles_but_not_divisions(void **state) {
    (void)state;
    assert_string_equal(order("shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;\nld.global.f32 %f4, [%rd0];\nret;\n"), "1 0 2");
    assert_string_equal(order("div.rn.f32 %f1, %f2, %f3;\nld.global.f32 %f4, [%rd0];\nret;\n"), "0 1 2");
    assert_string_equal(order("div.full.f32 %f1, %f2, %f3;\nld.global.f32 %f4, [%rd0];\nret;\n"), "1 0 2");
}

static void atomics_go_ahead_unless_they_are_loops(void **state) {
    (void)state;
    assert_string_equal(order("atom.shared.add.u32 %r1, [%r2], %r3;\nxor.b32 %r4, %r1, %r4;\n"
                              "atom.shared.add.u32 %r5, [%r2], %r3;\nret;\n"),
                        "0 2 1 3");
    assert_string_equal(order("atom.shared.add.f32 %f1, [%r2], %f3;\nadd.f32 %f4, %f1, %f4;\n"
                              "atom.shared.add.f32 %f5, [%r2], %f3;\nret;\n"),
                        "0 1 2 3");
}

/* The load of line 2 goes up although all of them must be before the division, which a load comes after. */
static void loads_go_up_before_a_division_too(void **state) {
    (void)state;
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nadd.f32 %f2, %f1, %f1;\nld.global.f32 %f3, [%rd1];\n"
                              "div.rn.f32 %f4, %f2, %f3;\nld.global.f32 %f5, [%rd2];\nret;\n"),
                        "0 2 1 3 4 5");
}

static void a_register_keeps_its_writers_and_readers_in_order(void **state) {
    (void)state;
    /* The second load overwrites what line 1 reads. */
    assert_string_equal(order("ld.global.f32 %f1, [%rd0];\nadd.f32 %f2, %f1, %f1;\nld.global.f32 %f1, [%rd1];\n"
                              "add.f32 %f3, %f1, %f2;\nret;\n"),
                        "0 1 2 3 4");
    /* A guarded write keeps the old value of some threads. */
    assert_string_equal(
        order("mov.f32 %f1, 0f00000000;\n@%p1 ld.global.f32 %f1, [%rd0];\nadd.f32 %f2, %f1, %f1;\nret;\n"), "0 1 2 3");
    /* Carries are registers without a name. */
    assert_string_equal(order("add.cc.u32 %r1, %r2, %r3;\nadd.cc.u32 %r4, %r5, %r6;\naddc.u32 %r7, %r8, %r9;\nret;\n"),
                        "0 1 2 3");
}

/* A product of matrices, unrolled 14 times: a row's address is known, a column's moves on. ptxas 13.0 keeps the loads
 * in this order, although those of the row could all come first, and takes 32 registers. */
static void loads_stay_in_order_when_registers_are_few(void **state) {
    (void)state;
    char body[4096] = ".reg .b64 %a<16>;\n";
    for (unsigned k = 0; k < 14; k++)
        snprintf(body + strlen(body), sizeof body - strlen(body),
                 "add.s64 %%a%u, %%a%u, %%rd2;\nld.global.f32 %%f%u, [%%a%u];\nld.global.f32 %%f%u, [%%rd0+%u];\n"
                 "fma.rn.f32 %%f0, %%f%u, %%f%u, %%f0;\n",
                 k + 1, k, 2 * k + 1, k + 1, 2 * k + 2, 4 * k, 2 * k + 1, 2 * k + 2);
    for (unsigned r = 1; r < 13; r++)
        snprintf(body + strlen(body), sizeof body - strlen(body), "add.u32 %%r%u, %%r%u, %u;\n", r, r - 1, r);
    strcat(body, "st.global.v4.u32 [%rd3], {%r1, %r2, %r3, %r4};\nst.global.v4.u32 [%rd3], {%r5, %r6, %r7, %r8};\n"
                 "st.global.v4.u32 [%rd3], {%r9, %r10, %r11, %r12};\nst.global.f32 [%rd3+16], %f0;\nret;\n");
    const char *lines = order(body);
    unsigned line, last = 0, n_loads = 0;
    for (int length; sscanf(lines, "%u%n", &line, &length) == 1; lines += length)
        if ((line % 4 == 2 || line % 4 == 3) && line <= 56) { /* a load */
            assert_true(line > last);
            last = line;
            n_loads++;
        }
    assert_int_equal(n_loads, 28);
}

static void dependent_chains_take_turns(void **state) {
    (void)state;
    assert_string_equal(order("add.f32 %f1, %f1, %f0;\nadd.f32 %f1, %f1, %f0;\nadd.f32 %f2, %f2, %f0;\n"
                              "add.f32 %f2, %f2, %f0;\nret;\n"),
                        "0 2 1 3 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_come_before_what_uses_them),
        cmocka_unit_test(a_condition_on_loaded_data_does_not_keep_loads_back),
        cmocka_unit_test(loads_do_not_wait_for_another_loads_result),
        cmocka_unit_test(loads_go_ahead_as_far_as_registers_cost_no_block),
        cmocka_unit_test(chains_alternate_when_all_registers_are_in_use),
        cmocka_unit_test(common_values_leave_registers_for_loads),
        cmocka_unit_test(predicates_limit_the_loads),
        cmocka_unit_test(addresses_are_computed_together),
        cmocka_unit_test(loads_do_not_overtake_stores),
        cmocka_unit_test(loads_overtake_stores_that_they_cannot_meet),
        cmocka_unit_test(fragments_are_loaded_ahead_of_products_but_not_of_stores),
        cmocka_unit_test(nothing_crosses_a_barrier_or_the_clock),
        cmocka_unit_test(copies_their_groups_and_waits_keep_their_order),
        cmocka_unit_test(loads_cross_shuffles_but_not_divisions),
        cmocka_unit_test(atomics_go_ahead_unless_they_are_loops),
        cmocka_unit_test(loads_go_up_before_a_division_too),
        cmocka_unit_test(a_register_keeps_its_writers_and_readers_in_order),
        cmocka_unit_test(loads_stay_in_order_when_registers_are_few),
        cmocka_unit_test(dependent_chains_take_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
