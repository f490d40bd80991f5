/* Tests of repeated loads from shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/internal.h"

/* A first load, the text, and the same load into %r3: returns whether the second becomes a move. */
static bool is_joined(const char *between, const char *again) {
    static char text[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                          ".reg .b32 %%r<32>;\n.reg .f32 %%f<4>;\n.reg .b64 %%rd<8>;\n.reg .pred %%p<4>;\n"
                          "mov.u32 %%r0, %%tid.x;\nld.shared.u32 %%r2, [%%r1+4];\n%s\n%s\n"
                          "st.global.u32 [%%rd0], %%r3;\nret;\n}\n",
                          between, again);
    struct ptx_module *module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    isa_reuse_loads(function);
    const struct ptx_instruction *last = &function->instruction[function->n_instructions - 3];
    bool is_move = last->opcode == PTX_OP_MOV;
    assert_int_equal(last->operand[0].register_id,
                     function->instruction[function->n_instructions - 2].operand[1].register_id);
    if (is_move)
        assert_int_equal(last->operand[1].register_id, function->instruction[1].operand[0].register_id);
    ptx_module_free(module);
    return is_move;
}

#define AGAIN "ld.shared.u32 %r3, [%r1+4];"

static void a_word_that_is_there_is_moved(void **state) {
    (void)state;
    assert_true(is_joined("", AGAIN));
    assert_true(is_joined("add.u32 %r4, %r2, %r1;", AGAIN));
    assert_true(is_joined("ld.shared.u32 %r5, [%r1+8];\nld.global.u32 %r6, [%rd1];", AGAIN));
}

static void other_words_are_loaded(void **state) {
    (void)state;
    assert_false(is_joined("", "ld.shared.u32 %r3, [%r1+8];"));
    assert_false(is_joined("", "ld.shared.u32 %r3, [%r0+4];"));
    assert_false(is_joined("", "ld.shared.s32 %r3, [%r1+4];")); /* a rule for equal types only */
    assert_false(is_joined("", "ld.volatile.shared.u32 %r3, [%r1+4];"));
    assert_false(is_joined("", "ld.global.u32 %r3, [%rd1+4];"));
}

static void words_that_may_have_changed_are_loaded_again(void **state) {
    (void)state;
    assert_false(is_joined("st.shared.u32 [%r0], %r4;", AGAIN));
    assert_false(is_joined("red.shared.add.u32 [%r0], %r4;", AGAIN));
    assert_false(is_joined("bar.sync 0;", AGAIN));
    assert_false(is_joined("bar.warp.sync -1;", AGAIN));
    assert_false(is_joined("membar.cta;", AGAIN));
    assert_false(is_joined("cp.async.wait_all;", AGAIN));
    assert_false(is_joined("add.u32 %r1, %r1, 4;", AGAIN)); /* another address */
    assert_false(is_joined("add.u32 %r2, %r2, 1;", AGAIN)); /* the value is gone */
    assert_false(is_joined("@%p1 add.u32 %r2, %r2, 1;", AGAIN));
    assert_false(is_joined("@%p1 bra L;\nL:", AGAIN)); /* another block */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_that_is_there_is_moved),
        cmocka_unit_test(other_words_are_loaded),
        cmocka_unit_test(words_that_may_have_changed_are_loaded_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
