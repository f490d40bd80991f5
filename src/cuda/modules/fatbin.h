/* Fat binaries: the containers in which compilers put a module's PTX and machine code for several architectures.
 *
 * Seen in what nvcc 10 to 13 write (all numbers little-endian):
 *
 *   container  u32 magic 0xBA55ED50, u16 version 1, u16 bytes of this header (16), u64 bytes of the entries after it
 *   entry      u16 kind (1 PTX, 2 ELF machine code, 8 compiler IR), u16 version, u32 bytes of this header (64 or more),
 *              u64 bytes of the payload, which follows the header; at 16 u32 bytes of the payload without its padding
 *              when it is compressed; at 28 u32 architecture (80 for compute_80); at 40 u64 flags: 0x2000 the payload
 *              is an LZ4 block, 0x8000 a zstd frame; at 56 u64 bytes once decompressed
 *   wrapper    u32 magic 0x466243B1, u32 version, pointer to a container, pointer: version 2 (nvcc -rdc=true) has
 *              there an array of pointers to the containers of all translation units, with NULL at its end; the
 *              container it wraps then holds only the linked machine code
 *
 * The reader trusts no number in a container: every one is checked against the bytes that are there. A container in a
 * program's memory is as long as its header says, at most CUDA_FATBIN_LARGEST_BYTES. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CUDA_FATBIN_WRAPPER_MAGIC = 0x466243B1,
    CUDA_FATBIN_LARGEST_BYTES = 1 << 30, /* of a container */
    CUDA_FATBIN_LARGEST_TEXT = 1 << 28,  /* of an entry's PTX, decompressed */
    CUDA_FATBIN_UNKNOWN_LENGTH = 0,      /* the image lies in the program's memory */
    CUDA_FATBIN_PTX = 1,
    CUDA_FATBIN_ELF = 2, /* kinds of entries */
};
#define CUDA_FATBIN_MAGIC 0xBA55ED50u

/* As compilers lay it out in a program. */
struct cuda_fatbin_wrapper {
    uint32_t magic, version;
    const void *container;
    const void *const *linked; /* version 2 */
};

/* A wrapper that makes cuModuleLoadData() and cuLibraryLoadData() link the containers of several translation units into
 * one module; `containers` ends with NULL and must live until the call returns. */
static inline struct cuda_fatbin_wrapper cuda_fatbin_wrap_linked(const void *const *containers) {
    return (struct cuda_fatbin_wrapper){CUDA_FATBIN_WRAPPER_MAGIC, 2, containers[0], containers};
}

struct cuda_fatbin_entry {
    uint32_t kind, architecture;
    uint64_t flags, text_bytes; /* text_bytes: 0 unless compressed */
    uint64_t rank;              /* the smaller, the better */
    const unsigned char *payload;
    size_t payload_bytes;
};

/* The entries of one container, which must outlive it. */
struct cuda_fatbin {
    struct cuda_fatbin_entry *entry;
    unsigned n_entries;
    unsigned n_ptx; /* the first n_ptx entries are PTX; the first to try is at index 0 */
    size_t bytes;   /* of the container with its header */
};

/* Returns true if an image starts like a container; reads at most 4 bytes, and only as long as they agree. */
bool cuda_fatbin_starts(const void *image);
/* Lists the entries. PTX comes first, best first: the highest architecture not above `architecture`, downwards, then
 * those above it, upwards. Returns NULL, or what is wrong with the container ("is cut short"); then there is nothing to
 * close. */
const char *cuda_fatbin_open(struct cuda_fatbin *fatbin, const void *image, size_t length, uint32_t architecture);
void cuda_fatbin_close(struct cuda_fatbin *fatbin);
/* Returns the text of a PTX entry with a 0 after it, from malloc(). NULL: *problem says why. */
char *cuda_fatbin_text(const struct cuda_fatbin_entry *entry, size_t *length, const char **problem);
