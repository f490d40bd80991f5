/* vprintf, malloc, free and __assertfail, called as compiled kernels call them. */
#include "exec/fixture.h"

#include <math.h>

static struct fixture f;
static char printed[4096];
static size_t n_printed;

static void print(void *user, const char *text, size_t length) {
    (void)user;
    assert_true(n_printed + length < sizeof(printed));
    memcpy(printed + n_printed, text, length);
    n_printed += length;
    printed[n_printed] = 0;
}

static int setup(void **state) {
    (void)state;
    fixture_open(&f);
    f.memory.print = print;
    n_printed = 0;
    printed[0] = 0;
    f.o.mask = 1;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        f.row.frame[l] = 32;
    return 0;
}

static struct exec_passed arguments[5], result;

enum { ARGUMENTS = 0, RESULT = 64 }; /* offsets in the frame */

/* A call whose arguments and result are 8 bytes each in the frame. */
static void call(const char *name, uint32_t n_arguments) {
    fixture_insn(&f, PTX_OP_CALL, PTX_SPACE_GENERIC, PTX_NO_TYPE);
    f.insn.target = 0;
    for (uint32_t k = 0; k < 5; k++)
        arguments[k] = (struct exec_passed){.from_frame = true, .from_offset = ARGUMENTS + 8 * k, .bytes = 8};
    result = (struct exec_passed){.to_frame = true, .to_offset = RESULT, .bytes = 8};
    f.site = (struct exec_call_site){
        .argument = arguments, .n_arguments = n_arguments, .result = &result, .n_results = strcmp(name, "free") != 0};
    fixture_act(&f, exec_select_builtin(name));
}

static unsigned char *frame(unsigned lane, unsigned offset) { return f.local + lane * FIXTURE_LOCAL + 32 + offset; }

static void set_argument(unsigned lane, unsigned k, uint64_t value) {
    memcpy(frame(lane, ARGUMENTS + 8 * k), &value, 8);
}

static int64_t call_result(unsigned lane) {
    int64_t value;
    memcpy(&value, frame(lane, RESULT), 8);
    return value;
}

/* Stores a string at the place and returns its address. */
static uint64_t string(unsigned at, const char *text) {
    strcpy((char *)fixture_at(&f, FIXTURE_A + at), text);
    return FIXTURE_A + at;
}

/* Prints with lane 0; values are laid out from offset 128 of its local memory. */
static int64_t print_values(const char *format, const void *values, size_t bytes) {
    n_printed = 0;
    printed[0] = 0;
    if (bytes)
        memcpy(f.local + 128, values, bytes);
    set_argument(0, 0, string(0, format));
    set_argument(0, 1, EXEC_LOCAL_WINDOW + 128);
    call("vprintf", 2);
    return call_result(0);
}

static void plain_text_takes_no_arguments(void **state) {
    (void)state;
    assert_int_equal(print_values("50%% done\n", NULL, 0), 0);
    assert_string_equal(printed, "50% done\n");
}

static void integers_have_the_sizes_of_c(void **state) {
    (void)state;
    struct {
        int32_t a;
        uint32_t b;
        int64_t c;
        uint64_t d;
    } values = {-5, 0xfffffffb, -5000000000, 0xfffffffffffffffb};
    assert_int_equal(print_values("%d %u %lld %lx", &values, sizeof(values)), 4);
    assert_string_equal(printed, "-5 4294967291 -5000000000 fffffffffffffffb");
    int32_t narrow[] = {0x12345, -1, 0x1ff, 0x80};
    print_values("%hd %hx %hhu %hhd", narrow, sizeof(narrow));
    assert_string_equal(printed, "9029 ffff 255 -128");
    uint32_t bases[] = {255, 255, 255, 8, 65};
    print_values("%x %#X %o %i %c", bases, sizeof(bases));
    assert_string_equal(printed, "ff 0XFF 377 8 A");
}

static void arguments_are_naturally_aligned(void **state) {
    (void)state;
    struct {
        int32_t a;
        double b;
        int32_t c;
        int64_t d;
    } values = {1, 2.5, 3, 4};
    assert_int_equal(print_values("%d %g %d %ld", &values, sizeof(values)), 4);
    assert_string_equal(printed, "1 2.5 3 4");
}

static void floating_point_prints_as_on_the_host(void **state) {
    (void)state;
    double values[] = {1.5, 12345.678, 1e-5, 0.1, INFINITY, -0.0};
    print_values("%f %.2e %G %a %f %g", values, sizeof(values));
    assert_string_equal(printed, "1.500000 1.23e+04 1E-05 0x1.999999999999ap-4 inf -0");
}

static void flags_width_and_precision_work_also_from_arguments(void **state) {
    (void)state;
    int32_t values[] = {7, 7, 7, 7};
    print_values("[%5d][%-5d][%05d][%+.3d]", values, sizeof(values));
    assert_string_equal(printed, "[    7][7    ][00007][+007]");
    int32_t stars[] = {6, 42, -6, 42};
    assert_int_equal(print_values("[%*d][%*d]", stars, sizeof(stars)), 4);
    assert_string_equal(printed, "[    42][42    ]");
    struct {
        int32_t width, precision;
        double value;
    } both = {8, 2, 3.14159};
    assert_int_equal(print_values("[%*.*f]", &both, sizeof(both)), 3);
    assert_string_equal(printed, "[    3.14]");
    int32_t wide = 1;
    print_values("%300d", &wide, 4);
    assert_int_equal(n_printed, 300);
    assert_int_equal(printed[299], '1');
}

static void strings_come_from_any_memory(void **state) {
    (void)state;
    strcpy((char *)f.shared, "shared");
    uint64_t values[] = {string(512, "global"), EXEC_SHARED_WINDOW, 0};
    assert_int_equal(print_values("%s %.3s %s", values, sizeof(values)), 3);
    assert_string_equal(printed, "global sha (null)");
    uint64_t pointer = 0x7f00;
    print_values("%p", &pointer, 8);
    assert_string_equal(printed, "0x7f00");
}

static void unknown_conversions_stay_as_written(void **state) {
    (void)state;
    int32_t value = 3;
    assert_int_equal(print_values("%y %d %", &value, 4), 1);
    assert_string_equal(printed, "%y 3 %");
}

static void every_active_thread_prints_in_order(void **state) {
    (void)state;
    f.o.mask = 0x80000005;
    uint64_t format = string(0, "t%d ");
    EXEC_FOR_ACTIVE(l, f.o.mask) {
        set_argument(l, 0, format);
        set_argument(l, 1, EXEC_LOCAL_WINDOW + 128);
        memcpy(f.local + l * FIXTURE_LOCAL + 128, &l, 4);
    }
    call("vprintf", 2);
    assert_string_equal(printed, "t0 t2 t31 ");
    assert_int_equal(call_result(31), 1);
}

static void arguments_and_results_may_be_registers(void **state) {
    (void)state;
    f.row.base[EXEC_BASE_REGISTERS] = f.src[0];
    ((uint64_t *)f.src[0])[0] = string(0, "register");
    ((uint64_t *)f.src[1])[0] = 0;
    fixture_insn(&f, PTX_OP_CALL, PTX_SPACE_GENERIC, PTX_NO_TYPE);
    arguments[0] = (struct exec_passed){.from = {.offset = 0, .width = PTX_WIDTH_64}, .bytes = 8};
    arguments[1] = (struct exec_passed){.from = {.offset = 256, .width = PTX_WIDTH_64}, .bytes = 8};
    result = (struct exec_passed){.to = {.offset = 512, .width = PTX_WIDTH_32}, .bytes = 4};
    f.site = (struct exec_call_site){.argument = arguments, .n_arguments = 2, .result = &result, .n_results = 1};
    memset(f.src[2], 0xee, sizeof(f.src[2]));
    fixture_act(&f, exec_select_builtin("vprintf"));
    assert_string_equal(printed, "register");
    assert_int_equal(((uint32_t *)f.src[2])[0], 0);
    assert_int_equal(((uint32_t *)f.src[2])[1], 0xeeeeeeee);
}

static void a_missing_or_unreadable_format_is_reported(void **state) {
    (void)state;
    set_argument(0, 0, 0);
    call("vprintf", 2);
    assert_int_equal(call_result(0), -1);
    set_argument(0, 0, 0x1234);
    call("vprintf", 2);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
}

static uint64_t heap_malloc(void *user, uint64_t bytes) {
    struct fixture *fixture = user;
    assert_ptr_equal(fixture, &f);
    return bytes > 512 ? 0 : FIXTURE_C;
}

static bool heap_free(void *user, uint64_t address) {
    (void)user;
    return address == FIXTURE_C;
}

static void malloc_and_free_reach_the_heap(void **state) {
    (void)state;
    f.memory.malloc_ = heap_malloc;
    f.memory.free_ = heap_free;
    f.cx.last[3] = (struct exec_allocation){FIXTURE_A, FIXTURE_B - FIXTURE_A};
    set_argument(0, 0, 100);
    call("malloc", 1);
    assert_int_equal(call_result(0), FIXTURE_C);
    assert_int_equal(f.cx.last[3].bytes, 0);
    set_argument(0, 0, 10000);
    call("malloc", 1);
    assert_int_equal(call_result(0), 0);
    set_argument(0, 0, FIXTURE_C);
    call("free", 1);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    set_argument(0, 0, 0);
    call("free", 1);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_NONE);
    set_argument(0, 0, FIXTURE_A);
    call("free", 1);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
}

static void a_failed_assertion_says_what_and_where(void **state) {
    (void)state;
    set_argument(0, 0, string(0, "x > 0"));
    set_argument(0, 1, string(64, "kernel.cu"));
    set_argument(0, 2, 12);
    set_argument(0, 3, string(128, "void k(int)"));
    set_argument(0, 4, 1);
    call("__assertfail", 5);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_ASSERT);
    assert_string_equal(f.cx.fault.detail, "kernel.cu:12: void k(int): Assertion `x > 0' failed");
}

static void a_wrong_number_of_arguments_is_reported(void **state) {
    (void)state;
    call("vprintf", 1);
    assert_int_equal(f.cx.fault.kind, EXEC_FAULT_TRAP);
    assert_string_equal(f.cx.fault.detail, "vprintf takes 2 arguments, not 1");
    assert_null(exec_select_builtin("printf"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(plain_text_takes_no_arguments, setup),
        cmocka_unit_test_setup(integers_have_the_sizes_of_c, setup),
        cmocka_unit_test_setup(arguments_are_naturally_aligned, setup),
        cmocka_unit_test_setup(floating_point_prints_as_on_the_host, setup),
        cmocka_unit_test_setup(flags_width_and_precision_work_also_from_arguments, setup),
        cmocka_unit_test_setup(strings_come_from_any_memory, setup),
        cmocka_unit_test_setup(unknown_conversions_stay_as_written, setup),
        cmocka_unit_test_setup(every_active_thread_prints_in_order, setup),
        cmocka_unit_test_setup(arguments_and_results_may_be_registers, setup),
        cmocka_unit_test_setup(a_missing_or_unreadable_format_is_reported, setup),
        cmocka_unit_test_setup(malloc_and_free_reach_the_heap, setup),
        cmocka_unit_test_setup(a_failed_assertion_says_what_and_where, setup),
        cmocka_unit_test_setup(a_wrong_number_of_arguments_is_reported, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
