/* Checkpoints: a program that ended at any byte of the file's life continues to the same memory, output and
 * counters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/checkpoint_file.h"
#include "gpu/fixture.h"

/* Every thread adds to its place, one prints, and one keeps a piece of the heap in a variable of the module. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".global .align 8 .b64 kept;\n"
    ".global .align 1 .b8 format[7] = {114, 111, 117, 110, 100, 10, 0};\n"
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "mul.wide.u32 %d2, %r5, 68; add.u64 %d2, %d1, %d2; atom.global.add.u32 %r6, [%d2], %r1;\n"
    "add.u32 %r6, %r6, %r5; red.global.add.u32 [%d1], %r6;\n"
    "setp.ne.u32 %p1, %r5, 0; @%p1 bra done;\n"
    "{ .param .b64 a; .param .b64 b; .param .b32 c; mov.u64 %d3, format; cvta.global.u64 %d3, %d3;\n"
    "st.param.b64 [a], %d3; st.param.b64 [b], 0; call (c), vprintf, (a, b); }\n"
    "{ .param .b64 a; ld.global.u64 %d4, [kept]; st.param.b64 [a], %d4; call free, (a); }\n"
    "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 5000; call (b), malloc, (a);\n"
    "ld.param.b64 %d5, [b]; st.global.u64 [kept], %d5; st.u32 [%d5+4096], %r1; }\n"
    "done: ret;\n}\n";

enum { N_LAUNCHES = 4, N_WORDS = 1 << 15 };

struct device {
    struct gpu *gpu;
    struct gpu_error error;
    uint64_t buffer, kept;
    struct gpu_kernel *kernel;
};

static char path[] = "/tmp/heddle-checkpoint-XXXXXX";

static bool open_device(struct device *device, const char *machine_name) {
    static struct config_machine machine;
    struct gpu_config config = gpu_default_config();
    struct ptx_messages messages = {0};
    config_defaults(&machine);
    fixture_set(&machine, (const char *const[]){"sm.count=3", NULL});
    config.machine = machine_name ? &machine : NULL;
    snprintf(config.checkpoint, sizeof config.checkpoint, "%s", path);
    *device = (struct device){0};
    device->gpu = gpu_new(&config, &device->error);
    if (!device->gpu)
        return false;
    uint64_t bytes;
    struct gpu_module *module = fixture_load(device->gpu, text);
    device->kernel = gpu_module_kernel(module, "k", &messages);
    device->buffer = gpu_malloc(device->gpu, N_WORDS * sizeof(uint32_t), 256);
    assert_true(gpu_module_global(module, "kept", &device->kept, &bytes));
    return true;
}

static bool launch(struct device *device, uint32_t number) {
    struct {
        uint64_t p;
        uint32_t n;
    } parameters = {device->buffer, number};
    struct gpu_launch launch = {.kernel = device->kernel,
                                .shape.grid = {8, 1, 1},
                                .shape.block = {64, 1, 1},
                                .parameters = &parameters,
                                .parameter_bytes = sizeof parameters,
                                .is_untimed = number == 2};
    return gpu_launch(device->gpu, &launch, &device->error);
}

/* What a program can see: its memory after every launch, and the counters at the end. */
struct outcome {
    uint32_t word[N_LAUNCHES][N_WORDS], on_heap[N_LAUNCHES];
    struct stats_counters totals;
    uint64_t time_ns;
};

static void read_back(struct device *device, struct outcome *outcome, uint32_t i) {
    uint64_t kept;
    memcpy(outcome->word[i], gpu_host(device->gpu, device->buffer, sizeof outcome->word[i]), sizeof outcome->word[i]);
    memcpy(&kept, gpu_host(device->gpu, device->kept, sizeof kept), sizeof kept);
    memcpy(&outcome->on_heap[i], gpu_host(device->gpu, kept + 4096, 4), 4);
}

/* Runs the program up to this many launches. */
static void run(const char *machine, uint32_t n_launches, struct outcome *outcome) {
    struct device device;
    if (!open_device(&device, machine))
        fail_msg("%s", device.error.message);
    memset(outcome, 0, sizeof *outcome);
    for (uint32_t i = 0; i < n_launches; i++) {
        uint32_t from_host = 1000 + i;
        memcpy(gpu_host(device.gpu, device.buffer + 64 * i, 4), &from_host, 4);
        if (!launch(&device, i + 1))
            fail_msg("%s", device.error.message);
        read_back(&device, outcome, i);
    }
    outcome->totals = gpu_totals(device.gpu);
    outcome->time_ns = gpu_time_ns(device.gpu);
    gpu_free(device.gpu);
}

static void new_file(void) {
    char error[GPU_CHECKPOINT_ERROR];
    if (!gpu_checkpoint_file_create(path, "test", error))
        fail_msg("%s", error);
}

static size_t file_bytes(void) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long bytes = ftell(file);
    fclose(file);
    return (size_t)bytes;
}

static void flip_byte(size_t at) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, (long)at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, (long)at, SEEK_SET);
    fputc(byte ^ 0x40, file);
    fclose(file);
}

static void check_machine(const char *machine) {
    static struct outcome whole, again;
    new_file();
    run(machine, N_LAUNCHES, &whole);
    assert_int_equal(whole.on_heap[2], 3);
    size_t bytes = file_bytes();
    run(machine, N_LAUNCHES, &again); /* all from the file */
    assert_memory_equal(&whole, &again, sizeof whole);
    assert_int_equal(file_bytes(), bytes);
    for (size_t cut = bytes; cut > 40; cut = cut > bytes / 9 ? cut - bytes / 9 : 0) {
        new_file();
        run(machine, N_LAUNCHES, &again);
        assert_int_equal(truncate(path, (off_t)(cut - 1)), 0);
        run(machine, N_LAUNCHES, &again);
        assert_memory_equal(&whole, &again, sizeof whole);
    }
}

static void a_run_goes_on_from_any_length_of_its_file_without_timing(void **state) {
    (void)state;
    check_machine(NULL);
}

static void a_run_goes_on_from_any_length_of_its_file_in_time(void **state) {
    (void)state;
    check_machine("default");
}

static void a_changed_byte_is_found_or_is_in_the_last_record(void **state) {
    (void)state;
    static struct outcome whole, again;
    new_file();
    run("default", 2, &whole);
    size_t two = file_bytes();
    run("default", N_LAUNCHES, &whole);
    for (size_t at = 0; at < two; at += 97) {
        struct device device;
        flip_byte(at);
        assert_false(open_device(&device, "default"));
        assert_int_equal(device.error.status, GPU_OTHER_RUN);
        flip_byte(at);
    }
    flip_byte(file_bytes() - 1);
    run("default", N_LAUNCHES, &again);
    assert_memory_equal(&whole, &again, sizeof whole);
}

static void another_program_is_refused_at_its_launch(void **state) {
    (void)state;
    static struct outcome whole;
    struct device device;
    new_file();
    run(NULL, N_LAUNCHES, &whole);
    assert_true(open_device(&device, NULL));
    assert_false(launch(&device, 1)); /* the host has not written */
    assert_int_equal(device.error.status, GPU_OTHER_RUN);
    assert_non_null(strstr(device.error.message, "launch 1 is not that of the checkpoint: the program has allocated"));
    gpu_free(device.gpu);
    assert_true(open_device(&device, NULL));
    assert_false(launch(&device, 2));
    assert_non_null(strstr(device.error.message, "other parameters"));
    gpu_free(device.gpu);
}

static struct gpu_checkpoint_file *open_file(uint32_t n_records) {
    char error[GPU_CHECKPOINT_ERROR] = "";
    struct gpu_checkpoint_file *file = gpu_checkpoint_file_open(path, error);
    if (!file)
        fail_msg("%s", error);
    assert_int_equal(gpu_checkpoint_file_count(file), n_records);
    return file;
}

static void append(const char *record) {
    char error[GPU_CHECKPOINT_ERROR] = "";
    struct gpu_checkpoint_file *file = open_file(record[0] - '0');
    struct base_bytes bytes = {0};
    base_bytes_put(&bytes, record, strlen(record));
    assert_true(gpu_checkpoint_file_append(file, &bytes, error));
    base_bytes_free(&bytes);
    gpu_checkpoint_file_close(file);
}

static void a_record_takes_the_place_of_a_longer_one_that_was_cut(void **state) {
    (void)state;
    new_file();
    append("0");
    append("1 long: 0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    assert_int_equal(truncate(path, (off_t)(file_bytes() - 1)), 0);
    append("1 short");
    append("2");
    gpu_checkpoint_file_close(open_file(3));
}

static void one_run_at_a_time_uses_a_file(void **state) {
    (void)state;
    char error[GPU_CHECKPOINT_ERROR] = "";
    new_file();
    struct gpu_checkpoint_file *file = gpu_checkpoint_file_open(path, error);
    assert_non_null(file);
    assert_string_equal(gpu_checkpoint_file_identity(file), "test");
    assert_null(gpu_checkpoint_file_open(path, error));
    assert_non_null(strstr(error, "is in use by another run"));
    gpu_checkpoint_file_close(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_goes_on_from_any_length_of_its_file_without_timing),
        cmocka_unit_test(a_run_goes_on_from_any_length_of_its_file_in_time),
        cmocka_unit_test(a_changed_byte_is_found_or_is_in_the_last_record),
        cmocka_unit_test(another_program_is_refused_at_its_launch),
        cmocka_unit_test(a_record_takes_the_place_of_a_longer_one_that_was_cut),
        cmocka_unit_test(one_run_at_a_time_uses_a_file),
    };
    int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    int n_failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return n_failed;
}
