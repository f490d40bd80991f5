/* Launches: parameters in both forms, limits, sticky faults, host functions, occupancy. */
#include "cuda/fixture.h"

enum { N = 100 };

struct arrays {
    CUdeviceptr a, out;
};

static struct arrays make_arrays(void) {
    struct arrays arrays;
    unsigned values[N];
    for (unsigned i = 0; i < N; i++)
        values[i] = i;
    assert_cuda(cuMemAlloc(&arrays.a, sizeof(values)));
    assert_cuda(cuMemAlloc(&arrays.out, sizeof(values)));
    assert_cuda(cuMemcpyHtoD(arrays.a, values, sizeof(values)));
    return arrays;
}

static void check_out(const struct arrays *arrays, unsigned added) {
    unsigned values[N];
    assert_cuda(cuMemcpyDtoH(values, arrays->out, sizeof(values)));
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(values[i], i + added);
}

static void parameters_come_one_by_one(void **state) {
    (void)state;
    struct arrays arrays = make_arrays();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    struct add_parameters p = {arrays.out, arrays.a, 3, 1000, N};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    assert_cuda(cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    check_out(&arrays, 1003);
    assert_int_equal(cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    parameters[2] = NULL;
    assert_int_equal(cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void parameters_come_as_a_block(void **state) {
    (void)state;
    struct arrays arrays = make_arrays();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    struct add_parameters p = {arrays.out, arrays.a, 4, 2000, N};
    size_t bytes = sizeof(p);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    assert_cuda(cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
    check_out(&arrays, 2004);
    bytes--;
    assert_int_equal(cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    bytes++;
    assert_int_equal(cuLaunchKernel(add, 4, 1, 1, 32, 1, 1, 0, NULL, parameters, extra), CUDA_ERROR_INVALID_VALUE);
}

static void the_launches_of_old_still_work(void **state) {
    (void)state;
    struct arrays arrays = make_arrays();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    unsigned char b = 5;
    unsigned long long n = N;
    assert_cuda(cuFuncSetBlockShape(add, 64, 1, 1));
    assert_cuda(cuParamSetv(add, 0, &arrays.out, 8));
    assert_cuda(cuParamSetv(add, 8, &arrays.a, 8));
    assert_cuda(cuParamSetv(add, 16, &b, 1));
    assert_cuda(cuParamSeti(add, 20, 10));
    assert_cuda(cuParamSetv(add, 24, &n, 8));
    assert_int_equal(cuParamSeti(add, 30, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuParamSetSize(add, 32));
    assert_cuda(cuLaunchGrid(add, 2, 1));
    check_out(&arrays, 15);
}

static void attributes_of_a_launch_are_obeyed_or_harmless(void **state) {
    (void)state;
    struct arrays arrays = make_arrays();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    struct add_parameters p = {arrays.out, arrays.a, 0, 6, N};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    CUlaunchAttribute attributes[2] = {{.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1},
                                       {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {1, 1, 1}}};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .attrs = attributes,
                             .numAttrs = 2};
    assert_cuda(cuLaunchKernelEx(&config, add, parameters, NULL));
    check_out(&arrays, 6);
    attributes[1].value.clusterDim.x = 2;
    assert_int_equal(cuLaunchKernelEx(&config, add, parameters, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    assert_int_equal(cuLaunchCooperativeKernel(add, 1 << 20, 1, 1, 128, 1, 1, 0, NULL, parameters),
                     CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
    assert_cuda(cuLaunchCooperativeKernel(add, 1, 1, 1, 128, 1, 1, 0, NULL, parameters));
}

static void shapes_beyond_the_device_are_refused_and_nothing_sticks(void **state) {
    (void)state;
    struct arrays arrays = make_arrays();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    struct add_parameters p = {arrays.out, arrays.a, 0, 0, N};
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    static const unsigned bad[][6] = {{0, 1, 1, 1, 1, 1},     {1, 1, 1, 0, 1, 1},    {1, 65536, 1, 1, 1, 1},
                                      {1, 1, 65536, 1, 1, 1}, {1, 1, 1, 1025, 1, 1}, {1, 1, 1, 33, 32, 1},
                                      {1, 1, 1, 1, 1, 65}};
    char said[4096];
    struct capture capture = capture_stderr();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const unsigned *b = bad[i];
        assert_int_equal(cuLaunchKernel(add, b[0], b[1], b[2], b[3], b[4], b[5], 0, NULL, parameters, NULL),
                         CUDA_ERROR_INVALID_VALUE);
    }
    assert_int_equal(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 48 * 1024 + 1, NULL, parameters, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    read_stderr(&capture, said, sizeof(said));
    assert_non_null(strstr(said, "heddle: kernel 'add3': 49153 bytes of dynamic shared memory"));
    assert_cuda(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 48 * 1024, NULL, parameters, NULL));
    assert_cuda(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 * 1024));
    assert_cuda(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 48 * 1024 + 1, NULL, parameters, NULL));
    assert_int_equal(cuLaunchKernel((CUfunction)(void *)parameters, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL),
                     CUDA_ERROR_INVALID_HANDLE);
}

static void a_fault_stays_with_its_context(void **state) {
    (void)state;
    CUcontext context;
    char said[2048];
    assert_cuda(cuInit(0));
    assert_cuda(cuCtxCreate(&context, NULL, 0, 0));
    struct arrays arrays = make_arrays();
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    struct add_parameters p = {16, arrays.a, 0, 0, N}; /* nothing is allocated at 16 */
    void *parameters[] = {&p.out, &p.a, &p.b, &p.scale, &p.n};
    struct capture capture = capture_stderr();
    CUresult launched = cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
    read_stderr(&capture, said, sizeof(said));
    assert_cuda(launched); /* as if it were still running: the next call reports it */
    assert_int_equal(strncmp(said, "heddle: ", 8), 0);
    assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1); /* one line */
    assert_non_null(strstr(said, "add3"));
    CUdeviceptr address;
    unsigned value;
    assert_int_equal(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemAlloc(&address, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuMemcpyDtoH(&value, arrays.a, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(cuStreamQuery(NULL), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_cuda(cuCtxDestroy(context));
    assert_cuda(cuCtxCreate(&context, NULL, 0, 0));
    arrays = make_arrays();
    add = load_kernel(add_ptx, "add3", NULL);
    p.out = arrays.out;
    p.a = arrays.a;
    assert_cuda(cuLaunchKernel(add, 1, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    check_out(&arrays, 0);
    assert_cuda(cuCtxDestroy(context));
}

static void count_up(void *user) {
    /* The API may be called from here. */
    CUcontext context;
    *(int *)user += cuCtxGetCurrent(&context) == CUDA_SUCCESS;
}

static void count_call(CUstream stream, CUresult status, void *user) {
    (void)stream;
    if (status == CUDA_SUCCESS)
        count_up(user);
}

static void host_functions_run_in_order(void **state) {
    (void)state;
    int count = 0;
    CUstream stream;
    assert_cuda(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    assert_cuda(cuLaunchHostFunc(stream, count_up, &count));
    assert_int_equal(count, 1);
    assert_cuda(cuStreamAddCallback(stream, count_call, &count, 0));
    assert_int_equal(count, 2);
    assert_int_equal(cuLaunchHostFunc(stream, NULL, &count), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuStreamDestroy(stream));
    assert_int_equal(cuLaunchHostFunc(stream, count_up, &count), CUDA_ERROR_INVALID_HANDLE);
}

static size_t quarter(int threads) { return (size_t)threads * 4; }

static void occupancy_follows_the_device(void **state) {
    (void)state;
    CUfunction add = load_kernel(add_ptx, "add3", NULL);
    int blocks = 0, per_sm = 0, most = 0, grid = 0, block = 0, n_sms = 0;
    size_t shared = 0;
    assert_cuda(cuDeviceGetAttribute(&per_sm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0));
    assert_cuda(cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 0));
    assert_cuda(cuDeviceGetAttribute(&n_sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_cuda(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 1024, 0));
    assert_int_equal(blocks, per_sm / 1024);
    assert_cuda(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
    assert_int_equal(blocks, most);
    assert_int_equal(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 0, 0), CUDA_ERROR_INVALID_VALUE);
    assert_cuda(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, quarter, 0, 256));
    assert_true(block > 0 && block <= 256);
    assert_int_equal(grid, per_sm / block * n_sms);
    assert_cuda(cuOccupancyAvailableDynamicSMemPerBlock(&shared, add, 2, 64));
    assert_cuda(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
    assert_cuda(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 64, shared));
    assert_int_equal(blocks, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        context_test(parameters_come_one_by_one),
        context_test(parameters_come_as_a_block),
        context_test(the_launches_of_old_still_work),
        context_test(attributes_of_a_launch_are_obeyed_or_harmless),
        context_test(shapes_beyond_the_device_are_refused_and_nothing_sticks),
        cmocka_unit_test(a_fault_stays_with_its_context),
        context_test(host_functions_run_in_order),
        context_test(occupancy_follows_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
