/* The bank of constants: its variables follow each other, however far apart the device keeps them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "exec/exec.h"

static uint64_t far_apart(void *user, const struct ptx_variable *variable) {
    (void)user;
    return 0x1000 + 0x100 * (uint64_t)(variable->name[0] - 'a');
}

static void constants_lie_side_by_side(void **state) {
    (void)state;
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b32 a;\n"
                               ".const .align 1 .b8 b;\n.global .align 4 .b32 c;\n.const .align 8 .b64 d;\n"
                               ".visible .entry k() {\nret;\n}\n";
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse("link.ptx", text, strlen(text), &messages);
    if (!module)
        fail_msg("%s", messages.text);
    struct exec_program *program = exec_link(module, ptx_find_function(module, "k"), far_apart, NULL, &messages);
    assert_non_null(program);
    assert_int_equal(program->n_const_variables, 3);
    assert_int_equal(program->const_variable[2].address, 0x1300);
    assert_int_equal(program->const_place[0], 0x1000);
    assert_int_equal(program->const_place[1], 0x1004);
    assert_int_equal(program->const_place[2], 0x1008);
    exec_program_free(program);
    ptx_module_free(module);
    ptx_messages_free(&messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants_lie_side_by_side)};
    return cmocka_run_group_tests_name("exec/program/link", tests, NULL, NULL);
}
