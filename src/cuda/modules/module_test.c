/* Modules and libraries: which images load, which are rejected, and with what message. */
#include "cuda/fixture.h"

static void a_module_gives_its_kernels_and_variables(void **state) {
    (void)state;
    CUmodule module, owner;
    CUfunction again, missing, all[2] = {NULL};
    CUdeviceptr address;
    size_t bytes = 0, offset = 0;
    unsigned value = 0, count = 0;
    const char *name = NULL;
    CUfunction add = load_kernel(add_ptx, "add3", &module);
    assert_cuda(cuModuleGetFunction(&again, module, "add3"));
    assert_ptr_equal(add, again);
    assert_int_equal(cuModuleGetFunction(&missing, module, "add4"), CUDA_ERROR_NOT_FOUND);
    assert_cuda(cuModuleGetGlobal(&address, &bytes, module, "counter"));
    assert_int_equal(bytes, 4);
    assert_cuda(cuMemcpyDtoH(&value, address, 4));
    assert_int_equal(value, 7);
    assert_int_equal(cuModuleGetGlobal(&address, NULL, module, "add3"), CUDA_ERROR_NOT_FOUND);
    assert_cuda(cuModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 1);
    assert_cuda(cuModuleEnumerateFunctions(all, 2, module));
    assert_ptr_equal(all[0], add);
    assert_cuda(cuFuncGetName(&name, add));
    assert_string_equal(name, "add3");
    assert_cuda(cuFuncGetModule(&owner, add));
    assert_ptr_equal(owner, module);
    assert_cuda(cuFuncGetParamInfo(add, 3, &offset, &bytes));
    assert_int_equal(offset, offsetof(struct add_parameters, scale));
    assert_int_equal(bytes, 4);
    assert_int_equal(cuFuncGetParamInfo(add, 5, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuModuleUnload(module));
    assert_int_equal(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuFuncGetName(&name, add), CUDA_ERROR_INVALID_HANDLE);
}

static void kernels_have_attributes(void **state) {
    (void)state;
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    int value = -1;
    assert_cuda(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, add));
    assert_int_equal(value, 70);
    assert_cuda(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, add));
    assert_int_equal(value, 0);
    assert_cuda(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
    assert_int_equal(value, 1024);
    assert_int_equal(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30),
                     CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
    assert_cuda(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, add));
    assert_int_equal(value, 65536);
    assert_int_equal(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE);
}

static void bad_ptx_is_explained_on_standard_error_and_in_the_log(void **state) {
    (void)state;
    static const char bad[] = ".version 6.3\n.target sm_70\n.address_size 64\n.entry k() {\n  frobnicate.u32 %r1;\n}\n";
    char log[512] = "untouched", said[2048];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    CUmodule module = NULL;
    struct capture capture = capture_stderr();
    CUresult result = cuModuleLoadDataEx(&module, bad, 2, options, values);
    read_stderr(&capture, said, sizeof(said));
    assert_int_equal(result, CUDA_ERROR_INVALID_PTX);
    assert_null(module);
    assert_non_null(strstr(log, "frobnicate"));
    assert_non_null(strstr(said, "frobnicate"));
    assert_int_equal((uintptr_t)values[1], strlen(log));
    log[0] = 'x';
    values[1] = (void *)(uintptr_t)1; /* room for the end of the text only */
    capture = capture_stderr();
    assert_int_equal(cuModuleLoadDataEx(&module, bad, 2, options, values), CUDA_ERROR_INVALID_PTX);
    read_stderr(&capture, said, sizeof(said));
    assert_string_equal(log, "");
}

static void binaries_are_refused_in_one_line(void **state) {
    (void)state;
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0},
                               fat[16] = {0x50, 0xed, 0x55, 0xba, 9, 0, 16, 0};
    char said[512];
    CUmodule module;
    struct capture capture = capture_stderr();
    assert_int_equal(cuModuleLoadData(&module, elf), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(cuModuleLoadFatBinary(&module, fat), CUDA_ERROR_INVALID_IMAGE);
    read_stderr(&capture, said, sizeof(said));
    assert_non_null(strstr(said, "heddle: <module "));
    assert_non_null(strstr(said, "no PTX"));
    assert_non_null(strstr(said, "is not a fat binary of a known version"));
    assert_int_equal(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuModuleLoad(&module, "/nonexistent.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
}

static void a_library_is_a_module_of_no_context(void **state) {
    (void)state;
    CUlibrary library, owner;
    CUkernel kernel;
    CUfunction function;
    CUmodule module;
    unsigned count = 0;
    int value = 0;
    CUcontext popped;
    assert_cuda(cuCtxPopCurrent(&popped));
    assert_cuda(cuLibraryLoadData(&library, add_ptx, NULL, NULL, 0, NULL, NULL, 0));
    assert_cuda(cuLibraryGetKernel(&kernel, library, "add3"));
    assert_cuda(cuLibraryGetKernelCount(&count, library));
    assert_int_equal(count, 1);
    assert_cuda(cuCtxPushCurrent(popped));
    assert_cuda(cuKernelGetFunction(&function, kernel));
    assert_cuda(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, kernel, 0));
    assert_int_equal(value, 70);
    assert_cuda(cuKernelGetLibrary(&owner, kernel));
    assert_ptr_equal(owner, library);
    assert_cuda(cuLibraryGetModule(&module, library));
    assert_int_equal(cuModuleUnload(module), CUDA_ERROR_NOT_PERMITTED);
    assert_cuda(cuLibraryUnload(library));
    assert_int_equal(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(a_module_gives_its_kernels_and_variables),
        context_test(kernels_have_attributes),
        context_test(bad_ptx_is_explained_on_standard_error_and_in_the_log),
        context_test(binaries_are_refused_in_one_line),
        context_test(a_library_is_a_module_of_no_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
