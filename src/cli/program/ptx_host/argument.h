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
    CUdeviceptr device;  /* of a buffer, once it is there */
};

/* Reads one; false, with what is wrong in `mistake` (one line), when it makes no sense. The data is malloc'ed. */
bool host_argument_parse(struct host_argument *argument, const char *text, char mistake[256]);

size_t host_argument_bytes(const struct host_argument *argument); /* of its data */

/* The numbers, eight on a line, each line led by the place of its first. */
void host_argument_print(const struct host_argument *argument, unsigned place);
