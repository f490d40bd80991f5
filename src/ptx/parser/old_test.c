/* PTX 1.x: the parser adds the suffixes that it leaves out. Later versions must write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"

static struct ptx_module *parse(const char *head, const char *instruction) {
    char text[512];
    struct ptx_messages messages = {0};
    snprintf(text, sizeof text, "%s\n.entry k() { .reg .f32 %%f<4>; .reg .f64 %%fd<4>; .reg .u32 %%r<4>; %s exit; }\n",
             head, instruction);
    struct ptx_module *module = ptx_parse("old.ptx", text, strlen(text), &messages);
    ptx_messages_free(&messages);
    return module;
}

static void expect(const char *head, const char *text, bool is_approximate, bool is_rounded, bool flushes) {
    struct ptx_module *module = parse(head, text);
    assert_non_null(module);
    const struct ptx_instruction *instruction = &module->function[0]->instruction[0];
    assert_int_equal(ptx_has(instruction, PTX_MOD_APPROX), is_approximate);
    assert_int_equal(ptx_has(instruction, PTX_MOD_RN), is_rounded);
    assert_int_equal(ptx_has(instruction, PTX_MOD_FTZ), flushes);
    ptx_module_free(module);
}

static void suffixes_that_were_optional_are_added(void **state) {
    (void)state;
    static const char sm_10[] = ".version 1.4\n.target sm_10, map_f64_to_f32", sm_20[] = ".version 1.4\n.target sm_20";
    expect(sm_10, "div.f32 %f1, %f2, %f3;", true, false, true);
    expect(sm_10, "sin.f32 %f1, %f2;", true, false, true);
    expect(sm_10, "mad.f32 %f1, %f2, %f3, %f1;", false, true, true);
    expect(sm_10, "rcp.approx.f32 %f1, %f2;", true, false, true);
    expect(sm_10, "div.f64 %fd1, %fd2, %fd3;", false, true, false);
    expect(sm_10, "set.gt.u32.f32 %r1, %f2, %f3;", false, false, true);
    expect(sm_10, "add.u32 %r1, %r2, %r3;", false, false, false);
    expect(sm_20, "sqrt.f32 %f1, %f2;", true, false, false);
    assert_null(parse(".version 2.0\n.target sm_10", "div.f32 %f1, %f2, %f3;"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(suffixes_that_were_optional_are_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
