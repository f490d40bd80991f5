/* Tests of spilled registers: where they are stored and loaded, and that every read finds its value. */
#include "isa/fixture.h"

enum { N_VALUES = 40 };

/* Many values that are live at once, a loop that uses two of them, then all. */
static const char *text_of(bool has_loop) {
    static char text[8192];
    int n = snprintf(text, sizeof text, "cvt.rn.f32.u32 %%f0, %%r1;\nmul.f32 %%f1, %%f0, %%f0;\n");
    for (int i = 2; i < N_VALUES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n", i, i - 1, i - 2,
                      i - 2);
    if (has_loop)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "LOOP:\n.pragma \"nounroll\";\nadd.f32 %%f1, %%f1, %%f0;\nmul.f32 %%f0, %%f0, %%f1;\n"
                      "setp.gt.f32 %%p1, %%f0, %%f1;\n@%%p1 bra LOOP;\n");
    n += snprintf(text + n, sizeof text - (size_t)n, "mov.f32 %%f63, %%f0;\n");
    for (int i = 1; i < N_VALUES; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "fma.rn.f32 %%f63, %%f63, %%f%d, %%f%d;\n", i, i);
    snprintf(text + n, sizeof text - (size_t)n, "st.global.f32 [%%rd0], %%f63;\n");
    return text;
}

static bool is_spill(const struct ptx_instruction *insn, enum ptx_opcode opcode) {
    return insn->opcode == opcode && insn->space == PTX_SPACE_LOCAL;
}

static unsigned count(const struct fixture *f, enum ptx_opcode opcode) {
    unsigned n = 0;
    for (uint32_t i = 0; i < f->function->n_instructions; i++)
        n += is_spill(&f->function->instruction[i], opcode);
    return n;
}

static struct fixture spill(const char *body, uint32_t allowed) {
    struct fixture f = fixture_new(body);
    f.function->max_registers = allowed;
    bool is_short = isa_count_registers(&isa_sm_90, f.function);
    if (is_short)
        isa_spill(&isa_sm_90, f.function, f.module->arena);
    assert_int_equal(is_short, count(&f, PTX_OP_ST) > 0);
    return f;
}

static void a_kernel_that_fits_is_not_spilled(void **state) {
    (void)state;
    struct fixture f = spill(text_of(false), 0);
    assert_int_equal(count(&f, PTX_OP_ST) + count(&f, PTX_OP_LD), 0);
    assert_int_equal(f.function->n_variables, 0);
    fixture_free(&f);
}

static void directives_force_values_into_memory(void **state) {
    (void)state;
    struct fixture few = spill(text_of(false), 32), fewer = spill(text_of(false), 24);
    assert_true(count(&few, PTX_OP_ST) > 0);
    assert_true(count(&fewer, PTX_OP_ST) > count(&few, PTX_OP_ST));
    assert_int_equal(few.function->machine_registers, 32);
    assert_int_equal(isa_count_registers(&isa_sm_90, few.function), false); /* it fits now */
    fixture_free(&few);
    fixture_free(&fewer);
}

/* The values of the loop stay in registers, the others wait in memory. */
static void loops_keep_their_values(void **state) {
    (void)state;
    struct fixture f = spill(text_of(true), 24);
    uint32_t first = 0, last = 0;
    for (uint32_t i = 0; i < f.function->n_instructions; i++) {
        first = f.function->instruction[i].opcode == PTX_OP_ADD ? i : first;
        last = f.function->instruction[i].opcode == PTX_OP_BRA ? i : last;
    }
    assert_true(first < last);
    assert_true(count(&f, PTX_OP_LD) > 0);
    for (uint32_t i = first; i < last; i++)
        assert_false(is_spill(&f.function->instruction[i], PTX_OP_LD) ||
                     is_spill(&f.function->instruction[i], PTX_OP_ST));
    fixture_free(&f);
}

struct names {
    uint32_t *writer; /* per register: the last instruction that wrote it */
    uint32_t at;
    bool is_unknown;
};

static void look(void *user, uint32_t r, bool is_write) {
    struct names *names = user;
    names->is_unknown |= !is_write && names->writer[r] == ISA_NONE;
    if (is_write)
        names->writer[r] = names->at;
}

/* In straight code: a value is written before it is read, and a slot of memory is stored before it is loaded. */
static void every_read_finds_a_value(void **state) {
    (void)state;
    struct fixture f = spill(text_of(false), 24);
    bool is_stored[4 * 64] = {false};
    struct names names = {.writer = malloc(f.function->n_registers * sizeof(uint32_t))};
    for (uint32_t r = 0; r < f.function->n_registers; r++)
        names.writer[r] = ISA_NONE;
    for (names.at = 0; names.at < f.function->n_instructions; names.at++) {
        const struct ptx_instruction *insn = &f.function->instruction[names.at];
        ptx_for_each_register(insn, look, &names);
        assert_false(names.is_unknown);
        if (is_spill(insn, PTX_OP_ST))
            is_stored[insn->operand[0].offset] = true;
        else if (is_spill(insn, PTX_OP_LD))
            assert_true(is_stored[insn->operand[1].offset]);
    }
    free(names.writer);
    fixture_free(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_fits_is_not_spilled),
        cmocka_unit_test(directives_force_values_into_memory),
        cmocka_unit_test(loops_keep_their_values),
        cmocka_unit_test(every_read_finds_a_value),
    };
    return cmocka_run_group_tests_name("isa/spill", tests, NULL, NULL);
}
