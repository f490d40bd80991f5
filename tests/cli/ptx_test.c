/* A .ptx file as the program: its kernel, its shape, its arguments, and errors in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

#define KERNELS "run tests/cli/kernels.ptx --functional "

static void prints(const char *words, const char *text) {
    struct outcome outcome = heddle("%s -q", words);
    expect_status(&outcome, 0);
    assert_string_equal(outcome.err, "");
    assert_string_equal(outcome.out, text);
    outcome_free(&outcome);
}

static void arguments_go_in_and_come_out(void **state) {
    (void)state;
    prints(KERNELS "--kernel saxpy --grid 2 --block 5 --arg f32:0.5 --arg buf:f32[10]=iota --arg out:f32[10]",
           "argument 2, f32[10]:\n"
           "     0: 0 1.5 3 4.5 6 7.5 9 10.5\n"
           "     8: 12 13.5\n");
    prints(KERNELS "--kernel saxpy --block 4 --arg f32:-2 --arg buf:f32[4]=1,2.5 --arg out:f32[4]",
           "argument 2, f32[4]:\n"
           "     0: -2 -4 -3 -2\n");
}

static void numbers_of_every_type_keep_their_bits(void **state) {
    (void)state;
    prints(KERNELS
           "--kernel numbers --block 1 --arg out:b16[8] --arg s8:-2 --arg b16:0xbeef --arg s32:-1 --arg f64:-0.0",
           "argument 0, b16[8]:\n"
           "     0: 0xfffe 0xbeef 0xffff 0xffff 0x0000 0x0000 0x0000 0x8000\n");
}

static void buffers_start_with_zeros_or_the_given_values(void **state) {
    (void)state;
    prints(KERNELS "--kernel saxpy --block 1 --arg f32:2 --arg out:s32[3]=-1,7 --arg out:8",
           "argument 1, s32[3]:\n"
           "     0: -1 7 7\n"
           "argument 2, b8[8]:\n"
           "     0: 0xff 0xff 0xff 0x7f 0x00 0x00 0x00 0x00\n"); /* -1 as a float is a NaN, and so is the result */
}

static void mistakes_in_arguments_are_usage(void **state) {
    (void)state;
    expect_refusal(2, KERNELS "--kernel saxpy --arg f32:1", "kernel 'saxpy' takes 3 arguments, not 1");
    expect_refusal(2, KERNELS "--kernel saxpy --arg f64:1 --arg buf:4 --arg buf:4",
                   "has 4 bytes, but --arg f64:1 has 8");
    expect_refusal(2, KERNELS "--kernel spin --arg 5", "--arg 5 is not an argument; examples: u32:5");
    expect_refusal(2, KERNELS "--kernel spin --arg u33:5", "--arg u33:5 is not an argument");
    expect_refusal(2, KERNELS "--kernel spin --arg u8:256", "'256' in --arg u8:256 is no u8");
    expect_refusal(2, KERNELS "--kernel spin --arg s8:-129", "is no s8");
    expect_refusal(2, KERNELS "--kernel spin --arg u32:-1", "is no u32");
    expect_refusal(2, KERNELS "--kernel spin --arg f32:1x", "is no f32");
    expect_refusal(2, KERNELS "--kernel spin --arg 'buf:f32[4'", "is not an argument");
    expect_refusal(2, KERNELS "--kernel spin --arg 'buf:f32[2]=1,2,3'", "more numbers than the 2");
    expect_refusal(2, KERNELS "--kernel spin --arg 'buf:f32[2]=1,x'", "'x' in --arg buf:f32[2]=1,x is no f32");
    expect_refusal(2, KERNELS "--kernel spin --grid 0", "--grid takes one to three numbers above 0");
    expect_refusal(2, KERNELS "--kernel spin --block 1,2,3,4", "not '1,2,3,4'");
    expect_refusal(2, KERNELS "--kernel spin word", "unexpected 'word'");
}

static void the_kernel_must_be_one_of_the_file(void **state) {
    (void)state;
    expect_refusal(2, KERNELS, "has 4 kernels; choose one with --kernel: saxpy, numbers, spin, meet");
    expect_refusal(2, KERNELS "--kernel saxyp", "has no kernel 'saxyp'; did you mean 'saxpy'?");
    expect_refusal(2, KERNELS "--kernel zzz", "it has: saxpy, numbers, spin, meet");
}

static void the_only_kernel_needs_no_name(void **state) {
    (void)state;
    struct outcome outcome = heddle("run bench/fma.ptx --functional --arg buf:128 --arg u32:1 --json -");
    expect_status(&outcome, 0);
    json_t *object = json_output(&outcome);
    const json_t *launch = json_array_get(json_object_get(object, "kernels"), 0);
    assert_string_equal(json_string_value(json_object_get(launch, "name")), "fma");
    assert_int_equal(json_integer_value(json_object_get(launch, "threads")), 32);
    assert_null(json_object_get(object, "size"));
    json_decref(object);
    outcome_free(&outcome);
}

static void a_fault_is_one_line_with_its_place(void **state) {
    (void)state;
    struct outcome outcome = heddle(KERNELS "--kernel saxpy --memcheck --arg f32:1 --arg buf:4 --arg buf:4");
    expect_status(&outcome, 1);
    expect_line(&outcome, "tests/cli/kernels.ptx:22 (ld.global.f32)");
    expect_text(outcome.err, "thread (1,0,0)");
    outcome_free(&outcome);
}

static void bad_ptx_shows_the_line(void **state) {
    (void)state;
    struct outcome outcome = heddle("run tests/cli/broken.ptx --functional");
    expect_status(&outcome, 1);
    expect_text(outcome.err, "tests/cli/broken.ptx:9:");
    expect_text(outcome.err, "^");
    outcome_free(&outcome);
}

/* Writes PTX into a file of the scratch folder and returns the file's path. */
static const char *write_ptx(const char *body) {
    static char path[64];
    snprintf(path, sizeof path, "%s/x.ptx", scratch());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, ".version 7.0\n.target sm_80\n.address_size 64\n%s", body);
    fclose(file);
    return path;
}

static void ptx_refuses_what_run_refuses(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {".extern .global .u32 elsewhere;\n.visible .entry k() { ret; }\n",
         ":4:22: error: extern variable 'elsewhere' is defined nowhere\n"},
        {".extern .func other();\n.visible .entry k() {\ncall other;\nret; }\n",
         ":6:1: error: call of 'other', which has no definition\n"},
        {".global .b8 big[4294967295];\n.global .b8 b2[4294967295];\n.global .b8 b3[4294967295];\n.global .b8 "
         "b4[4294967295];\n.global .b8 b5[4294967295];\n.visible .entry k() { ret; }\n",
         "error: no device memory left for 'b"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *path = write_ptx(bad[i][0]);
        struct outcome run = heddle("run %s --functional", path), ptx = heddle("ptx %s", path);
        expect_status(&run, 1);
        expect_text(run.err, bad[i][1]);
        expect_status(&ptx, 1);
        assert_string_equal(ptx.err, run.err);
        outcome_free(&run);
        outcome_free(&ptx);
    }
}

/* Some models and machines accept the kernel, others do not. */
static void ptx_says_who_would_refuse_a_kernel(void **state) {
    (void)state;
    const char *path = write_ptx(".visible .entry k() {\n.reg .b32 %r<3>;\n.reg .f32 %f<4>;\nactivemask.b32 %r0;\n"
                                 "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, "
                                 "{%r2}, {%f0, %f1, %f2, %f3};\nret;\n}\n");
    struct outcome ptx = heddle("ptx %s", path), run = heddle("run %s -d dws -m h200", path);
    expect_status(&ptx, 0);
    expect_text(ptx.out, "  refused by machines without it: it multiplies matrices (line 8: mma.sync");
    expect_text(ptx.out, "  refused by dws: dws ");
    expect_text(ptx.out, " (line ");
    assert_null(strstr(ptx.out, "refused by stack"));
    expect_status(&run, 1);
    const char *why = strstr(ptx.out, "  refused by dws: ") + strlen("  refused by dws: ");
    char sentence[512] = "";
    snprintf(sentence, sizeof sentence, "kernel 'k': %.*s", (int)strcspn(why, "\n"), why);
    expect_text(run.err, sentence);
    outcome_free(&run);
    outcome_free(&ptx);
    ptx = heddle("ptx tests/cli/kernels.ptx --kernel saxpy");
    assert_null(strstr(ptx.out, "refused by"));
    outcome_free(&ptx);
}

static void an_endless_kernel_stops_at_a_limit(void **state) {
    (void)state;
    struct outcome outcome = heddle(KERNELS "--kernel spin --max-instructions 1000 --json -");
    expect_status(&outcome, 4);
    json_t *object = json_output(&outcome);
    assert_string_equal(json_string_value(json_object_get(object, "stopped")), "max-instructions");
    json_int_t warps = json_integer_value(json_object_get(json_object_get(object, "total"), "warp_instructions"));
    assert_true(warps >= 1000);
    json_decref(object);
    outcome_free(&outcome);
    outcome = heddle(KERNELS "--kernel spin --timeout 0.2 --json -");
    expect_status(&outcome, 4);
    object = json_output(&outcome);
    assert_string_equal(json_string_value(json_object_get(object, "stopped")), "timeout");
    json_decref(object);
    outcome_free(&outcome);
}

static int clean_up(void **state) {
    (void)state;
    scratch_remove();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_go_in_and_come_out),
        cmocka_unit_test(numbers_of_every_type_keep_their_bits),
        cmocka_unit_test(buffers_start_with_zeros_or_the_given_values),
        cmocka_unit_test(mistakes_in_arguments_are_usage),
        cmocka_unit_test(the_kernel_must_be_one_of_the_file),
        cmocka_unit_test(the_only_kernel_needs_no_name),
        cmocka_unit_test(a_fault_is_one_line_with_its_place),
        cmocka_unit_test(bad_ptx_shows_the_line),
        cmocka_unit_test(ptx_refuses_what_run_refuses),
        cmocka_unit_test(ptx_says_who_would_refuse_a_kernel),
        cmocka_unit_test(an_endless_kernel_stops_at_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
