/* Tests of the public API, through its header only. */
#include "heddle/heddle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char kernels[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .global .u32 table[4] = {1, 2, 3, 4};\n"
                              ".visible .entry add(.param .u64 numbers, .param .u32 n)\n"
                              "{\n"
                              "    .reg .b32 %r<4>;\n"
                              "    .reg .b64 %rd<3>;\n"
                              "    ld.param.u64 %rd0, [numbers];\n"
                              "    ld.param.u32 %r0, [n];\n"
                              "    mov.u32 %r1, %tid.x;\n"
                              "    mul.wide.u32 %rd1, %r1, 4;\n"
                              "    add.u64 %rd0, %rd0, %rd1;\n"
                              "    ld.global.u32 %r2, [%rd0];\n"
                              "    add.u32 %r2, %r2, %r0;\n"
                              "    st.global.u32 [%rd0], %r2;\n"
                              "    ret;\n"
                              "}\n"
                              ".visible .entry spin() {\n"
                              "next:\n"
                              "    bra.uni next;\n"
                              "}\n";

struct fixture {
    struct heddle_device *device;
    struct heddle_module *module;
    uint64_t numbers;
};

static void expect_reason(const struct fixture *fixture, const char *text) {
    if (!strstr(heddle_last_error(fixture->device), text))
        fail_msg("'%s' is not in '%s'", text, heddle_last_error(fixture->device));
}

static int set_up(void **state) {
    static struct fixture fixture;
    struct heddle_settings settings = HEDDLE_SETTINGS;
    settings.memory_bytes = 1 << 20;
    settings.max_instructions = 1000;
    fixture = (struct fixture){0};
    *state = &fixture;
    return heddle_device_create(&fixture.device, &settings) != HEDDLE_OK ||
           heddle_module_load(fixture.device, "k.ptx", kernels, strlen(kernels), &fixture.module) != HEDDLE_OK ||
           heddle_malloc(fixture.device, 128, &fixture.numbers) != HEDDLE_OK;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    heddle_device_destroy(fixture->device);
    return 0;
}

static enum heddle_status launch_add(struct fixture *fixture, uint32_t threads, uint32_t n) {
    struct heddle_launch launch = {.grid = {1, 1, 1}, .block = {threads, 1, 1}, .n_arguments = 2};
    launch.arguments = (const void *[]){&fixture->numbers, &n};
    return heddle_launch(fixture->device, fixture->module, "add", &launch);
}

static void the_library_knows_its_version(void **state) {
    (void)state;
    assert_string_equal(heddle_version(), HEDDLE_VERSION);
    assert_int_equal(heddle_api_version(), HEDDLE_API_VERSION);
}

static void a_kernel_changes_the_memory_it_is_given(void **state) {
    struct fixture *fixture = *state;
    uint32_t numbers[32];
    for (uint32_t i = 0; i < 32; i++)
        numbers[i] = i;
    assert_int_equal(heddle_copy_to(fixture->device, fixture->numbers, numbers, sizeof numbers), HEDDLE_OK);
    assert_int_equal(launch_add(fixture, 20, 100), HEDDLE_OK);
    assert_int_equal(heddle_copy_from(fixture->device, numbers, fixture->numbers, sizeof numbers), HEDDLE_OK);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(numbers[i], i < 20 ? i + 100 : i);
    assert_string_equal(heddle_last_error(fixture->device), "");
}

static void counters_are_kept_for_all_and_for_the_last(void **state) {
    struct fixture *fixture = *state;
    struct heddle_counters counters;
    heddle_last_counters(fixture->device, &counters, sizeof counters);
    assert_int_equal(counters.launches, 0);
    assert_int_equal(launch_add(fixture, 20, 1), HEDDLE_OK);
    assert_int_equal(launch_add(fixture, 32, 1), HEDDLE_OK);
    heddle_last_counters(fixture->device, &counters, sizeof counters);
    assert_int_equal(counters.launches, 1);
    assert_int_equal(counters.warp_instructions, 9);
    assert_int_equal(counters.thread_instructions, 9 * 32);
    heddle_counters(fixture->device, &counters, sizeof counters);
    assert_int_equal(counters.launches, 2);
    assert_int_equal(counters.threads, 52);
    assert_int_equal(counters.warp_instructions, 18);
    assert_int_equal(counters.thread_instructions, 9 * 52);
}

static void a_shorter_structure_of_an_older_program_is_not_overrun(void **state) {
    struct fixture *fixture = *state;
    struct heddle_counters counters;
    memset(&counters, 0xee, sizeof counters);
    heddle_counters(fixture->device, &counters, offsetof(struct heddle_counters, threads));
    assert_int_equal(counters.blocks, 0);
    assert_int_equal(counters.threads, 0xeeeeeeeeeeeeeeee);
}

static void wrong_ptx_is_told_with_its_line(void **state) {
    struct fixture *fixture = *state;
    struct heddle_module *module;
    static const char text[] = ".version 7.0\n.target sm_70\nnonsense\n";
    assert_int_equal(heddle_module_load(fixture->device, "bad.ptx", text, strlen(text), &module), HEDDLE_BAD_PTX);
    assert_null(module);
    expect_reason(fixture, "bad.ptx:3:1");
}

static void what_is_not_there_is_named(void **state) {
    struct fixture *fixture = *state;
    struct heddle_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t address, bytes;
    assert_int_equal(heddle_launch(fixture->device, fixture->module, "sub", &launch), HEDDLE_NOT_FOUND);
    expect_reason(fixture, "no kernel 'sub'");
    assert_int_equal(heddle_module_variable(fixture->device, fixture->module, "tabel", &address, &bytes),
                     HEDDLE_NOT_FOUND);
    expect_reason(fixture, "no variable 'tabel'");
}

static void variables_can_be_read(void **state) {
    struct fixture *fixture = *state;
    uint64_t address, bytes;
    uint32_t table[4];
    assert_int_equal(heddle_module_variable(fixture->device, fixture->module, "table", &address, &bytes), HEDDLE_OK);
    assert_int_equal(bytes, sizeof table);
    assert_int_equal(heddle_copy_from(fixture->device, table, address, bytes), HEDDLE_OK);
    assert_int_equal(table[3], 4);
}

static void arguments_are_counted(void **state) {
    struct fixture *fixture = *state;
    struct heddle_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_int_equal(heddle_launch(fixture->device, fixture->module, "add", &launch), HEDDLE_INVALID);
    expect_reason(fixture, "has 2 parameters, and 0 arguments");
    assert_int_equal(launch_add(fixture, 0, 1), HEDDLE_INVALID);
    expect_reason(fixture, "must not be zero");
}

static void a_fault_does_not_end_the_device(void **state) {
    struct fixture *fixture = *state;
    assert_int_equal(launch_add(fixture, 33, 1), HEDDLE_FAULT);
    expect_reason(fixture, "thread (32,0,0)");
    expect_reason(fixture, "k.ptx:14");
    assert_int_equal(launch_add(fixture, 32, 1), HEDDLE_OK);
}

static void an_endless_kernel_reaches_its_limit(void **state) {
    struct fixture *fixture = *state;
    struct heddle_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_int_equal(heddle_launch(fixture->device, fixture->module, "spin", &launch), HEDDLE_LIMIT);
    expect_reason(fixture, "kernel 'spin'");
}

static void memory_is_checked(void **state) {
    struct fixture *fixture = *state;
    uint64_t address;
    char byte = 0;
    assert_int_equal(heddle_malloc(fixture->device, 0, &address), HEDDLE_INVALID);
    assert_int_equal(heddle_malloc(fixture->device, 1ull << 40, &address), HEDDLE_NO_MEMORY);
    assert_int_equal(address, 0);
    expect_reason(fixture, "1099511627776 bytes do not fit");
    assert_int_equal(heddle_copy_to(fixture->device, fixture->numbers + 128, &byte, 1), HEDDLE_INVALID);
    assert_int_equal(heddle_copy_from(fixture->device, &byte, 0, 1), HEDDLE_INVALID);
    assert_int_equal(heddle_free(fixture->device, fixture->numbers + 4), HEDDLE_INVALID);
    expect_reason(fixture, "no allocation starts at");
    assert_int_equal(heddle_free(fixture->device, fixture->numbers), HEDDLE_OK);
    assert_int_equal(heddle_free(fixture->device, 0), HEDDLE_OK);
    assert_int_equal(launch_add(fixture, 1, 1), HEDDLE_FAULT);
}

/* Loads the kernels on a timed device. */
static struct fixture make_timed(const char *const *set) {
    struct heddle_settings settings = HEDDLE_SETTINGS;
    struct fixture fixture;
    settings.machine = "gtx480";
    settings.scheduler = "gto";
    settings.set = set;
    if (heddle_device_create(&fixture.device, &settings) != HEDDLE_OK)
        fail_msg("%s", heddle_last_error(NULL));
    assert_int_equal(heddle_module_load(fixture.device, "k.ptx", kernels, strlen(kernels), &fixture.module), HEDDLE_OK);
    assert_int_equal(heddle_malloc(fixture.device, 128, &fixture.numbers), HEDDLE_OK);
    assert_int_equal(launch_add(&fixture, 32, 3), HEDDLE_OK);
    return fixture;
}

static double statistic(struct heddle_device *device, uint32_t launch, const char *name) {
    double value = -1;
    if (heddle_statistic(device, launch, name, &value) != HEDDLE_OK)
        fail_msg("%s", heddle_last_error(device));
    return value;
}

static void a_timed_device_counts_cycles_of_each_launch(void **state) {
    (void)state;
    struct fixture fixture = make_timed(NULL);
    struct heddle_device *device = fixture.device;
    uint32_t numbers[32];
    assert_int_equal(launch_add(&fixture, 32, 4), HEDDLE_OK);
    assert_int_equal(heddle_copy_from(device, numbers, fixture.numbers, sizeof numbers), HEDDLE_OK);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(numbers[i], 7);
    assert_int_equal(heddle_launch_count(device), 2);
    double first = statistic(device, 1, "cycles"), second = statistic(device, 2, "cycles");
    assert_true(first > 100 && second > 100);
    assert_true(statistic(device, 0, "cycles") == first + second);
    assert_true(statistic(device, 1, "warp_instructions") == 9);
    assert_true(statistic(device, 1, "ipc") == 9 * 32 / first);
    heddle_device_destroy(device);
}

static void settings_change_the_machine(void **state) {
    (void)state;
    struct heddle_device *fast = make_timed(NULL).device,
                         *slow = make_timed((const char *const[]){"l2.latency=900", "sm.count=1", NULL}).device;
    assert_true(statistic(slow, 1, "cycles") > statistic(fast, 1, "cycles") + 500);
    heddle_device_destroy(fast);
    heddle_device_destroy(slow);
}

static void expect_no_device(struct heddle_settings settings, const char *reason) {
    struct heddle_device *device;
    assert_int_equal(heddle_device_create(&device, &settings), HEDDLE_INVALID);
    assert_null(device);
    if (!strstr(heddle_last_error(NULL), reason))
        fail_msg("'%s' is not in '%s'", reason, heddle_last_error(NULL));
}

static void a_wrong_machine_is_refused_with_a_reason(void **state) {
    (void)state;
    struct heddle_settings settings = HEDDLE_SETTINGS;
    settings.machine = "gtx4800";
    expect_no_device(settings, "gtx480");
    settings.machine = "/nonexistent/mine.yaml";
    expect_no_device(settings, "mine.yaml");
    settings.machine = NULL;
    settings.scheduler = "gtoo";
    expect_no_device(settings, "gto");
    settings.scheduler = NULL;
    settings.set = (const char *const[]){"l1.siz=4K", NULL};
    expect_no_device(settings, "l1.size");
}

static void a_wrong_statistic_is_refused_with_a_reason(void **state) {
    struct fixture *fixture = *state;
    double value;
    assert_int_equal(heddle_statistic(fixture->device, 0, "cycle", &value), HEDDLE_NOT_FOUND);
    expect_reason(fixture, "did you mean 'cycles'?");
    assert_int_equal(heddle_statistic(fixture->device, 0, "cycles", &value), HEDDLE_INVALID);
    expect_reason(fixture, "'cycles' needs a timed device");
    assert_int_equal(heddle_statistic(fixture->device, 1, "branches", &value), HEDDLE_INVALID);
    expect_reason(fixture, "launch 1 of 0");
    assert_int_equal(heddle_statistic(fixture->device, 0, "branches", &value), HEDDLE_OK);
    assert_true(value == 0);
}

static void settings_of_version_1_are_read_to_their_end(void **state) {
    (void)state;
    struct heddle_settings settings = HEDDLE_SETTINGS;
    struct heddle_device *device;
    double value;
    settings.size = offsetof(struct heddle_settings, machine);
    settings.machine = "no machine, because a program of version 1 has other data here";
    assert_int_equal(heddle_device_create(&device, &settings), HEDDLE_OK);
    assert_int_equal(heddle_statistic(device, 0, "cycles", &value), HEDDLE_INVALID);
    heddle_device_destroy(device);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timed_device_counts_cycles_of_each_launch),
        cmocka_unit_test(settings_change_the_machine),
        cmocka_unit_test(a_wrong_machine_is_refused_with_a_reason),
        cmocka_unit_test_setup_teardown(a_wrong_statistic_is_refused_with_a_reason, set_up, tear_down),
        cmocka_unit_test(settings_of_version_1_are_read_to_their_end),
        cmocka_unit_test(the_library_knows_its_version),
        TEST(a_kernel_changes_the_memory_it_is_given),
        TEST(counters_are_kept_for_all_and_for_the_last),
        TEST(a_shorter_structure_of_an_older_program_is_not_overrun),
        TEST(wrong_ptx_is_told_with_its_line),
        TEST(what_is_not_there_is_named),
        TEST(variables_can_be_read),
        TEST(arguments_are_counted),
        TEST(a_fault_does_not_end_the_device),
        TEST(an_endless_kernel_reaches_its_limit),
        TEST(memory_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
