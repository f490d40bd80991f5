/* For the tests of libcudart: kernels and variables registered as compilers do it, but from PTX text. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cuda_runtime_api.h"

#define assert_ok(expression) assert_int_equal(expression, cudaSuccess)
#define assert_error(error, expression)                                                                                \
    do {                                                                                                               \
        assert_int_equal(expression, error);                                                                           \
        assert_int_equal(cudaGetLastError(), error);                                                                   \
    } while (0)

/* scale: data[i] = data[i] * factor + counter, one block of threads; wild: writes to address 16; nothing: returns.
 * fetch: out[i] = texel i of `words`; look: out[i] = `picture` at (x + i * step, y) on level `level`; paint: writes i
 * into the texel (i, 1) of `plane`. */
static const char kernels_ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .b8 table[16];\n"
    ".visible .global .align 4 .u32 managed = 11;\n"
    ".visible .entry scale(.param .u64 data, .param .u32 factor) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [data];\n  ld.param.u32 %r1, [factor];\n  mov.u32 %r2, %tid.x;\n"
    "  mul.wide.u32 %d2, %r2, 4;\n  add.u64 %d3, %d1, %d2;\n  ld.global.u32 %r3, [%d3];\n"
    "  ld.global.u32 %r4, [counter];\n  mad.lo.u32 %r5, %r3, %r1, %r4;\n  st.global.u32 [%d3], %r5;\n  ret;\n}\n"
    ".visible .entry wild() {\n  .reg .b64 %d<2>;\n  mov.u64 %d1, 16;\n  st.global.u64 [%d1], %d1;\n  ret;\n}\n"
    ".visible .entry nothing() {\n  ret;\n}\n"
    ".visible .global .texref words;\n.visible .global .texref picture;\n.visible .global .surfref plane;\n"
    ".visible .entry fetch(.param .u64 out) {\n"
    "  .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [out];\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d3, %d1, %d2;\n"
    "  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [words, {%r1}];\n  st.global.u32 [%d3], %r2;\n  ret;\n}\n"
    ".visible .entry look(.param .u64 out, .param .f32 x, .param .f32 step, .param .f32 y, .param .f32 level) {\n"
    "  .reg .b32 %r<2>; .reg .f32 %f<10>; .reg .b64 %d<4>;\n"
    "  ld.param.u64 %d1, [out];\n  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %d2, %r1, 4;\n  add.u64 %d3, %d1, %d2;\n"
    "  ld.param.f32 %f1, [x];\n  ld.param.f32 %f2, [step];\n  ld.param.f32 %f3, [y];\n  ld.param.f32 %f4, [level];\n"
    "  cvt.rn.f32.u32 %f5, %r1;\n  fma.rn.f32 %f1, %f5, %f2, %f1;\n"
    "  tex.level.2d.v4.f32.f32 {%f6, %f7, %f8, %f9}, [picture, {%f1, %f3}], %f4;\n  st.global.f32 [%d3], %f6;\n"
    "  ret;\n}\n"
    ".visible .entry paint() {\n  .reg .b32 %r<4>;\n  mov.u32 %r1, %tid.x;\n  shl.b32 %r2, %r1, 2;\n"
    "  mov.u32 %r3, 1;\n  sust.b.2d.b32.trap [plane, {%r2, %r3}], {%r1};\n  ret;\n}\n";

/* The fat binary around it, as compilers lay it out; src/cuda/modules/fatbin.h describes the format. */
static struct {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    struct {
        uint16_t kind, version;
        uint32_t header_bytes;
        uint64_t payload_bytes;
        uint32_t zero[3], architecture, more_zero[8];
    } entry;
    char text[sizeof kernels_ptx];
} container = {0xba55ed50, 1, 16, 64 + sizeof kernels_ptx, {1, 0x101, 64, sizeof kernels_ptx, {0}, 70, {0}}, {0}};

static struct {
    uint32_t magic, version;
    const void *container;
    const void *linked;
} wrapper = {0x466243b1, 1, &container, NULL};

/* The program's symbols for them: any unique address. */
static char scale, wild, nothing, missing, counter, table;
static uint32_t *managed;
static void **binary;

static inline void register_one(char *host, const char *name) {
    __cudaRegisterFunction(binary, host, host, name, -1, NULL, NULL, NULL, NULL, NULL);
}

static inline int register_all(void **state) {
    (void)state;
    memcpy(container.text, kernels_ptx, sizeof kernels_ptx);
    binary = __cudaRegisterFatBinary(&wrapper);
    register_one(&scale, "scale");
    register_one(&wild, "wild");
    register_one(&nothing, "nothing");
    register_one(&missing, "missing");
    __cudaRegisterVar(binary, &counter, &counter, "counter", 0, 4, 0, 0);
    __cudaRegisterVar(binary, &table, &table, "table", 0, 16, 1, 0);
    __cudaRegisterManagedVar(binary, (void **)(void *)&managed, (char *)(void *)&managed, "managed", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(binary);
    return 0;
}

static inline int unregister_all(void **state) {
    (void)state;
    cudaDeviceReset();
    cudaGetLastError();
    __cudaUnregisterFatBinary(binary);
    return 0;
}

#define runtime_test(test) cmocka_unit_test_setup_teardown(test, register_all, unregister_all)

static inline cudaError_t launch(const void *function, unsigned n_blocks, unsigned n_threads, void **arguments) {
    return cudaLaunchKernel(function, (dim3){n_blocks, 1, 1}, (dim3){n_threads, 1, 1}, arguments, 0, NULL);
}
