/* Determines the kind of a file that the user wants to run, from its name and its first bytes. Explains why the system
 * could not start the file. An executable, or a script with its interpreter, needs no explanation. */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/execute.h"

enum { FIRST_BYTES = 256 };

struct file {
    const char *name; /* as the user gave it */
    unsigned char first[FIRST_BYTES + 1];
    size_t n; /* bytes in `first`, which ends in a zero */
    bool is_executable;
};

static bool read_first(const char *path, struct file *file) {
    FILE *stream = fopen(path, "rbe");
    if (!stream)
        return false;
    file->n = fread(file->first, 1, FIRST_BYTES, stream);
    fclose(stream);
    return true;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

/* Returns the name without its folder and extension: the name of the executable to build. */
static const char *stem(const char *name, struct base_arena *arena) {
    const char *slash = strrchr(name, '/'), *start = slash ? slash + 1 : name;
    return base_arena_copy(arena, start, (size_t)(strrchr(start, '.') - start));
}

/* cuda.h lies beside the library if Heddle is installed, and in the sources otherwise. */
static const char *header_folder(const struct program_place *place, struct base_arena *arena) {
    bool is_installed = access(base_arena_printf(arena, "%s/cuda.h", place->cuda), R_OK) == 0;
    return is_installed ? place->cuda : base_arena_printf(arena, "%s/cuda", program_find_include(arena));
}

static const char *explain_source(const char *name, const struct program_place *place, struct base_arena *arena) {
    static const char *const host[][2] = {{".c", "gcc"}, {".cc", "g++"}, {".cpp", "g++"}, {".cxx", "g++"}};
    if (ends_with(name, ".cu"))
        return base_arena_printf(arena,
                                 "'%s' is source code: build it with 'nvcc %s -o %s', then 'heddle run ./%s'; "
                                 "without nvcc, docs/cuda-programs.md shows how clang makes PTX of its kernels",
                                 name, name, stem(name, arena), stem(name, arena));
    for (size_t i = 0; i < sizeof host / sizeof host[0]; i++)
        if (ends_with(name, host[i][0]))
            return base_arena_printf(
                arena, "'%s' is source code: build it with '%s -I %s %s -L %s -lcuda -o %s', then 'heddle run ./%s'",
                name, host[i][1], header_folder(place, arena), name, place->cuda, stem(name, arena), stem(name, arena));
    return NULL;
}

/* ---- Executables ------------------------------------------------------------------------------------------------- */

static bool is_elf(const struct file *file) {
    return file->n >= sizeof(Elf64_Ehdr) && memcmp(file->first, ELFMAG, SELFMAG) == 0;
}

static unsigned half(const struct file *file, size_t at) {
    return file->first[at] | (unsigned)file->first[at + 1] << 8;
}

static const char *architecture(unsigned machine, struct base_arena *arena) {
    static const struct {
        unsigned machine;
        const char *name;
    } known[] = {{EM_386, "x86 of 32 bits"}, {EM_X86_64, "x86-64"},      {EM_ARM, "Arm of 32 bits"},
                 {EM_AARCH64, "AArch64"},    {EM_PPC64, "64-bit Power"}, {EM_RISCV, "RISC-V"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].machine == machine)
            return known[i].name;
    return base_arena_printf(arena, "machine %u of the ELF format", machine);
}

static const char *explain_elf(const struct file *file, struct base_arena *arena) {
    enum { TYPE = offsetof(Elf64_Ehdr, e_type), MACHINE = offsetof(Elf64_Ehdr, e_machine), CUBIN = 190 };
    struct file self = {0};
    unsigned machine = half(file, MACHINE);
    if (machine == CUBIN)
        return base_arena_printf(arena,
                                 "'%s' holds kernels for one GPU alone (a cubin): run the host program, built by nvcc "
                                 "with PTX in it",
                                 file->name);
    if (half(file, TYPE) == ET_REL)
        return base_arena_printf(arena, "'%s' is an object file: link it to an executable first", file->name);
    if (read_first("/proc/self/exe", &self) && is_elf(&self) && half(&self, MACHINE) != machine)
        return base_arena_printf(arena, "'%s' is an executable for %s, and this computer runs %s: build it here",
                                 file->name, architecture(machine, arena), architecture(half(&self, MACHINE), arena));
    return NULL;
}

/* ---- Scripts and the rest ---------------------------------------------------------------------------------------- */

static const char *explain_script(const struct file *file, struct base_arena *arena) {
    const char *start = (const char *)file->first + 2;
    start += strspn(start, " \t");
    const char *interpreter = base_arena_copy(arena, start, strcspn(start, " \t\r\n"));
    if (*interpreter && access(interpreter, X_OK) == 0)
        return NULL;
    return base_arena_printf(arena, "'%s' is a script for '%s', which cannot be run here", file->name, interpreter);
}

static bool is_text(const struct file *file) {
    for (size_t i = 0; i < file->n; i++)
        if (!isprint(file->first[i]) && !isspace(file->first[i]) && file->first[i] < 128)
            return false;
    return true;
}

static const char *explain_other(const struct file *file, struct base_arena *arena) {
    static const char expected[] = "expected is a bundled workload, a CUDA executable or a .ptx file";
    if (file->n == 0)
        return base_arena_printf(arena, "'%s' is empty; %s", file->name, expected);
    if (!is_text(file))
        return base_arena_printf(arena, "'%s' is not an executable; %s", file->name, expected);
    return base_arena_printf(
        arena, "'%s' is a text without a first line '#!...'; for a script run its interpreter: heddle run /bin/sh %s",
        file->name, file->name);
}

const char *program_why_not_runnable(const char *name, const struct program_place *place, struct base_arena *arena) {
    struct file file = {.name = name, .is_executable = access(name, X_OK) == 0};
    const char *reason = explain_source(name, place, arena);
    if (reason)
        return reason;
    if (!read_first(name, &file))
        return NULL; /* a program may be executable without being readable */
    bool is_script = memcmp(file.first, "#!", 2) == 0;
    reason = is_elf(&file) ? explain_elf(&file, arena)
             : is_script   ? explain_script(&file, arena)
                           : explain_other(&file, arena);
    if (!reason && !file.is_executable)
        return base_arena_printf(arena, "'%s' is not marked as executable: 'chmod +x %s' does that", name, name);
    return reason;
}
