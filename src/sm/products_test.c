/* The time of products of four warps, as measured on an H200: wgmma_f16_f32_n* and others of bench/hardware. */
#include "sm/products.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/machine.h"
#include "ptx/matrix.h"

static const struct config_machine h200 = {
    .matrix = {.group_rate = 512, .group_latency_cycles = 33, .group_shared_cycles = 10, .group_least_cycles = 13},
    .shared = {.banks = 32}};

static struct ptx_matrix matrix;
static struct ptx_operand operand[3];

static struct ptx_instruction product(unsigned n, unsigned k, enum ptx_element element, bool a_is_shared) {
    matrix = (struct ptx_matrix){
        .m = 64, .n = (uint16_t)n, .k = (uint16_t)k, .n_elements = 3, .element = {PTX_ELEMENT_F32, element, element}};
    operand[1].kind = a_is_shared ? PTX_OPERAND_REGISTER : PTX_OPERAND_VECTOR;
    return (struct ptx_instruction){.opcode = PTX_OP_WGMMA, .n_operands = 3, .operand = operand, .matrix = &matrix};
}

static void multiplications_take_half_a_cycle_per_column(void **state) {
    (void)state;
    struct ptx_instruction wide = product(256, 16, PTX_ELEMENT_F16, true);
    assert_int_equal(sm_product_cycles(&h200, &wide), 128);
    assert_int_equal(sm_product_latency(&h200, &wide), 43 + 128);
    struct ptx_instruction bytes = product(128, 32, PTX_ELEMENT_E4M3, true);
    assert_int_equal(sm_product_cycles(&h200, &bytes), 64);
    struct ptx_instruction words = product(128, 8, PTX_ELEMENT_TF32, true);
    assert_int_equal(sm_product_cycles(&h200, &words), 64);
}

static void narrow_products_wait_for_shared_memory(void **state) {
    (void)state;
    static const unsigned n[] = {8, 16, 32, 64}, cycles[] = {18, 20, 24, 32};
    for (unsigned i = 0; i < 4; i++) {
        struct ptx_instruction insn = product(n[i], 16, PTX_ELEMENT_F16, true);
        assert_int_equal(sm_product_cycles(&h200, &insn), cycles[i]);
    }
}

static void products_from_registers_have_a_least_time(void **state) {
    (void)state;
    struct ptx_instruction narrow = product(8, 16, PTX_ELEMENT_F16, false);
    assert_int_equal(sm_product_cycles(&h200, &narrow), 13);
    assert_int_equal(sm_product_latency(&h200, &narrow), 33 + 4);
    struct ptx_instruction wide = product(64, 16, PTX_ELEMENT_F16, false);
    assert_int_equal(sm_product_cycles(&h200, &wide), 32);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(multiplications_take_half_a_cycle_per_column),
        cmocka_unit_test(narrow_products_wait_for_shared_memory),
        cmocka_unit_test(products_from_registers_have_a_least_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
