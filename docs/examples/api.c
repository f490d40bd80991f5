/* A simulated GPU inside a program: doubles a thousand numbers and says what it took.
 *
 *     cc api.c -o api $(pkg-config --cflags --libs heddle) && ./api */
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ptx[] = ".version 7.0\n"
                          ".target sm_70\n"
                          ".address_size 64\n"
                          ".visible .entry twice(.param .u64 numbers, .param .u32 n)\n"
                          "{\n"
                          "    .reg .pred %p;\n"
                          "    .reg .b32 %r<6>;\n"
                          "    .reg .b64 %rd<3>;\n"
                          "    mov.u32 %r0, %ctaid.x;\n"
                          "    mov.u32 %r1, %ntid.x;\n"
                          "    mov.u32 %r2, %tid.x;\n"
                          "    mad.lo.u32 %r3, %r0, %r1, %r2;\n"
                          "    ld.param.u32 %r4, [n];\n"
                          "    setp.ge.u32 %p, %r3, %r4;\n"
                          "    @%p ret;\n"
                          "    ld.param.u64 %rd0, [numbers];\n"
                          "    mul.wide.u32 %rd1, %r3, 4;\n"
                          "    add.u64 %rd2, %rd0, %rd1;\n"
                          "    ld.global.u32 %r5, [%rd2];\n"
                          "    shl.b32 %r5, %r5, 1;\n"
                          "    st.global.u32 [%rd2], %r5;\n"
                          "    ret;\n"
                          "}\n";

enum { N = 1000, THREADS = 256 };

static void check(const struct heddle_device *device, enum heddle_status status) {
    if (status == HEDDLE_OK)
        return;
    fprintf(stderr, "api: %s\n", heddle_last_error(device));
    exit(1);
}

int main(void) {
    struct heddle_device *device;
    struct heddle_module *module;
    uint64_t numbers;
    uint32_t host[N], n = N;
    for (uint32_t i = 0; i < N; i++)
        host[i] = i;

    if (heddle_device_create(&device, NULL) != HEDDLE_OK)
        return 1;
    check(device, heddle_module_load(device, "twice.ptx", ptx, strlen(ptx), &module));
    check(device, heddle_malloc(device, sizeof host, &numbers));
    check(device, heddle_copy_to(device, numbers, host, sizeof host));

    const void *arguments[] = {&numbers, &n};
    struct heddle_launch launch = {
        .grid = {(N + THREADS - 1) / THREADS, 1, 1},
        .block = {THREADS, 1, 1},
        .arguments = arguments,
        .n_arguments = 2,
    };
    check(device, heddle_launch(device, module, "twice", &launch));
    check(device, heddle_copy_from(device, host, numbers, sizeof host));
    for (uint32_t i = 0; i < N; i++) {
        if (host[i] != 2 * i) {
            fprintf(stderr, "api: number %u is %u\n", (unsigned)i, (unsigned)host[i]);
            return 1;
        }
    }

    struct heddle_counters counters;
    heddle_counters(device, &counters, sizeof counters);
    printf("%u numbers doubled by %llu warp instructions (%llu thread instructions)\n", (unsigned)n,
           (unsigned long long)counters.warp_instructions, (unsigned long long)counters.thread_instructions);
    heddle_device_destroy(device);
    return 0;
}
