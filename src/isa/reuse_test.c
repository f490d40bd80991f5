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
    assert_false(is_joined("st.u32 [%rd1], %r4;", AGAIN));
    assert_true(is_joined("st.global.u32 [%rd1], %r4;", AGAIN));
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

/* A first load of a fragment, the text, a second load into %r20 to %r23, and a product of it: returns whether the
 * second load is gone and the product reads the first fragment. */
static bool is_fragment_joined(const char *first, const char *between, const char *again, const char *after) {
    static char text[4096];
    struct ptx_messages messages = {0};
    int length = snprintf(text, sizeof text,
                          ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                          ".reg .b32 %%r<32>;\n.reg .f32 %%f<4>;\n.reg .b64 %%rd<8>;\n.reg .pred %%p<4>;\n"
                          "mov.u32 %%r0, %%tid.x;\n%s\n%s\n%s\n"
                          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%%f0, %%f1, %%f2, %%f3}, "
                          "{%%r20, %%r21, %%r22, %%r23}, {%%r4, %%r5}, {%%f0, %%f1, %%f2, %%f3};\n%s\n"
                          "st.global.f32 [%%rd0], %%f0;\nret;\n}\n",
                          first, between, again, after);
    struct ptx_module *module = ptx_parse("test", text, (size_t)length, &messages);
    if (!module)
        fail_msg("%s", messages.text);
    ptx_messages_free(&messages);
    struct ptx_function *function = ptx_find_function(module, "k");
    unsigned n_loads = 0;
    bool reads_first = false;
    const struct ptx_instruction *load = NULL;
    isa_reuse_loads(function);
    for (uint32_t i = 0; i < function->n_instructions; i++) {
        const struct ptx_instruction *insn = &function->instruction[i];
        bool is_load = insn->opcode == PTX_OP_LDMATRIX || insn->opcode == PTX_OP_WMMA;
        load = is_load && !load ? insn : load;
        n_loads += is_load;
        if (insn->opcode == PTX_OP_MMA)
            for (unsigned e = 0; e < 4; e++)
                reads_first = insn->operand[1].element[e].register_id == load->operand[0].element[e].register_id &&
                              (e == 0 || reads_first);
    }
    ptx_module_free(module);
    assert_true(reads_first == (n_loads == 1));
    return n_loads == 1;
}

#define FIRST "{%r10, %r11, %r12, %r13}"
#define SECOND "{%r20, %r21, %r22, %r23}"
#define LDMATRIX "ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
#define WMMA(space) "wmma.load.a.sync.aligned.row.m16n16k16" space ".bf16 "

/* ptxas 13.0: a kernel of each. */
static void a_fragment_is_loaded_once(void **state) {
    (void)state;
    assert_true(is_fragment_joined(LDMATRIX FIRST ", [%r1];", "", LDMATRIX SECOND ", [%r1];", ""));
    assert_true(is_fragment_joined(WMMA(".shared") FIRST ", [%r1], 16;", "st.global.u32 [%rd1], %r4;",
                                   WMMA(".shared") SECOND ", [%r1], 16;", ""));
    assert_true(is_fragment_joined(WMMA(".global") FIRST ", [%rd1], %r3;",
                                   "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, " FIRST
                                   ", {%r4, %r5}, {%f0, %f1, %f2, %f3};",
                                   WMMA(".global") SECOND ", [%rd1], %r3;", ""));
}

static void other_fragments_are_loaded(void **state) {
    (void)state;
#define LOADED WMMA(".shared") FIRST ", [%r1], 16;"
    assert_false(is_fragment_joined(LOADED, "", WMMA(".shared") SECOND ", [%r1], 32;", ""));
    assert_false(is_fragment_joined(LOADED, "", WMMA(".shared") SECOND ", [%r1+32], 16;", ""));
    assert_false(is_fragment_joined(LOADED, "",
                                    "wmma.load.a.sync.aligned.col.m16n16k16.shared.bf16 " SECOND ", [%r1], 16;", ""));
#define AGAIN_LOADED WMMA(".shared") SECOND ", [%r1], 16;"
    assert_false(is_fragment_joined(LOADED, "bar.sync 0;", AGAIN_LOADED, ""));
    assert_false(is_fragment_joined(LOADED, "bar.warp.sync -1;", AGAIN_LOADED, ""));
    assert_false(is_fragment_joined(LOADED, "st.shared.u32 [%r2], %r4;", AGAIN_LOADED, ""));
    assert_false(is_fragment_joined(LOADED, "st.u32 [%rd1], %r4;", AGAIN_LOADED, ""));
    assert_false(is_fragment_joined(LOADED, "add.u32 %r1, %r1, 4;", AGAIN_LOADED, ""));
    assert_false(is_fragment_joined(LOADED, "mov.u32 %r12, 0;", AGAIN_LOADED, "")); /* the fragment is gone */
    assert_false(is_fragment_joined(LOADED, "", AGAIN_LOADED, "mov.u32 %r21, 0;"));
    assert_false(is_fragment_joined(LOADED, "", AGAIN_LOADED, "bra L;\nL: st.global.u32 [%rd0], %r22;"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_that_is_there_is_moved),
        cmocka_unit_test(other_words_are_loaded),
        cmocka_unit_test(words_that_may_have_changed_are_loaded_again),
        cmocka_unit_test(a_fragment_is_loaded_once),
        cmocka_unit_test(other_fragments_are_loaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
