/* Finds the PTX in images; image.h lists their kinds. */
#include "cuda/modules/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/internal.h"
#include "cuda/modules/cubin.h"

enum { LARGEST_PARTS = 1 << 16, LINKED_HEADER_BYTES = 16, CONTAINER_BYTES = 16, ENTRY_BYTES = 64 };

static const char only_machine_code[] = "holds machine code and no PTX, and there is no GPU here to run it; build with "
                                        "-gencode arch=compute_80,code=compute_80, or ask NVRTC for compute_80 and PTX";

/* Compares only as far as the bytes agree, so that a short text is not read beyond its end. */
static bool starts_with(const unsigned char *bytes, const char *magic, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != (unsigned char)magic[i])
            return false;
    return true;
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

static struct cuda_image_part *add_part(struct cuda_image *image) {
    struct cuda_image_part *larger = cuda_allocate((image->n_parts + 1) * sizeof(*larger));
    if (image->n_parts)
        memcpy(larger, image->part, image->n_parts * sizeof(*larger));
    free(image->part);
    image->part = larger;
    return &larger[image->n_parts++];
}

static CUresult add_container(struct cuda_image *image, const void *bytes, size_t length, const char **problem) {
    struct cuda_image_part *part = add_part(image);
    *problem = cuda_fatbin_open(&part->fatbin, bytes, length, image->capability);
    if (*problem)
        return CUDA_ERROR_INVALID_IMAGE;
    if (image->n_choices < part->fatbin.n_ptx)
        image->n_choices = part->fatbin.n_ptx;
    if (part->fatbin.n_ptx || !part->fatbin.n_entries)
        return CUDA_SUCCESS;
    *problem = only_machine_code;
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* Opens the parts of one module. It leaves out a part without PTX. If the program needs a function of that part, the
 * linker names it. */
static CUresult open_parts(struct cuda_image *image, const void *const *container, const char **problem) {
    for (unsigned i = 0; container[i]; i++) {
        *problem = "links more translation units than a program can have";
        CUresult result = i < LARGEST_PARTS ? add_container(image, container[i], CUDA_FATBIN_UNKNOWN_LENGTH, problem)
                                            : CUDA_ERROR_INVALID_IMAGE;
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_NO_BINARY_FOR_GPU)
            return result;
    }
    *problem = only_machine_code;
    return image->n_choices ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* A file cannot hold pointers, so a wrapper is always in the program's memory. */
static CUresult open_wrapper(struct cuda_image *image, const struct cuda_fatbin_wrapper *wrapper,
                             const char **problem) {
    bool is_linked = wrapper->version == 2 && wrapper->linked && wrapper->linked[0];
    *problem = "is a wrapper around no fat binary";
    if (is_linked)
        return open_parts(image, wrapper->linked, problem);
    return wrapper->container ? add_container(image, wrapper->container, CUDA_FATBIN_UNKNOWN_LENGTH, problem)
                              : CUDA_ERROR_INVALID_IMAGE;
}

static CUresult open_linked(struct cuda_image *image, const unsigned char *bytes, size_t length, const char **problem) {
    uint64_t content;
    *problem = "is cut short";
    if (length && length < LINKED_HEADER_BYTES)
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&content, bytes + 8, sizeof(content));
    if (content > CUDA_FATBIN_LARGEST_BYTES || (length && content > length - LINKED_HEADER_BYTES))
        return CUDA_ERROR_INVALID_IMAGE;
    for (size_t at = 0; at < content;) {
        CUresult result = image->n_parts < LARGEST_PARTS
                              ? add_container(image, bytes + LINKED_HEADER_BYTES + at, (size_t)content - at, problem)
                              : CUDA_ERROR_INVALID_IMAGE;
        if (result != CUDA_SUCCESS)
            return result;
        at += image->part[image->n_parts - 1].fatbin.bytes;
    }
    return CUDA_SUCCESS;
}

static CUresult open_any(struct cuda_image *image, const unsigned char *bytes, size_t length, const char **problem) {
    static const uint32_t wrapper_magic = CUDA_FATBIN_WRAPPER_MAGIC;
    if (cuda_fatbin_starts(bytes))
        return add_container(image, bytes, length, problem);
    if (!length && starts_with(bytes, (const char *)&wrapper_magic, sizeof(wrapper_magic)))
        return open_wrapper(image, (const void *)bytes, problem);
    if (starts_with(bytes, CUDA_IMAGE_LINKED_MAGIC, sizeof(CUDA_IMAGE_LINKED_MAGIC) - 1))
        return open_linked(image, bytes, length, problem);
    if (starts_with(bytes, "\177ELF", 4)) {
        *problem = only_machine_code;
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    struct cuda_image_part *part = add_part(image);
    part->text = (const char *)bytes;
    part->length = strlen(part->text);
    image->n_choices = 1;
    return CUDA_SUCCESS;
}

CUresult cuda_image_open(struct cuda_image *image, uint32_t capability, const void *bytes, size_t length,
                         const char **problem) {
    *image = (struct cuda_image){.capability = capability};
    CUresult result = open_any(image, bytes, length, problem);
    if (result != CUDA_SUCCESS)
        cuda_image_close(image);
    return result;
}

void cuda_image_close(struct cuda_image *image) {
    for (unsigned i = 0; i < image->n_parts; i++)
        cuda_fatbin_close(&image->part[i].fatbin);
    free(image->part);
    *image = (struct cuda_image){.part = NULL};
}

/* ---- Machine code ------------------------------------------------------------------------------------------------ */

/* A device executes machine code of its own major capability, up to its own. The newest is first. */
static const struct cuda_fatbin_entry *find_machine_code(const struct cuda_fatbin *fatbin, uint32_t capability) {
    for (unsigned i = fatbin->n_ptx; i < fatbin->n_entries; i++) {
        const struct cuda_fatbin_entry *entry = &fatbin->entry[i];
        if (entry->kind == CUDA_FATBIN_ELF && entry->architecture <= capability &&
            entry->architecture / 10 == capability / 10)
            return entry;
    }
    return NULL;
}

void cuda_image_registers(const struct cuda_image *image,
                          void (*found)(void *user, const char *kernel, uint32_t registers), void *user) {
    for (unsigned i = 0; i < image->n_parts; i++) {
        const struct cuda_fatbin_entry *entry = find_machine_code(&image->part[i].fatbin, image->capability);
        const char *problem;
        size_t length;
        char *cubin = entry ? cuda_fatbin_text(entry, &length, &problem) : NULL;
        if (cubin)
            cuda_cubin_registers(cubin, length, found, user);
        free(cubin);
    }
}

/* ---- Texts ------------------------------------------------------------------------------------------------------ */

/* A container without PTX is a translation unit without device code, or without any that could be loaded. */
static char *copy_text(const struct cuda_image_part *part, unsigned choice, size_t *length, const char **problem) {
    static const char empty[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
    if (part->fatbin.n_ptx) {
        unsigned place = choice < part->fatbin.n_ptx ? choice : part->fatbin.n_ptx - 1;
        return cuda_fatbin_text(&part->fatbin.entry[place], length, problem);
    }
    const char *text = part->text ? part->text : empty;
    *length = part->text ? part->length : sizeof(empty) - 1;
    char *copy = cuda_allocate(*length + 1);
    memcpy(copy, text, *length);
    return copy;
}

struct gpu_text *cuda_image_texts(const struct cuda_image *image, const char *name, unsigned choice,
                                  const char **problem) {
    struct gpu_text *text = cuda_allocate(image->n_parts * sizeof(*text));
    for (unsigned i = 0; i < image->n_parts; i++) {
        char *own = cuda_allocate(strlen(name) + 32);
        if (image->n_parts > 1)
            sprintf(own, "%s, part %u", name, i + 1);
        else
            strcpy(own, name);
        text[i].name = own;
        text[i].text = copy_text(&image->part[i], choice, &text[i].length, problem);
        if (!text[i].text) {
            cuda_image_texts_free(text, i + 1);
            return NULL;
        }
    }
    return text;
}

void cuda_image_texts_free(struct gpu_text *text, unsigned n_texts) {
    for (unsigned i = 0; i < n_texts; i++) {
        free((void *)(uintptr_t)text[i].name);
        free((void *)(uintptr_t)text[i].text);
    }
    free(text);
}

/* ---- Linked images ---------------------------------------------------------------------------------------------- */

static size_t padded(size_t bytes) { return (bytes + 8) / 8 * 8; } /* with a 0 after the text */

void *cuda_image_make_linked(const struct gpu_text *text, unsigned n_texts, size_t *bytes) {
    *bytes = LINKED_HEADER_BYTES;
    for (unsigned i = 0; i < n_texts; i++)
        *bytes += CONTAINER_BYTES + ENTRY_BYTES + padded(text[i].length);
    unsigned char *image = cuda_allocate(*bytes), *at = image + LINKED_HEADER_BYTES;
    uint64_t content = *bytes - LINKED_HEADER_BYTES;
    memcpy(image, CUDA_IMAGE_LINKED_MAGIC, 8);
    memcpy(image + 8, &content, sizeof(content));
    for (unsigned i = 0; i < n_texts; i++) {
        uint64_t payload = padded(text[i].length), entries = ENTRY_BYTES + payload;
        const uint32_t container[2] = {CUDA_FATBIN_MAGIC, 1 | CONTAINER_BYTES << 16};
        const uint32_t entry[2] = {CUDA_FATBIN_PTX | 0x101u << 16, ENTRY_BYTES};
        memcpy(at, container, sizeof(container));
        memcpy(at + 8, &entries, sizeof(entries));
        at += CONTAINER_BYTES;
        memcpy(at, entry, sizeof(entry));
        memcpy(at + 8, &payload, sizeof(payload));
        memcpy(at + ENTRY_BYTES, text[i].text, text[i].length);
        at += entries;
    }
    return image;
}
