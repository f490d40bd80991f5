/* What instructions cost, and which registers they wait for. */
#include "sm/timing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<5>; .reg .f32 %f<4>; .reg .f64 %g<3>; .reg .b64 %d<3>; .reg .pred %q<2>; .shared .b32 s[32];\n"
    "ld.param.u64 %d1, [p];\n"             /* 0 */
    "ld.global.u32 %r1, [%d1];\n"          /* 1 */
    "@%q1 add.u32 %r2, %r1, %r1;\n"        /* 2 */
    "fma.rn.f32 %f1, %f2, %f2, %f3;\n"     /* 3 */
    "add.f64 %g1, %g2, %g2;\n"             /* 4 */
    "sin.approx.f32 %f1, %f2;\n"           /* 5 */
    "div.u32 %r3, %r1, %r2;\n"             /* 6 */
    "st.shared.u32 [s], %r3;\n"            /* 7 */
    "atom.global.add.u32 %r4, [%d1], 1;\n" /* 8 */
    "membar.gl;\n"                         /* 9 */
    "bar.sync 0;\n"                        /* 10 */
    "ret;\n}\n";

static uint64_t no_symbols(void *user, const struct ptx_variable *variable) {
    (void)user;
    (void)variable;
    return 0;
}

static void every_instruction_has_its_unit_latency_and_registers(void **state) {
    (void)state;
    static struct config_machine machine;
    char error[CONFIG_ERROR_BYTES];
    config_defaults(&machine);
    static const char *const settings[] = {"sm.alu_cycles=9",  "sm.fp32_cycles=11",  "sm.fp64_cycles=13",
                                           "sm.sfu_cycles=17", "sm.simd_width=32",   "sm.sfu_width=8",
                                           "sm.fp64_width=16", "sm.register_banks=0"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        assert_true(config_set(&machine, settings[i], error, sizeof error));
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse("k.ptx", text, strlen(text), &messages);
    assert_non_null(module);
    struct exec_program *exec = exec_link(module, module->function[0], no_symbols, NULL, &messages);
    assert_non_null(exec);
    struct sm_program *program = sm_program_new(exec, &machine);
    static const struct {
        enum sm_unit unit;
        enum sm_access access;
        unsigned latency, occupancy, n_registers, n_destinations;
    } expected[] = {
        {SM_UNIT_LDST, SM_ACCESS_CONSTANT, 9, 1, 1, 1},
        {SM_UNIT_LDST, SM_ACCESS_GLOBAL, 9, 1, 2, 1},
        {SM_UNIT_ALU, SM_ACCESS_NONE, 9, 1, 4, 1}, /* with its guard; a register that is read twice counts twice */
        {SM_UNIT_ALU, SM_ACCESS_NONE, 11, 1, 4, 1},
        {SM_UNIT_FP64, SM_ACCESS_NONE, 13, 2, 3, 1},
        {SM_UNIT_SFU, SM_ACCESS_NONE, 17, 4, 2, 1},
        {SM_UNIT_SFU, SM_ACCESS_NONE, 68, 16, 3, 1}, /* a sequence of four */
        {SM_UNIT_LDST, SM_ACCESS_SHARED, 9, 1, 1, 0},
        {SM_UNIT_LDST, SM_ACCESS_GLOBAL, 9, 1, 2, 1},
    };
    for (size_t pc = 0; pc < sizeof expected / sizeof *expected; pc++) {
        const struct sm_timing *timing = &program->timing[pc];
        assert_int_equal(timing->unit, expected[pc].unit);
        assert_int_equal(timing->access, expected[pc].access);
        assert_int_equal(timing->latency_cycles, expected[pc].latency);
        assert_int_equal(timing->occupancy_cycles, expected[pc].occupancy);
        assert_int_equal(timing->n_registers, expected[pc].n_registers);
        assert_int_equal(timing->n_destinations, expected[pc].n_destinations);
    }
    assert_true(program->timing[1].is_load && program->timing[7].is_store && program->timing[8].is_atomic);
    assert_true(program->timing[9].is_fence && program->timing[10].is_barrier && program->timing[11].is_control);
    sm_program_free(program);
    exec_program_free(exec);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_instruction_has_its_unit_latency_and_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
