/* Images of all kinds through the API, and modules made of several translation units. */
#include "cuda/fixture.h"

#include "cuda/modules/fatbin.h"

static unsigned char *read_file(const char *path, size_t *length) {
    unsigned char *bytes = calloc(1, 1 << 16);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot read %s", path);
    *length = fread(bytes, 1, (1 << 16) - 1, file);
    fclose(file);
    return bytes;
}

static unsigned run_which(CUmodule module) {
    CUfunction function;
    CUdeviceptr out;
    unsigned value = 0;
    assert_cuda(cuModuleGetFunction(&function, module, "which"));
    assert_cuda(cuMemAlloc(&out, 4));
    void *parameters[] = {&out};
    assert_cuda(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(&value, out, 4));
    assert_cuda(cuMemFree(out));
    return value;
}

/* in[i] = i; out[i] = 3 * i, and n_calls grew from 100 by 32. */
static void check_scale(CUmodule module) {
    CUfunction function;
    CUdeviceptr in, out, n_calls;
    unsigned value[32];
    size_t bytes = 0;
    for (unsigned i = 0; i < 32; i++)
        value[i] = i;
    assert_cuda(cuModuleGetFunction(&function, module, "scale_all"));
    assert_cuda(cuMemAlloc(&in, sizeof value));
    assert_cuda(cuMemAlloc(&out, sizeof value));
    assert_cuda(cuMemcpyHtoD(in, value, sizeof value));
    void *parameters[] = {&out, &in};
    assert_cuda(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    assert_cuda(cuMemcpyDtoH(value, out, sizeof value));
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(value[i], 3 * i);
    assert_cuda(cuModuleGetGlobal(&n_calls, &bytes, module, "n_calls"));
    assert_int_equal(bytes, 4);
    assert_cuda(cuMemcpyDtoH(value, n_calls, 4));
    assert_int_equal(value[0], 132);
    assert_cuda(cuMemFree(in));
    assert_cuda(cuMemFree(out));
}

static void a_fat_binary_loads_from_memory_and_from_a_file(void **state) {
    (void)state;
    static const char *const path[] = {"tests/fatbins/which_plain.fatbin", "tests/fatbins/which_lz4.fatbin",
                                       "tests/fatbins/which_zstd.fatbin"};
    for (int i = 0; i < 3; i++) {
        CUmodule module;
        CUlibrary library;
        size_t length;
        unsigned char *bytes = read_file(path[i], &length);
        const struct cuda_fatbin_wrapper wrapper = {CUDA_FATBIN_WRAPPER_MAGIC, 1, bytes, NULL};
        assert_cuda(cuModuleLoadData(&module, bytes));
        assert_int_equal(run_which(module), 80);
        assert_cuda(cuModuleUnload(module));
        assert_cuda(cuModuleLoadFatBinary(&module, &wrapper));
        assert_int_equal(run_which(module), 80);
        assert_cuda(cuModuleUnload(module));
        assert_cuda(cuModuleLoad(&module, path[i]));
        assert_int_equal(run_which(module), 80);
        assert_cuda(cuModuleUnload(module));
        assert_cuda(cuLibraryLoadData(&library, &wrapper, NULL, NULL, 0, NULL, NULL, 0));
        assert_cuda(cuLibraryGetModule(&module, library));
        assert_int_equal(run_which(module), 80);
        assert_cuda(cuLibraryUnload(library));
        assert_cuda(cuLibraryLoadFromFile(&library, path[i], NULL, NULL, 0, NULL, NULL, 0));
        assert_cuda(cuLibraryUnload(library));
        free(bytes);
    }
}

static void ptx_that_cannot_run_makes_way_for_older_ptx(void **state) {
    (void)state;
    size_t length;
    CUmodule module;
    unsigned char *bytes = read_file("tests/fatbins/which_plain.fatbin", &length), *at = bytes;
    /* The entry for 80 gets an instruction that does not exist. */
    for (unsigned char *last = bytes + length - 16; at < last; at++)
        if (memcmp(at, ".target sm_80", 13) == 0)
            break;
    while (memcmp(at, "ld.global.u32", 13) != 0)
        at++;
    memcpy(at, "xx", 2);
    assert_cuda(cuModuleLoadData(&module, bytes));
    assert_int_equal(run_which(module), 75);
    assert_cuda(cuModuleUnload(module));
    free(bytes);
}

static void machine_code_alone_is_refused_with_what_to_do(void **state) {
    (void)state;
    size_t length;
    unsigned char *bytes = read_file("tests/fatbins/scale.fatbin", &length);
    char said[512], log[256];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    CUmodule module;
    bytes[16] = CUDA_FATBIN_ELF;
    struct capture capture = capture_stderr();
    CUresult result = cuModuleLoadDataEx(&module, bytes, 2, options, values);
    read_stderr(&capture, said, sizeof(said));
    assert_int_equal(result, CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(
        strstr(said, "build with -gencode arch=compute_80,code=compute_80, or ask NVRTC for compute_80 and PTX\n"));
    assert_non_null(strstr(log, "build with -gencode arch=compute_80,code=compute_80"));
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
    free(bytes);
}

static void a_damaged_fat_binary_is_an_invalid_image(void **state) {
    (void)state;
    size_t length;
    unsigned char *bytes = read_file("tests/fatbins/scale.fatbin", &length);
    char said[512];
    CUmodule module;
    memset(bytes + 24, 0xff, 8);
    struct capture capture = capture_stderr();
    CUresult result = cuModuleLoadData(&module, bytes);
    read_stderr(&capture, said, sizeof(said));
    assert_int_equal(result, CUDA_ERROR_INVALID_IMAGE);
    assert_non_null(strstr(said, "is corrupt"));
    free(bytes);
}

static void translation_units_of_one_wrapper_are_linked(void **state) {
    (void)state;
    size_t length;
    unsigned char *scale = read_file("tests/fatbins/scale.fatbin", &length),
                  *scaled = read_file("tests/fatbins/scaled.fatbin", &length);
    const void *containers[] = {scale, scaled, NULL};
    const struct cuda_fatbin_wrapper wrapper = cuda_fatbin_wrap_linked(containers);
    CUmodule module;
    assert_cuda(cuModuleLoadData(&module, &wrapper));
    check_scale(module);
    assert_cuda(cuModuleUnload(module));
    free(scale);
    free(scaled);
}

static void a_translation_unit_without_ptx_is_left_out(void **state) {
    (void)state;
    size_t length;
    unsigned char *which = read_file("tests/fatbins/which_plain.fatbin", &length),
                  *code = read_file("tests/fatbins/scale.fatbin", &length);
    const void *containers[] = {code, which, NULL}, *only_code[] = {code, NULL};
    const struct cuda_fatbin_wrapper wrapper = cuda_fatbin_wrap_linked(containers),
                                     without = cuda_fatbin_wrap_linked(only_code);
    char said[512];
    CUmodule module;
    CUfunction function;
    code[16] = CUDA_FATBIN_ELF;
    assert_cuda(cuModuleLoadData(&module, &wrapper));
    assert_int_equal(run_which(module), 80);
    assert_int_equal(cuModuleGetFunction(&function, module, "scale_all"), CUDA_ERROR_NOT_FOUND);
    assert_cuda(cuModuleUnload(module));
    struct capture capture = capture_stderr();
    assert_int_equal(cuModuleLoadData(&module, &without), CUDA_ERROR_NO_BINARY_FOR_GPU);
    read_stderr(&capture, said, sizeof(said));
    assert_non_null(strstr(said, "holds machine code and no PTX"));
    free(which);
    free(code);
}

static void the_linker_takes_ptx_and_fat_binaries(void **state) {
    (void)state;
    size_t length, image_bytes = 0;
    unsigned char *ptx = read_file("tests/fatbins/scale.ptx", &length);
    void *image = NULL;
    CUlinkState link;
    CUmodule module;
    assert_cuda(cuLinkCreate(0, NULL, NULL, &link));
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx, length, "scale.ptx", 0, NULL, NULL));
    free(ptx);
    assert_cuda(cuLinkAddFile(link, CU_JIT_INPUT_FATBINARY, "tests/fatbins/scaled.fatbin", 0, NULL, NULL));
    assert_cuda(cuLinkComplete(link, &image, &image_bytes));
    assert_int_equal(cuLinkComplete(link, &image, &image_bytes), CUDA_ERROR_INVALID_HANDLE);
    assert_cuda(cuModuleLoadData(&module, image));
    assert_cuda(cuLinkDestroy(link));
    check_scale(module);
    assert_cuda(cuModuleUnload(module));
    assert_int_equal(cuLinkDestroy(link), CUDA_ERROR_INVALID_HANDLE);
}

static void a_cubin_is_linked_if_it_is_ptx(void **state) {
    (void)state;
    static char machine_code[] = "\177ELF\2\1\1";
    size_t length, bytes;
    unsigned char *ptx = read_file("tests/fatbins/scale.ptx", &length);
    void *image = NULL, *linked = NULL;
    char said[512];
    CUlinkState link, again;
    CUmodule module;
    assert_cuda(cuLinkCreate(0, NULL, NULL, &link));
    assert_cuda(cuLinkAddData(link, CU_JIT_INPUT_CUBIN, ptx, length, "scale.cubin", 0, NULL, NULL));
    struct capture capture = capture_stderr();
    CUresult result =
        cuLinkAddData(link, CU_JIT_INPUT_CUBIN, machine_code, sizeof machine_code, "code.cubin", 0, NULL, NULL);
    read_stderr(&capture, said, sizeof(said));
    assert_int_equal(result, CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_non_null(strstr(said, "code.cubin holds machine code and no PTX"));
    assert_cuda(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "tests/fatbins/scaled.ptx", 0, NULL, NULL));
    assert_cuda(cuLinkComplete(link, &image, &bytes));
    assert_cuda(cuLinkCreate(0, NULL, NULL, &again)); /* the program sees the linked image as a cubin */
    assert_cuda(cuLinkAddData(again, CU_JIT_INPUT_CUBIN, image, bytes, "linked.cubin", 0, NULL, NULL));
    assert_cuda(cuLinkDestroy(link));
    assert_cuda(cuLinkComplete(again, &linked, NULL));
    assert_cuda(cuModuleLoadData(&module, linked));
    assert_cuda(cuLinkDestroy(again));
    check_scale(module);
    assert_cuda(cuModuleUnload(module));
    free(ptx);
}

/* What a host compiler makes of device code: fat binaries somewhere in a file. */
static void objects_and_libraries_are_searched_for_ptx(void **state) {
    (void)state;
    static const CUjitInputType types[] = {CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY};
    size_t first_bytes, second_bytes;
    unsigned char *first = read_file("tests/fatbins/scale.fatbin", &first_bytes),
                  *second = read_file("tests/fatbins/scaled.fatbin", &second_bytes);
    size_t bytes = 64 + first_bytes + 6 + second_bytes + 10;
    unsigned char *object = calloc(1, bytes);
    memcpy(object, "\177ELF", 4);
    memcpy(object + 32, "\x50\xed\x55\xba\1\0\x10\0\xff\xff", 10); /* no fat binary, although it begins like one */
    memcpy(object + 64, first, first_bytes);
    memcpy(object + 64 + first_bytes + 6, second, second_bytes);
    char said[512];
    for (unsigned i = 0; i < 2; i++) {
        CUlinkState link;
        CUmodule module;
        void *image;
        assert_cuda(cuLinkCreate(0, NULL, NULL, &link));
        assert_cuda(cuLinkAddData(link, types[i], object, bytes, "both.o", 0, NULL, NULL));
        struct capture capture = capture_stderr();
        CUresult result = cuLinkAddData(link, types[i], object, 64, "none.o", 0, NULL, NULL);
        read_stderr(&capture, said, sizeof(said));
        assert_int_equal(result, CUDA_ERROR_NO_BINARY_FOR_GPU);
        assert_non_null(strstr(said, "none.o contains no PTX to link"));
        assert_cuda(cuLinkComplete(link, &image, NULL));
        assert_cuda(cuModuleLoadData(&module, image));
        check_scale(module);
        assert_cuda(cuModuleUnload(module));
        assert_cuda(cuLinkDestroy(link));
    }
    free(first);
    free(second);
    free(object);
}

static void a_linked_image_survives_in_a_file(void **state) {
    (void)state;
    size_t bytes = 0;
    void *image = NULL;
    CUlinkState link;
    CUmodule module;
    char path[] = "/tmp/heddle-link-XXXXXX", said[256];
    assert_cuda(cuLinkCreate(0, NULL, NULL, &link));
    assert_cuda(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "tests/fatbins/scale.ptx", 0, NULL, NULL));
    assert_cuda(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "tests/fatbins/scaled.ptx", 0, NULL, NULL));
    assert_cuda(cuLinkComplete(link, &image, &bytes));
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, image, bytes), bytes);
    assert_cuda(cuLinkDestroy(link));
    assert_cuda(cuModuleLoad(&module, path));
    check_scale(module);
    assert_cuda(cuModuleUnload(module));
    assert_int_equal(ftruncate(file, (off_t)bytes - 8), 0);
    struct capture capture = capture_stderr();
    assert_int_equal(cuModuleLoad(&module, path), CUDA_ERROR_INVALID_IMAGE);
    read_stderr(&capture, said, sizeof(said));
    assert_non_null(strstr(said, "is cut short"));
    close(file);
    unlink(path);
}

static void what_is_missing_is_told_when_the_link_is_completed(void **state) {
    (void)state;
    char log[1024] = "", said[2048];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)}, *image;
    CUlinkState link;
    assert_cuda(cuLinkCreate(2, options, values, &link));
    assert_cuda(cuLinkAddFile(link, CU_JIT_INPUT_PTX, "tests/fatbins/scale.ptx", 0, NULL, NULL));
    struct capture capture = capture_stderr();
    assert_int_equal(cuLinkComplete(link, &image, NULL), CUDA_ERROR_INVALID_PTX);
    read_stderr(&capture, said, sizeof(said));
    assert_non_null(strstr(log, "call of 'scaled', which has no definition"));
    assert_cuda(cuLinkDestroy(link));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(a_fat_binary_loads_from_memory_and_from_a_file),
        context_test(ptx_that_cannot_run_makes_way_for_older_ptx),
        context_test(machine_code_alone_is_refused_with_what_to_do),
        context_test(a_damaged_fat_binary_is_an_invalid_image),
        context_test(translation_units_of_one_wrapper_are_linked),
        context_test(a_translation_unit_without_ptx_is_left_out),
        context_test(the_linker_takes_ptx_and_fat_binaries),
        context_test(a_cubin_is_linked_if_it_is_ptx),
        context_test(objects_and_libraries_are_searched_for_ptx),
        context_test(a_linked_image_survives_in_a_file),
        context_test(what_is_missing_is_told_when_the_link_is_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
