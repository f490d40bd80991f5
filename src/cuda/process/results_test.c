/* Tests of HEDDLE_CONFIG and HEDDLE_RESULTS, each in a separate process. */
#include "cuda/fixture.h"

#include <sys/wait.h>

#include <jansson.h>

static char results_path[] = "/tmp/heddle-results-XXXXXX";

/* Runs body in a child with these variables set (NULL: unset). Returns its exit status. */
static int in_child(const char *config, const char *results, int (*body)(void), char *said, size_t size) {
    struct capture capture = capture_stderr();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        config ? setenv("HEDDLE_CONFIG", config, 1) : unsetenv("HEDDLE_CONFIG");
        results ? setenv("HEDDLE_RESULTS", results, 1) : unsetenv("HEDDLE_RESULTS");
        exit(body());
    }
    int status = -1;
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    read_stderr(&capture, said, size);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int initialize(void) { return (int)cuInit(0); }

static int check_configured_device(void) {
    int n_sms = 0;
    size_t bytes = 0, stack = 0;
    CUcontext context;
    if (cuInit(0) || cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0) ||
        cuDeviceTotalMem(&bytes, 0) || cuCtxCreate(&context, NULL, 0, 0) || cuCtxGetLimit(&stack, CU_LIMIT_STACK_SIZE))
        return 1;
    return n_sms == 3 && bytes == 2097152 && stack == 2048 ? 0 : 2;
}

static void the_configuration_reaches_the_device(void **state) {
    (void)state;
    char said[1024];
    assert_int_equal(
        in_child("{\"n_sms\": 3, \"memory_bytes\": 2097152, \"stack_bytes\": 2048, \"timeout_seconds\": 2.5,"
                 " \"progress\": false, \"verbose\": false, \"max_instructions\": 0, \"heap_bytes\": 4096}",
                 NULL, check_configured_device, said, sizeof(said)),
        0);
    assert_string_equal(said, "");
    assert_int_equal(in_child(NULL, NULL, initialize, said, sizeof(said)), 0);
}

static void a_wrong_configuration_is_one_line_and_an_error(void **state) {
    (void)state;
    static const struct {
        const char *config, *said;
    } cases[] = {
        {"{\"n_sm\": 3}", "heddle: HEDDLE_CONFIG: unknown key \"n_sm\"; did you mean \"n_sms\"?\n"},
        {"{\"zzzzzzzzzzzz\": 3}", "heddle: HEDDLE_CONFIG: unknown key \"zzzzzzzzzzzz\"\n"},
        {"{\"n_sms\": 0}", "heddle: HEDDLE_CONFIG: \"n_sms\" must be a whole number from 1 to 4096\n"},
        {"{\"n_sms\": 1.5}", "heddle: HEDDLE_CONFIG: \"n_sms\" must be a whole number from 1 to 4096\n"},
        {"{\"progress\": 1}", "heddle: HEDDLE_CONFIG: \"progress\" must be true or false\n"},
        {"{\"timeout_seconds\": -1}",
         "heddle: HEDDLE_CONFIG: \"timeout_seconds\" must be a number of seconds, 0 for no limit\n"},
        {"[]", "heddle: HEDDLE_CONFIG must be a JSON object\n"},
        {"{", "heddle: HEDDLE_CONFIG: string or '}' expected near end of file at column 1\n"},
    };
    char said[1024];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(in_child(cases[i].config, NULL, initialize, said, sizeof(said)), CUDA_ERROR_INVALID_VALUE);
        assert_string_equal(said, cases[i].said);
    }
}

int cuGraphicsUnregisterResource(void); /* not supported */

/* Two launches that work, the module gone, then one that faults; the context is left as it is. */
static int work_and_fail(void) {
    CUcontext context;
    CUdeviceptr memory;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) || cuMemAlloc(&memory, 4096))
        return 1;
    struct add_parameters p = {memory, memory, 0, 0, 1024};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    for (int i = 0; i < 3; i++) {
        CUmodule module;
        CUfunction add;
        if (cuModuleLoadData(&module, add_ptx) || cuModuleGetFunction(&add, module, "add3"))
            return 2;
        if (i == 2)
            p.out = 8;
        if (cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL))
            return 3;
        if (i < 2 && cuModuleUnload(module))
            return 4;
    }
    void *function;
    cuGetProcAddress("cuMissingHere", &function, 13000, 0, NULL); /* not called, so not missing */
    cuGraphicsUnregisterResource();
    return cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 5;
}

static json_int_t integer(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_integer(value));
    return json_integer_value(value);
}

static json_t *run_and_read(void) {
    char said[4096];
    unlink(results_path);
    assert_int_equal(in_child(NULL, results_path, work_and_fail, said, sizeof(said)), 0);
    json_error_t error;
    json_t *results = json_load_file(results_path, 0, &error);
    assert_non_null(results);
    return results;
}

static void results_tell_of_every_launch_and_error(void **state) {
    (void)state;
    json_t *results = run_and_read();
    const json_t *kernels = json_object_get(results, "kernels"), *first = json_array_get(kernels, 0);
    assert_int_equal(json_array_size(kernels), 3);
    assert_string_equal(json_string_value(json_object_get(first, "name")), "add3");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "grid"), 0)), 8);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "block"), 0)), 128);
    assert_int_equal(integer(first, "threads"), 1024);
    assert_true(integer(first, "thread_instructions") > integer(first, "warp_instructions"));
    assert_null(json_object_get(first, "simd_efficiency")); /* report/derived.c computes it from the counters */
    const json_t *total = json_object_get(results, "total");
    assert_int_equal(integer(total, "launches"), 3);
    assert_true(integer(total, "warp_instructions") >= 2 * integer(first, "warp_instructions"));
    assert_true(integer(json_object_get(results, "memory"), "peak_device_bytes") >= 4096);
    const json_t *error = json_array_get(json_object_get(results, "errors"), 0);
    assert_string_equal(json_string_value(json_object_get(error, "error")), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_non_null(strstr(json_string_value(json_object_get(error, "message")), "add3"));
    const json_t *missing = json_object_get(results, "missing_functions");
    assert_int_equal(json_array_size(missing), 1);
    assert_string_equal(json_string_value(json_array_get(missing, 0)), "cuGraphicsUnregisterResource");
    assert_true(json_is_real(json_object_get(json_object_get(results, "host"), "seconds")));
    json_decref(results);
}

static void only_host_differs_from_run_to_run(void **state) {
    (void)state;
    json_t *first = run_and_read(), *second = run_and_read();
    json_object_del(first, "host");
    json_object_del(second, "host");
    assert_true(json_equal(first, second));
    json_decref(first);
    json_decref(second);
}

static int make_path(void **state) {
    (void)state;
    int file = mkstemp(results_path);
    return file < 0 ? -1 : close(file);
}

static int remove_path(void **state) {
    (void)state;
    return unlink(results_path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_configuration_reaches_the_device),
        cmocka_unit_test(a_wrong_configuration_is_one_line_and_an_error),
        cmocka_unit_test(results_tell_of_every_launch_and_error),
        cmocka_unit_test(only_host_differs_from_run_to_run),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
