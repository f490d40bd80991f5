/* Arguments of a kernel as text: `u32:5`, `f32:1.5`, `buf:4096`, `buf:f32[1024]=iota`, `out:u32[64]`. */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host_type {
    const char *name;
    char kind; /* 'u', 's', 'b' or 'f' */
    unsigned bytes;
};

struct host_argument {
    const char *text; /* as the user wrote it */
    const struct host_type *type;
    bool is_buffer, is_printed;
    size_t count;        /* of numbers; 1 for a plain number */
    unsigned char *data; /* count * type->bytes bytes on the host */
    CUdeviceptr device;  /* of a buffer, once it is allocated */
};

/* Parses one argument. The data is malloc'ed. Returns false, with one line in `mistake`, if it is invalid. */
bool host_argument_parse(struct host_argument *argument, const char *text, char mistake[256]);

size_t host_argument_bytes(const struct host_argument *argument); /* of its data */

/* Prints the numbers, eight to a line; each line begins with the index of its first. */
void host_argument_print(const struct host_argument *argument, unsigned place);
