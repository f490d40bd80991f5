/* Tests of kernels and variables that a program registers. */
#include "cudart/fixture.h"

static char unregistered; /* neither a function nor a variable of the program */

static void scale_by(void *data, uint32_t factor) {
    void *arguments[] = {&data, &factor};
    assert_ok(launch(&scale, 1, 4, arguments));
}

static void a_kernel_is_found_by_its_function(void **state) {
    (void)state;
    uint32_t values[4] = {1, 2, 3, 4};
    void *data;
    assert_ok(cudaMalloc(&data, sizeof values));
    assert_ok(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
    scale_by(data, 10);
    assert_ok(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(values[i], 10 * (i + 1) + 7);
}

static void what_is_no_kernel_is_refused(void **state) {
    (void)state;
    assert_error(cudaErrorInvalidDeviceFunction, launch(&unregistered, 1, 1, NULL));
    assert_error(cudaErrorInvalidDeviceFunction, launch(&missing, 1, 1, NULL));
    assert_error(cudaErrorInvalidDeviceFunction, launch(NULL, 1, 1, NULL));
}

static void a_kernel_handle_may_stand_for_its_function(void **state) {
    (void)state;
    cudaKernel_t kernel;
    cudaFunction_t function;
    const char *name;
    assert_ok(cudaGetKernel(&kernel, &nothing));
    assert_ok(launch(kernel, 1, 1, NULL));
    assert_ok(cudaFuncGetName(&name, kernel));
    assert_string_equal(name, "nothing");
    assert_ok(cudaGetFuncBySymbol(&function, &nothing));
    assert_ptr_equal(function, kernel);
}

static void variables_are_found_by_their_shadows(void **state) {
    (void)state;
    uint32_t value = 0, words[4] = {0};
    size_t bytes;
    void *address;
    assert_ok(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(value, 7);
    value = 5;
    assert_ok(cudaMemcpyToSymbol(&table, &value, 4, 8, cudaMemcpyHostToDevice));
    assert_ok(cudaGetSymbolSize(&bytes, &table));
    assert_int_equal(bytes, 16);
    assert_ok(cudaGetSymbolAddress(&address, &table));
    assert_ok(cudaMemcpy(words, address, 16, cudaMemcpyDeviceToHost));
    assert_int_equal(words[2], 5);
}

static void copies_stay_inside_a_variable(void **state) {
    (void)state;
    uint32_t words[5] = {0};
    assert_error(cudaErrorInvalidValue, cudaMemcpyToSymbol(&table, words, 20, 0, cudaMemcpyHostToDevice));
    assert_error(cudaErrorInvalidValue, cudaMemcpyToSymbol(&table, words, 4, 13, cudaMemcpyHostToDevice));
    assert_error(cudaErrorInvalidMemcpyDirection, cudaMemcpyToSymbol(&table, words, 4, 0, cudaMemcpyDeviceToHost));
    assert_error(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(&unregistered, words, 4, 0, cudaMemcpyHostToDevice));
}

static void a_managed_variable_is_memory_of_the_program(void **state) {
    (void)state;
    uint32_t value = 0;
    assert_int_equal(__cudaInitModule(binary), 1);
    assert_int_equal(*managed, 11);
    *managed = 12;
    assert_ok(cudaMemcpyFromSymbol(&value, managed, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(value, 12);
}

static void reset_makes_variables_new(void **state) {
    (void)state;
    uint32_t value = 5;
    cudaKernel_t kept;
    assert_ok(__cudaGetKernel(&kept, &nothing));
    assert_ok(cudaMemcpyToSymbol(&counter, &value, 4, 0, cudaMemcpyHostToDevice));
    assert_ok(cudaDeviceReset());
    assert_ok(cudaMemcpyFromSymbol(&value, &counter, 4, 0, cudaMemcpyDeviceToHost));
    assert_int_equal(value, 7);
    assert_ok(__cudaLaunchKernel(kept, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        runtime_test(a_kernel_is_found_by_its_function),
        runtime_test(what_is_no_kernel_is_refused),
        runtime_test(a_kernel_handle_may_stand_for_its_function),
        runtime_test(variables_are_found_by_their_shadows),
        runtime_test(copies_stay_inside_a_variable),
        runtime_test(a_managed_variable_is_memory_of_the_program),
        runtime_test(reset_makes_variables_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
