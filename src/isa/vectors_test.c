/* Tests of words of shared memory that become one access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "isa/internal.h"

/* The number in a register's name. */
static int number_of(const struct ptx_function *function, const struct ptx_operand *operand) {
    return atoi(function->reg[operand->register_id].name +
                strcspn(function->reg[operand->register_id].name, "0123456789"));
}

/* The lengths of the accesses to shared memory after the pass, in words, in the order of the text: "42" is one of four
 * words and one of two. `variables` are declared in the kernel. */
static const char *lengths_of(const char *variables, const char *body) {
    static char text[4096], lengths[64];
    struct ptx_messages messages = {0};
    struct base_arena arena = {0};
    int length =
        snprintf(text, sizeof text,
                 ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                 ".reg .b32 %%r<16>;\n.reg .f32 %%f<16>;\n.reg .b64 %%rd<8>;\n.reg .pred %%p<2>;\n%s\n"
                 "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, s;\nshl.b32 %%r2, %%r0, 4;\nadd.u32 %%r3, %%r1, %%r2;\n"
                 "%s\nst.global.f32 [%%rd0], %%f0;\nret;\n}\n",
                 variables, body);
    struct ptx_module *module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    isa_join_accesses(function, &arena);
    unsigned n = 0;
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        if (insn->space != PTX_SPACE_SHARED || !isa_is_access(insn))
            continue;
        lengths[n++] = (char)('0' + (insn->vector ? insn->vector : 1));
        const struct ptx_operand *value = &insn->operand[insn->opcode == PTX_OP_ST];
        for (uint32_t e = 1; e < value->n_elements; e++) /* in the order of their addresses */
            assert_int_equal(number_of(function, &value->element[e]), number_of(function, &value->element[0]) + (int)e);
    }
    lengths[n] = '\0';
    assert_int_equal(function->instruction[function->n_instructions - 1].opcode, PTX_OP_RET);
    ptx_module_free(module);
    base_arena_free(&arena);
    return lengths;
}

#define S ".shared .align 4 .b8 s[4096];"
#define LOAD(r, at) "ld.shared.f32 %f" #r ", [%r3+" #at "];\n"
#define FOUR LOAD(4, 0) LOAD(5, 4) LOAD(6, 8) LOAD(7, 12)

static void neighbours_at_a_known_place_are_one_access(void **state) {
    (void)state;
    assert_string_equal(lengths_of(S, FOUR), "4");
    assert_string_equal(lengths_of(S, LOAD(6, 8) LOAD(4, 0) LOAD(7, 12) LOAD(5, 4)), "4");
    assert_string_equal(lengths_of(S, LOAD(4, 8) LOAD(5, 12) LOAD(6, 16) LOAD(7, 20)), "22");
    assert_string_equal(lengths_of(S, "ld.shared.f32 %f4, [s+16];\nld.shared.f32 %f5, [s+20];"), "2");
    assert_string_equal(lengths_of(S, LOAD(4, 0) "add.f32 %f0, %f4, %f4;\n" LOAD(5, 4)), "2");
    assert_string_equal(lengths_of(S, "st.shared.f32 [%r3], %f4;\nst.shared.f32 [%r3+4], %f5;"), "2");
    assert_string_equal(lengths_of(S, "ld.shared.u64 %rd4, [%r3];\nld.shared.u64 %rd5, [%r3+8];\n"), "2");
    assert_string_equal(lengths_of(S, "ld.shared.u64 %rd4, [%r3+8];\nld.shared.u64 %rd5, [%r3+16];\n"), "11");
    assert_string_equal(lengths_of(S, "ld.shared.u32 %r4, [%r3];\nld.shared.u64 %rd5, [%r3+8];\n"), "11");
}

static void neighbours_across_the_border_of_a_chunk_stay_apart(void **state) {
    (void)state;
    assert_string_equal(lengths_of(S, LOAD(4, 4) LOAD(5, 8)), "11");
    assert_string_equal(lengths_of(S, LOAD(4, 0) LOAD(5, 8)), "11");
}

static void places_that_are_not_known_stay_apart(void **state) {
    (void)state;
    assert_string_equal(lengths_of(".shared .align 4 .b8 t[36];" S, FOUR), "1111"); /* s is at 36 */
    assert_string_equal(lengths_of(".shared .align 4 .b8 t[40];" S, FOUR), "22");
    assert_string_equal(lengths_of(".extern .shared .align 16 .b8 s[];", FOUR), "4");
    assert_string_equal(lengths_of(S, "mad.lo.u32 %r3, %r0, 12, %r1;\n" FOUR), "1111");
    assert_string_equal(lengths_of(S, "mad.lo.u32 %r3, %r0, 24, %r1;\n" FOUR), "22");
}

static void accesses_between_keep_words_apart(void **state) {
    (void)state;
    assert_string_equal(lengths_of(S, LOAD(4, 0) "bar.sync 0;\n" LOAD(5, 4)), "11");
    assert_string_equal(lengths_of(S, LOAD(4, 0) "st.shared.f32 [%r1+64], %f9;\n" LOAD(5, 4)), "111");
    assert_string_equal(lengths_of(S, LOAD(4, 0) "st.global.f32 [%rd1], %f9;\n" LOAD(5, 4)), "2");
    assert_string_equal(
        lengths_of(S, "st.shared.f32 [%r3], %f4;\nld.shared.f32 %f9, [%r1];\nst.shared.f32 [%r3+4], %f5;"), "111");
}

static void registers_that_change_keep_words_apart(void **state) {
    (void)state;
    assert_string_equal(lengths_of(S, LOAD(4, 0) "add.u32 %r3, %r3, 16;\n" LOAD(5, 4)), "11");
    assert_string_equal(lengths_of(S, LOAD(4, 0) "add.f32 %f0, %f5, %f4;\n" LOAD(5, 4)), "11"); /* reads the old %f5 */
    assert_string_equal(lengths_of(S, "st.shared.f32 [%r3], %f4;\nadd.f32 %f4, %f4, %f4;\nst.shared.f32 [%r3+4], %f5;"),
                        "11");
    assert_string_equal(lengths_of(S, LOAD(4, 0) "@%p0 ld.shared.f32 %f5, [%r3+4];"), "11");
    assert_string_equal(lengths_of(S, LOAD(4, 0) "ld.volatile.shared.f32 %f5, [%r3+4];"), "11");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_at_a_known_place_are_one_access),
        cmocka_unit_test(neighbours_across_the_border_of_a_chunk_stay_apart),
        cmocka_unit_test(places_that_are_not_known_stay_apart),
        cmocka_unit_test(accesses_between_keep_words_apart),
        cmocka_unit_test(registers_that_change_keep_words_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
