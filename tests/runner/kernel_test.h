/* Kernel tests, tests/kernels/NAME.ptx: PTX with its arguments and expectations in comments at the top.
 *
 *     // kernel: NAME                      default: the only .entry; a second kernel: line begins a second test
 *     // launch: grid 2 1 1 block 64 1 1 shared 1024        defaults: grid 1 1 1, block 32 1 1, shared 0
 *     // arg: out u32[64]                  a zeroed buffer, passed by pointer
 *     // arg: in s32[4] = 1 2 3 4          a buffer with these values (value_list.h)
 *     // arg: n u32 = 5                    a scalar
 *     // arg: s u32[3] by-value = 1 2 3    a struct
 *     // arg: t texture u8x4[8x4] linear wrap = ...         a texture object; one-dimensional: u8x4[8]
 *     // arg: s surface f32[8x4] = ...     a surface object; like a buffer in expectations
 *     // expect: out = 0..31 7*32          all elements
 *     // expect: out[32] = 7*32            some, from element 32 on
 *     // expect-error: CUDA_ERROR_ILLEGAL_ADDRESS           of loading, launching or waiting
 *     // expect-message: out of bounds     in the error output
 *     // expect-stdout: hello from 3       in the output; several lines allowed
 *     // config: {"max_instructions": 1000}                 HEDDLE_CONFIG of the run
 *     // real-gpu: no                      does not apply to hardware
 *
 * A texture is linear (filtered), normalized (its coordinates), read-normalized (its texels), buffer (linear memory),
 * and wrap, clamp, mirror or border. A line that ends with a backslash continues in the next comment line. Other
 * comments are ignored. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "value_list.h"

enum { KERNEL_MAX_ARGUMENTS = 24, KERNEL_MAX_EXPECTATIONS = 48, KERNEL_NAME = 128 };

enum argument_kind { ARGUMENT_SCALAR, ARGUMENT_BUFFER, ARGUMENT_STRUCT, ARGUMENT_TEXTURE, ARGUMENT_SURFACE };
enum texture_wrap { TEXTURE_WRAP, TEXTURE_CLAMP, TEXTURE_MIRROR, TEXTURE_BORDER };

struct kernel_argument {
    char name[KERNEL_NAME];
    enum argument_kind kind;
    const struct value_type *type;
    size_t count;         /* values: 1 for a scalar */
    size_t width, height; /* texels of textures and surfaces; height 0: one-dimensional */
    unsigned channels;
    bool is_linear, is_normalized, reads_normalized, is_buffer;
    enum texture_wrap wrap;
    struct value_list values; /* none: zeros */
};

enum expectation_kind { EXPECT_VALUES, EXPECT_MESSAGE, EXPECT_STDOUT };

struct kernel_expectation {
    enum expectation_kind kind;
    unsigned line;
    unsigned argument; /* EXPECT_VALUES */
    size_t first;
    struct value_list values;
    char *text; /* EXPECT_MESSAGE, EXPECT_STDOUT */
};

struct kernel_test {
    unsigned line;
    char kernel[KERNEL_NAME]; /* "": the only one */
    unsigned grid[3], block[3], shared_bytes;
    struct kernel_argument argument[KERNEL_MAX_ARGUMENTS];
    unsigned n_arguments;
    struct kernel_expectation expectation[KERNEL_MAX_EXPECTATIONS];
    unsigned n_expectations;
    char error[KERNEL_NAME]; /* "": none expected */
    char *config;            /* NULL: none */
    bool is_simulated_only;
};

struct kernel_file {
    const char *path;
    char *ptx;
    struct kernel_test *test;
    unsigned n_tests, n_errors;
};

/* Returns false when the file cannot be read or its comments have errors, which it reports on standard error.
 * kernel_file_free() in both cases. */
bool kernel_file_read(struct kernel_file *file, const char *path);
void kernel_file_free(struct kernel_file *file);
