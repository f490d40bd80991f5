/* The device's answers to programs come from the machine file. Expected values: the CUDA C++ Programming Guide's
 * technical specifications, and the figures that the machine files name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"

static void expect_device(const char *options, const char *const *lines) {
    struct outcome outcome = heddle("run %s/device --quiet %s", programs(), options);
    expect_status(&outcome, 0);
    for (int i = 0; lines[i]; i++)
        expect_text(outcome.out, lines[i]);
    outcome_free(&outcome);
}

static void the_machine_file_says_what_the_device_is(void **state) {
    (void)state;
    static const char *const h200[] = {
        "NVIDIA H200, capability 9.0, 132 SMs, 1980000 kHz, memory 3201000 kHz x 6016 bits\n",
        "l2 62914560, persisting 39321600, set 0 to 39321600, window 134217728\n",
        "sm: 2048 threads, 32 blocks, 65536 registers, shared 233472, block 232448, reserved 1024, fp64 1/2\n",
        "best block: 1024 threads, 264 blocks\n", NULL};
    static const char *const rtx4090[] = {
        "NVIDIA GeForce RTX 4090, capability 8.9, 128 SMs, 2520000 kHz, memory 10501000 kHz x 384 bits\n",
        "l2 75497472, persisting 51904512, set 0 to 51904512, window 134217728\n",
        "sm: 1536 threads, 24 blocks, 65536 registers, shared 102400, block 101376, reserved 1024, fp64 1/64\n",
        "best block: 768 threads, 256 blocks\n", NULL};
    static const char *const a100[] = {
        "NVIDIA A100-SXM4-40GB, capability 8.0, 108 SMs, 1410000 kHz, memory 1215000 kHz x 5120 bits\n",
        "l2 41943040, persisting 26214400, set 0 to 26214400, window 134217728\n",
        "sm: 2048 threads, 32 blocks, 65536 registers, shared 167936, block 166912, reserved 1024, fp64 1/2\n", NULL};
    expect_device("-m h200", h200);
    expect_device("-m rtx4090", rtx4090);
    expect_device("-m a100", a100);
}

static void other_machines_are_devices_of_capability_8_0(void **state) {
    (void)state;
    static const char *const gtx480[] = {"Heddle simulated GPU, capability 8.0, 15 SMs, 700000 kHz,",
                                         "l2 786432, persisting 0, set 215 to 0, window 0\n", NULL};
    static const char *const functional[] = {"Heddle simulated GPU, capability 8.0, 15 SMs,", NULL};
    expect_device("-m gtx480", gtx480);
    expect_device("--functional", functional);
}

static void options_change_what_the_device_says(void **state) {
    (void)state;
    static const char *const own[] = {"My GPU, capability 12.1, 15 SMs, 700000 kHz, memory 2000000 kHz x 256 bits\n",
                                      "l2 1048576, persisting 524288, set 0 to 524288,", NULL};
    expect_device("--set 'device.name=My GPU' --set device.capability=12.1 --set device.memory_clock=2 --set "
                  "device.bus_width=256 --set device.l2=1M --set device.persisting_l2=512K",
                  own);
    struct outcome outcome = heddle("run %s/device --set device.capability=9", programs());
    expect_status(&outcome, 1);
    expect_text(outcome.err, "device.capability is '9', but must be MAJOR.MINOR, such as 9.0");
    outcome_free(&outcome);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machine_file_says_what_the_device_is),
        cmocka_unit_test(other_machines_are_devices_of_capability_8_0),
        cmocka_unit_test(options_change_what_the_device_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
