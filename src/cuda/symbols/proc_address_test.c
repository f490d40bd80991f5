/* Functions by name, results by name, and unsupported functions. */
#include "cuda/fixture.h"

#include <dlfcn.h>

static void *ask(const char *name, int version, CUresult expected, CUdriverProcAddressQueryResult expected_status) {
    void *function = (void *)1;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)99;
    assert_int_equal(cuGetProcAddress(name, &function, version, 0, &status), expected);
    assert_int_equal(status, expected_status);
    return function;
}

static void a_name_means_the_symbol_of_the_version(void **state) {
    (void)state;
    assert_ptr_equal(ask("cuCtxCreate", 3020, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS),
                     dlsym(NULL, "cuCtxCreate_v2"));
    assert_ptr_equal(ask("cuCtxCreate", 12000, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS),
                     dlsym(NULL, "cuCtxCreate_v3"));
    assert_ptr_equal(ask("cuCtxCreate", 13000, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS),
                     dlsym(NULL, "cuCtxCreate_v4"));
    assert_ptr_equal(ask("cuInit", 13000, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS), dlsym(NULL, "cuInit"));
    assert_ptr_equal(ask("cuGetProcAddress", 12000, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS),
                     dlsym(NULL, "cuGetProcAddress_v2"));
    assert_null(ask("cuLibraryLoadData", 11000, CUDA_ERROR_NOT_FOUND, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT));
    assert_null(ask("cuNoSuchThing", 13000, CUDA_ERROR_NOT_FOUND, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
    void *function;
    assert_int_equal(cuGetProcAddress("cuInit", &function, 13000, 8, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuGetProcAddress(NULL, &function, 13000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void symbols_of_all_versions_are_the_same_function_where_nothing_changed(void **state) {
    (void)state;
    assert_non_null(dlsym(NULL, "cuLaunchKernel"));
    assert_ptr_equal(dlsym(NULL, "cuLaunchKernel"), dlsym(NULL, "cuLaunchKernel_ptsz"));
    assert_ptr_equal(dlsym(NULL, "cuMemcpyHtoD_v2"), dlsym(NULL, "cuMemcpyHtoD_v2_ptds"));
    assert_ptr_equal(dlsym(NULL, "cuEventDestroy"), dlsym(NULL, "cuEventDestroy_v2"));
}

static void unsupported_functions_say_so_once(void **state) {
    (void)state;
    char said[512];
    CUresult (*create)(void *, unsigned);
    void *function = ask("cuGreenCtxCreate", 13000, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS);
    memcpy(&create, &function, sizeof(create));
    struct capture capture = capture_stderr();
    CUresult first = create(NULL, 0), second = create(NULL, 0);
    read_stderr(&capture, said, sizeof(said));
    assert_int_equal(first, CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(second, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(said, "heddle: cuGreenCtxCreate is not supported\n");
    const void *table;
    const CUuuid id = {{0}};
    assert_int_equal(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
}

static void results_have_names_and_words(void **state) {
    (void)state;
    const char *text = NULL;
    assert_cuda(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_cuda(cuGetErrorString(CUDA_SUCCESS, &text));
    assert_string_equal(text, "no error");
    assert_int_equal(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    assert_null(text);
    assert_int_equal(cuGetErrorString(CUDA_SUCCESS, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_means_the_symbol_of_the_version),
        cmocka_unit_test(symbols_of_all_versions_are_the_same_function_where_nothing_changed),
        cmocka_unit_test(unsupported_functions_say_so_once),
        cmocka_unit_test(results_have_names_and_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
