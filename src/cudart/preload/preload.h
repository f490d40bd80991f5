/* Inside the preloaded library: the symbols of an object of the process, and jumps over functions. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Symbols of a file (symbols.c) ------------------------------------------------------------------------------- */

/* An ELF file, mapped. */
struct elf_file {
    const unsigned char *bytes;
    size_t size;
};

struct elf_function {
    const char *name;
    uint64_t address; /* as in the file */
    uint64_t size;
};

/* Returns false if it cannot be read or is not an ELF file for this machine. */
bool elf_open(struct elf_file *file, const char *path);
/* The same for a file of any kind. */
bool file_open(struct elf_file *file, const char *path);
void elf_close(struct elf_file *file);
bool elf_has_section(const struct elf_file *file, const char *name);
/* Calls `found` for each function that the file defines and whose name begins with `prefix`. */
void elf_each_function(const struct elf_file *file, const char *prefix,
                       void (*found)(void *context, const struct elf_function *function), void *context);
/* Returns true if the file imports a function of this name. */
bool elf_imports(const struct elf_file *file, const char *name);

/* ---- Libraries of the toolkit (replaced.c, nvrtc.c, nvjitlink.c) ------------------------------------------------- */

#define EXPORTED __attribute__((visibility("default")))

/* Finds functions of a loaded library whose file name contains `library`. Returns false unless all are there. */
bool find_functions(const char *library, const char *const *names, size_t n, void **functions);

/* In place of theirs; programs and links are handles. */
EXPORTED int nvrtcGetCUBINSize(void *program, size_t *bytes);
EXPORTED int nvrtcGetCUBIN(void *program, char *cubin);
EXPORTED int nvJitLinkCreate(void **handle, uint32_t n_options, const char **options);
EXPORTED int nvJitLinkDestroy(void **handle);
EXPORTED int nvJitLinkAddData(void *handle, int type, const void *data, size_t bytes, const char *name);
EXPORTED int nvJitLinkAddFile(void *handle, int type, const char *path);
EXPORTED int nvJitLinkComplete(void *handle);
EXPORTED int nvJitLinkGetLinkedCubinSize(void *handle, size_t *bytes);
EXPORTED int nvJitLinkGetLinkedCubin(void *handle, void *cubin);

/* ---- Jumps (jumps.c) --------------------------------------------------------------------------------------------- */

/* The jumps of one object go through this page, which is near enough for jumps of 32 bits. */
struct jump_table {
    unsigned char *memory;
    size_t used, size;
};

/* Finds memory within reach of [begin, end). */
bool jump_table_make(struct jump_table *table, uintptr_t begin, uintptr_t end, size_t n_jumps);
/* Writes a jump to `target` over the function at `at`. Returns false if there is no room for one. */
bool jump_write(struct jump_table *table, uintptr_t at, size_t function_bytes, const void *target);
/* Makes the table executable. */
bool jump_table_close(struct jump_table *table);
