/* For the tests of libcuda: a context, a kernel to launch, and captured standard error. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cuda.h"

#define assert_cuda(expression) assert_int_equal(expression, CUDA_SUCCESS)

/* Creates a context and makes it current in this thread. */
static inline int enter_context(void **state) {
    CUcontext context;
    if (cuInit(0) || cuCtxCreate(&context, NULL, 0, 0))
        return -1;
    *state = context;
    return 0;
}

static inline int leave_context(void **state) { return cuCtxDestroy(*state); }

#define context_test(test) cmocka_unit_test_setup_teardown(test, enter_context, leave_context)

/* add3: out[i] = a[i] + b + scale for i < n. The parameters have padding between them. */
static const char add_ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .entry add3(.param .u64 out, .param .u64 a, .param .u8 b, .param .u32 scale, .param .u64 n) {\n"
    "  .reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "  ld.param.u64 %d1, [out];\n  ld.param.u64 %d2, [a];\n  ld.param.u8 %h1, [b];\n"
    "  ld.param.u32 %r1, [scale];\n  ld.param.u64 %d3, [n];\n"
    "  mov.u32 %r2, %ctaid.x;\n  mov.u32 %r3, %ntid.x;\n  mov.u32 %r4, %tid.x;\n"
    "  mad.lo.u32 %r5, %r2, %r3, %r4;\n  cvt.u64.u32 %d4, %r5;\n"
    "  setp.ge.u64 %p1, %d4, %d3;\n  @%p1 bra DONE;\n"
    "  shl.b64 %d5, %d4, 2;\n  add.u64 %d6, %d2, %d5;\n  ld.global.u32 %r6, [%d6];\n"
    "  cvt.u32.u16 %r7, %h1;\n  add.u32 %r6, %r6, %r7;\n  add.u32 %r6, %r6, %r1;\n"
    "  add.u64 %d7, %d1, %d5;\n  st.global.u32 [%d7], %r6;\nDONE:\n  ret;\n}\n";

/* Parameters of add3 as the kernel's parameter block. */
struct add_parameters {
    uint64_t out, a;
    uint8_t b;
    uint32_t scale;
    uint64_t n;
};

static inline CUfunction load_kernel(const char *ptx, const char *name, CUmodule *module) {
    CUfunction function = NULL;
    CUmodule loaded = NULL;
    assert_cuda(cuModuleLoadData(&loaded, ptx));
    assert_cuda(cuModuleGetFunction(&function, loaded, name));
    if (module)
        *module = loaded;
    return function;
}

/* Between capture_stderr() and read_stderr() standard error goes to a file. */
struct capture {
    FILE *file;
    int saved;
};

static inline struct capture capture_stderr(void) {
    struct capture capture = {tmpfile(), dup(STDERR_FILENO)};
    assert_non_null(capture.file);
    fflush(stderr);
    assert_true(dup2(fileno(capture.file), STDERR_FILENO) >= 0);
    return capture;
}

static inline void read_stderr(struct capture *capture, char *text, size_t size) {
    fflush(stderr);
    dup2(capture->saved, STDERR_FILENO);
    close(capture->saved);
    rewind(capture->file);
    text[fread(text, 1, size - 1, capture->file)] = 0;
    fclose(capture->file);
}
