/* Tests of the libraries for CUDA 11, 12 and 13: their common behaviour and their differences. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "cudart/fixture.h"

/* The libraries lie beside the one that this program is linked with. */
static void *find(const char *soname, const char *version, const char *symbol) {
    Dl_info linked;
    assert_true(dladdr((void *)cudaRuntimeGetVersion, &linked));
    char path[4096];
    snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(linked.dli_fname, '/') - linked.dli_fname), linked.dli_fname,
             soname);
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    void *function = dlvsym(library, symbol, version);
    assert_non_null(function);
    return function;
}

static int field_at(const char *soname, const char *symbol, size_t offset, size_t bytes) {
    static char properties[2048];
    int value;
    cudaError_t (*get)(void *, int) = (cudaError_t(*)(void *, int))find(soname, soname, symbol);
    memset(properties, 0x55, sizeof properties);
    assert_ok(get(properties, 0));
    assert_int_equal(properties[bytes], 0x55);
    assert_int_not_equal(properties[bytes - 8], 0x55);
    memcpy(&value, properties + offset, sizeof value);
    return value;
}

/* The offsets of multiProcessorCount in each layout, and the size of the layout. */
static void device_properties_have_the_layout_of_their_version(void **state) {
    (void)state;
    int expected;
    assert_ok(cudaDeviceGetAttribute(&expected, cudaDevAttrMultiProcessorCount, 0));
    assert_int_equal(field_at("libcudart.so.11.0", "cudaGetDeviceProperties", 388, 728), expected);
    assert_int_equal(field_at("libcudart.so.12", "cudaGetDeviceProperties", 388, 728), expected);
    assert_int_equal(field_at("libcudart.so.12", "cudaGetDeviceProperties_v2", 388, 1032), expected);
    assert_int_equal(field_at("libcudart.so.13", "cudaGetDeviceProperties", 384, 1008), expected);
}

static void each_library_tells_its_version(void **state) {
    (void)state;
    static const char *const sonames[] = {"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"};
    for (int i = 0; i < 3; i++) {
        int version;
        cudaError_t (*get)(int *) = (cudaError_t(*)(int *))find(sonames[i], sonames[i], "cudaRuntimeGetVersion");
        assert_ok(get(&version));
        assert_int_equal(version / 1000, 11 + i);
    }
}

static void every_error_has_a_name_and_words(void **state) {
    (void)state;
    const char *none = cudaGetErrorString((cudaError_t)12345);
    unsigned n_errors = 0;
    for (int i = 0; i < 1000; i++) {
        const char *name = cudaGetErrorName((cudaError_t)i), *text = cudaGetErrorString((cudaError_t)i);
        assert_int_equal(strcmp(name, none) == 0, strcmp(text, none) == 0);
        n_errors += strcmp(name, none) != 0;
    }
    assert_int_equal(n_errors, 133);
    assert_string_equal(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
}

/* One device without peers. */
static void there_is_one_device(void **state) {
    (void)state;
    int count, device, can_access;
    unsigned flags;
    assert_ok(cudaGetDeviceCount(&count));
    assert_int_equal(count, 1);
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    assert_error(cudaErrorInvalidDevice, cudaSetDevice(1));
    assert_ok(cudaDeviceCanAccessPeer(&can_access, 0, 0));
    assert_int_equal(can_access, 0);
    assert_error(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
    assert_ok(cudaSetDeviceFlags(4));
    assert_ok(cudaGetDeviceFlags(&flags));
    assert_int_equal(flags, 4 | cudaDeviceMapHost);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        runtime_test(device_properties_have_the_layout_of_their_version),
        runtime_test(each_library_tells_its_version),
        runtime_test(every_error_has_a_name_and_words),
        runtime_test(there_is_one_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
