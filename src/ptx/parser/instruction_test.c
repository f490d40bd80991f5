/* Tests of instructions: suffixes, guards, branches, calls, and unsupported instructions. */
#include "ptx/fixture.h"

static void suffixes_become_types_spaces_widths_and_modifiers(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("cvt.rzi.ftz.s32.f32 %r1, %f1;\nld.relaxed.gpu.global.L1::no_allocate.v2.u32 {%r1, %r2}, [%rd1];\n"
                     "cvta.to.shared.u64 %rd1, %rd2;\nst.shared::cta.u32 [common], %r1;\nadd.s32 %r1, %r2, %r3;");
    const struct ptx_instruction *convert = fixture_instruction(module, 0), *load = fixture_instruction(module, 1);
    assert_int_equal(convert->opcode, PTX_OP_CVT);
    assert_int_equal(convert->n_types, 2);
    assert_int_equal(convert->type[0], PTX_S32);
    assert_int_equal(convert->type[1], PTX_F32);
    assert_true(ptx_has(convert, PTX_MOD_RZI));
    assert_true(ptx_has(convert, PTX_MOD_FTZ));
    assert_false(ptx_has(convert, PTX_MOD_SAT));
    assert_int_equal(convert->vector, 1);
    assert_int_equal(load->space, PTX_SPACE_GLOBAL);
    assert_int_equal(load->vector, 2);
    assert_true(ptx_has(load, PTX_MOD_RELAXED) && ptx_has(load, PTX_MOD_GPU) && ptx_has(load, PTX_MOD_L1_NO_ALLOCATE));
    assert_true(ptx_has(fixture_instruction(module, 2), PTX_MOD_TO));
    assert_int_equal(fixture_instruction(module, 2)->space, PTX_SPACE_SHARED);
    assert_int_equal(fixture_instruction(module, 3)->space, PTX_SPACE_SHARED);
    assert_int_equal(fixture_instruction(module, 4)->space, PTX_SPACE_GENERIC);
    assert_int_equal(fixture_instruction(module, 4)->at.line, 12);
    ptx_module_free(module);
}

static void the_name_is_the_text_as_written(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("wmma.load.a.sync.aligned.row.m8n8k32.s4 {%r1}, [%rd1], %r2; bar.sync 0;");
    char name[64], little[6];
    assert_string_equal(ptx_instruction_name(fixture_instruction(module, 0), name, sizeof name),
                        "wmma.load.a.sync.aligned.row.m8n8k32.s4");
    assert_string_equal(ptx_instruction_name(fixture_instruction(module, 1), name, sizeof name), "bar.sync");
    assert_string_equal(ptx_instruction_name(fixture_instruction(module, 1), little, sizeof little), "bar.s");
    ptx_module_free(module);
}

static void guards_are_predicates(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("@%p1 ret; @!%p2 exit; trap;");
    assert_string_equal(fixture_register(module, fixture_instruction(module, 0)->guard), "%p1");
    assert_false(fixture_instruction(module, 0)->guard_negated);
    assert_true(fixture_instruction(module, 1)->guard_negated);
    assert_int_equal(fixture_instruction(module, 2)->guard, PTX_NO_INDEX);
    ptx_module_free(module);
    fixture_rejects("@%r1 ret;", 2, "the guard '%r1' is .b32; a guard must be .pred");
    fixture_rejects("@cell ret;", 2, "'cell' is not a predicate register");
    fixture_rejects("@ ret;", 3, "undefined register 'ret'");
}

static void indexed_branches_have_targets(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("table: .branchtargets one, two, one;\nbrx.idx.uni %r1, table;\none: ret;\ntwo: exit;");
    const struct ptx_instruction *branch = fixture_instruction(module, 0);
    assert_int_equal(branch->n_operands, 1);
    assert_int_equal(branch->n_targets, 3);
    assert_int_equal(branch->target[0], 1);
    assert_int_equal(branch->target[1], 2);
    assert_int_equal(branch->target[2], 1);
    ptx_module_free(module);
}

static void direct_calls_name_function_results_and_arguments(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("{ .param .b32 a; .param .b32 b; call.uni (b), helper, (a); }\n"
                                             "call (%r1), helper, (7); call later;\n}\n.func later () {\nret;");
    const struct ptx_function *kernel = ptx_find_function(module, "kernel");
    const struct ptx_call *call = kernel->instruction[0].call;
    assert_int_equal(call->target.kind, PTX_OPERAND_FUNCTION);
    assert_ptr_equal(call->target.function, ptx_find_function(module, "helper"));
    assert_false(call->target.function->address_taken);
    assert_int_equal(call->n_results, 1);
    assert_string_equal(call->result[0].variable->name, "b");
    assert_int_equal(call->n_arguments, 1);
    assert_string_equal(call->argument[0].variable->name, "a");
    assert_null(call->prototype);
    call = kernel->instruction[1].call;
    assert_int_equal(call->result[0].kind, PTX_OPERAND_REGISTER);
    assert_int_equal(call->argument[0].kind, PTX_OPERAND_INTEGER);
    assert_ptr_equal(kernel->instruction[2].call->target.function, ptx_find_function(module, "later"));
    ptx_module_free(module);
}

static void indirect_calls_have_a_prototype_or_candidates(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("p: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (%r1), %rd1, (%r2), p;\n"
                     "c: .calltargets helper, other;\ncall (%r1), %rd1, (%r2), c;\n}\n"
                     ".func (.param .b32 r) other (.param .b32 a) {\nret;");
    const struct ptx_function *kernel = ptx_find_function(module, "kernel");
    const struct ptx_call *call = kernel->instruction[0].call;
    assert_int_equal(call->target.kind, PTX_OPERAND_REGISTER);
    assert_int_equal(call->prototype->n_results, 1);
    assert_int_equal(call->prototype->n_parameters, 1);
    assert_int_equal(call->n_candidates, 0);
    call = kernel->instruction[1].call;
    assert_int_equal(call->n_candidates, 2);
    assert_ptr_equal(call->candidate[0], ptx_find_function(module, "helper"));
    assert_ptr_equal(call->candidate[1], ptx_find_function(module, "other"));
    assert_ptr_equal(call->prototype, call->candidate[0]);
    ptx_module_free(module);
}

static void registers_of_128_bits_are_two_halves(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body(".reg .b128 %q<2>;\nmov.b128 %q0, {%rd1, %rd2};\nld.global.b128 %q1, [%rd1];\n"
                     "atom.global.cas.b128 %q1, [%rd1], %q0, %q1;\nmov.b128 {%rd1, _}, %q1;\n");
    const struct ptx_instruction *pack = fixture_instruction(module, 0), *swap = fixture_instruction(module, 2);
    assert_int_equal(pack->type[0], PTX_B64);
    assert_int_equal(pack->vector, 2);
    assert_int_equal(pack->operand[0].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(pack->operand[0].n_elements, 2);
    assert_int_equal(pack->operand[0].element[1].register_id, pack->operand[0].element[0].register_id + 1);
    assert_int_equal(swap->n_operands, 4);
    assert_null(swap->unsupported);
    ptx_module_free(module);
}

static void unsupported_instructions_parse_and_are_marked(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body(
        "tcgen05.fence::before_thread_sync;\nistypep.texref %p1, %rd1;\ncvt.rn.satfinite.e2m1x2.f32 %h1, %f1, "
        "%f2;\nadd.f32 %f1, "
        "%f2, %f3;\ntld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];");
    assert_false(ptx_instruction_is_supported(fixture_instruction(module, 0)));
    assert_false(ptx_instruction_is_supported(fixture_instruction(module, 1)));
    assert_false(ptx_instruction_is_supported(fixture_instruction(module, 2)));
    assert_string_equal(fixture_instruction(module, 2)->unsupported, ".e2m1x2");
    assert_true(ptx_instruction_is_supported(fixture_instruction(module, 3)));
    assert_true(ptx_instruction_is_supported(fixture_instruction(module, 4)));
    ptx_module_free(module);
}

static void source_lines_come_from_the_nearest_loc(void **state) {
    (void)state;
    struct ptx_module *module = fixture_body("ret;\n.loc 1 20 3\nret;\nret;\n.loc 2 30 1, function_name $info+4, "
                                             "inlined_at 1 21 5\nret;\n}\n.file 1 \"a.cu\"\n.file 3 \"b.h\", 1, 2\n"
                                             ".func f () {\nret;");
    const struct ptx_function *kernel = ptx_find_function(module, "kernel");
    assert_int_equal(kernel->instruction[0].source.file, 0);
    assert_int_equal(kernel->instruction[1].source.file, 1);
    assert_int_equal(kernel->instruction[2].source.line, 20);
    assert_int_equal(kernel->instruction[3].source.file, 2);
    assert_int_equal(kernel->instruction[3].source.line, 30);
    assert_int_equal(ptx_find_function(module, "f")->instruction[0].source.file, 0);
    assert_int_equal(module->n_files, 4);
    assert_string_equal(module->file[1], "a.cu");
    assert_null(module->file[2]);
    assert_string_equal(module->file[3], "b.h");
    ptx_module_free(module);
}

static void unknown_words_suggest_the_nearest(void **state) {
    (void)state;
    fixture_rejects("addd.s32 %r1, %r2, %r3;", 1, "unknown instruction 'addd'; did you mean 'add'?");
    fixture_rejects("frobnicate %r1;", 1, "unknown instruction 'frobnicate'");
    fixture_rejects("add.s33 %r1, %r2, %r3;", 4, "unknown suffix '.s33' of add; did you mean '.s32'?");
    fixture_rejects("setp.eqq.s32 %p1, %r2, %r3;", 5, "unknown suffix '.eqq' of setp; did you mean '.eq'?");
    fixture_rejects("ld.global.shared.u32 %r1, [%rd1];", 10, "second state space '.shared'");
    fixture_rejects("vadd.s32.s32.s32.s32.s32 %r1, %r2, %r3;", 21, "more than 4 types");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(suffixes_become_types_spaces_widths_and_modifiers),
        cmocka_unit_test(the_name_is_the_text_as_written),
        cmocka_unit_test(guards_are_predicates),
        cmocka_unit_test(indexed_branches_have_targets),
        cmocka_unit_test(direct_calls_name_function_results_and_arguments),
        cmocka_unit_test(indirect_calls_have_a_prototype_or_candidates),
        cmocka_unit_test(registers_of_128_bits_are_two_halves),
        cmocka_unit_test(unsupported_instructions_parse_and_are_marked),
        cmocka_unit_test(source_lines_come_from_the_nearest_loc),
        cmocka_unit_test(unknown_words_suggest_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
