/* Images that programs pass to the loader, recognised by their first bytes, as PTX texts that make up one module.
 *
 * An image is PTX text, a fat binary (fatbin.h), the wrapper that compilers put around one, or the result of
 * cuLinkComplete(), which is CUDA_IMAGE_LINKED_MAGIC, u64 bytes of what follows, and one container after another. With
 * nvcc -rdc=true a program has one wrapper of version 2: its machine code is linked, its PTX is not, and lies in the
 * containers of the translation units, which the wrapper names. They are the parts of one module.
 *
 * Machine code alone cannot be loaded: Heddle runs PTX only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cuda.h"
#include "cuda/modules/fatbin.h"
#include "gpu/gpu.h"

#define CUDA_IMAGE_LINKED_MAGIC "\xb0HEDLNK\n" /* 8 bytes */

#pragma GCC visibility push(hidden)

/* One translation unit: a text, or the PTX entries of a container, one of which is chosen. */
struct cuda_image_part {
    const char *text; /* NULL: see fatbin */
    size_t length;
    struct cuda_fatbin fatbin;
};

struct cuda_image {
    struct cuda_image_part *part;
    unsigned n_parts;
    unsigned n_choices;  /* the most PTX entries of a part */
    uint32_t capability; /* of the device, which decides which entry comes first */
};

/* Opens an image of `length` bytes for a device of this capability (90: 9.0). Length 0: the image lies in the program's
 * memory, and contains its own length. Files must have a 0 after their last byte. On errors `problem`, a text that
 * follows a name ("is cut short"), says why, and there is nothing to close. */
CUresult cuda_image_open(struct cuda_image *image, uint32_t capability, const void *bytes, size_t length,
                         const char **problem);
void cuda_image_close(struct cuda_image *image);
/* The texts of all parts, each the entry at index `choice` or its last; name is used for messages. NULL: *problem says
 * why. cuda_image_texts_free() frees them. */
struct gpu_text *cuda_image_texts(const struct cuda_image *image, const char *name, unsigned choice,
                                  const char **problem);
void cuda_image_texts_free(struct gpu_text *text, unsigned n_texts);
/* Calls `found` for every kernel for which the image contains machine code that the device could execute, with the
 * number of its registers. */
void cuda_image_registers(const struct cuda_image *image,
                          void (*found)(void *user, const char *kernel, uint32_t registers), void *user);
/* Makes an image of texts that are linked when it is loaded, from malloc(). */
void *cuda_image_make_linked(const struct gpu_text *text, unsigned n_texts, size_t *bytes);

#pragma GCC visibility pop
