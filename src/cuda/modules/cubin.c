/* Reads cubins. A cubin is a 64-bit ELF file. Its section .nv.info holds attributes, each {format, attribute, bytes,
 * value}; attribute 0x2f is {symbol, registers} for each kernel (as `cuobjdump -elf` prints it: EIATTR_REGCOUNT). */
#include "cuda/modules/cubin.h"

#include <elf.h>
#include <string.h>

enum { FORMAT_SIZED = 4, ATTRIBUTE_REGISTERS = 0x2f, ATTRIBUTE_HEADER_BYTES = 4 };

struct cubin {
    const unsigned char *bytes;
    size_t length;
    Elf64_Ehdr header;
};

/* Copies a structure out of the file. Returns 0 if it is not all there. */
static int read_at(const struct cubin *cubin, uint64_t at, void *to, size_t bytes) {
    if (at > cubin->length || bytes > cubin->length - at)
        return 0;
    memcpy(to, cubin->bytes + at, bytes);
    return 1;
}

static int read_section(const struct cubin *cubin, uint32_t index, Elf64_Shdr *section) {
    return index < cubin->header.e_shnum &&
           read_at(cubin, cubin->header.e_shoff + (uint64_t)index * sizeof *section, section, sizeof *section) &&
           section->sh_offset <= cubin->length && section->sh_size <= cubin->length - section->sh_offset;
}

/* Returns a text of a string table, or NULL. */
static const char *read_text(const struct cubin *cubin, const Elf64_Shdr *table, uint32_t at) {
    const char *text = (const char *)cubin->bytes + table->sh_offset + at;
    return at < table->sh_size && memchr(text, '\0', table->sh_size - at) ? text : NULL;
}

static const char *symbol_name(const struct cubin *cubin, const Elf64_Shdr *symbols, uint32_t index) {
    Elf64_Sym symbol;
    Elf64_Shdr texts;
    if (index >= symbols->sh_size / sizeof symbol || !read_section(cubin, symbols->sh_link, &texts) ||
        !read_at(cubin, symbols->sh_offset + (uint64_t)index * sizeof symbol, &symbol, sizeof symbol))
        return NULL;
    return read_text(cubin, &texts, symbol.st_name);
}

static void read_info(const struct cubin *cubin, const Elf64_Shdr *info,
                      void (*found)(void *user, const char *kernel, uint32_t registers), void *user) {
    Elf64_Shdr symbols;
    if (!read_section(cubin, info->sh_link, &symbols))
        return;
    const unsigned char *bytes = cubin->bytes + info->sh_offset;
    for (uint64_t at = 0; at + ATTRIBUTE_HEADER_BYTES <= info->sh_size;) {
        uint32_t size = bytes[at] == FORMAT_SIZED ? (uint32_t)(bytes[at + 2] | bytes[at + 3] << 8) : 0, value[2];
        if (size > info->sh_size - at - ATTRIBUTE_HEADER_BYTES)
            return;
        if (bytes[at + 1] == ATTRIBUTE_REGISTERS && size >= sizeof value) {
            memcpy(value, bytes + at + ATTRIBUTE_HEADER_BYTES, sizeof value);
            const char *name = symbol_name(cubin, &symbols, value[0]);
            if (name)
                found(user, name, value[1]);
        }
        at += ATTRIBUTE_HEADER_BYTES + size;
    }
}

void cuda_cubin_registers(const void *bytes, size_t length,
                          void (*found)(void *user, const char *kernel, uint32_t registers), void *user) {
    struct cubin cubin = {.bytes = bytes, .length = length};
    Elf64_Shdr names, section;
    if (!read_at(&cubin, 0, &cubin.header, sizeof cubin.header) || memcmp(cubin.header.e_ident, ELFMAG, SELFMAG) != 0 ||
        cubin.header.e_ident[EI_CLASS] != ELFCLASS64 || !read_section(&cubin, cubin.header.e_shstrndx, &names))
        return;
    for (uint32_t i = 0; i < cubin.header.e_shnum; i++) {
        const char *name = read_section(&cubin, i, &section) ? read_text(&cubin, &names, section.sh_name) : NULL;
        if (name && strcmp(name, ".nv.info") == 0)
            read_info(&cubin, &section, found, user);
    }
}
