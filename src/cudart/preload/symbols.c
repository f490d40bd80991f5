/* Reads the symbol tables of an ELF file: .symtab, where linkers keep the names of local functions, and .dynsym. */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudart/preload/preload.h"

bool file_open(struct elf_file *file, const char *path) {
    struct stat about;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    void *bytes = MAP_FAILED;
    if (fstat(descriptor, &about) == 0 && about.st_size > 0)
        bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (bytes == MAP_FAILED)
        return false;
    *file = (struct elf_file){bytes, (size_t)about.st_size};
    return true;
}

bool elf_open(struct elf_file *file, const char *path) {
    if (!file_open(file, path))
        return false;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file->bytes;
    if (file->size >= sizeof(*head) && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
        head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_machine == EM_X86_64)
        return true;
    elf_close(file);
    return false;
}

void elf_close(struct elf_file *file) {
    munmap((void *)(uintptr_t)file->bytes, file->size);
    file->bytes = NULL;
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* Returns the bytes of a part of the file, or NULL if they are not all there. */
static const void *part(const struct elf_file *file, uint64_t offset, uint64_t size) {
    return offset <= file->size && size <= file->size - offset ? file->bytes + offset : NULL;
}

static const Elf64_Shdr *section(const struct elf_file *file, unsigned index) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file->bytes;
    if (index >= head->e_shnum || head->e_shentsize != sizeof(Elf64_Shdr))
        return NULL;
    return part(file, head->e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
}

static const void *contents(const struct elf_file *file, const Elf64_Shdr *header) {
    return header && header->sh_type != SHT_NOBITS ? part(file, header->sh_offset, header->sh_size) : NULL;
}

/* Returns the name at an offset of a string section, or "". */
static const char *text_at(const struct elf_file *file, const Elf64_Shdr *strings, uint64_t offset) {
    const char *text = contents(file, strings);
    if (!text || offset >= strings->sh_size || text[strings->sh_size - 1])
        return "";
    return text + offset;
}

bool elf_has_section(const struct elf_file *file, const char *name) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file->bytes;
    const Elf64_Shdr *names = section(file, head->e_shstrndx), *header;
    for (unsigned i = 0; (header = section(file, i)); i++)
        if (strcmp(text_at(file, names, header->sh_name), name) == 0)
            return true;
    return false;
}

/* ---- Symbols ----------------------------------------------------------------------------------------------------- */

/* Calls `found` for the symbols of one table until it returns true. Returns true if it did. */
static bool each_symbol(const struct elf_file *file, unsigned type,
                        bool (*found)(void *context, const char *name, const Elf64_Sym *symbol), void *context) {
    const Elf64_Shdr *header;
    for (unsigned i = 0; (header = section(file, i)); i++) {
        const Elf64_Sym *symbol = contents(file, header);
        if (header->sh_type != type || !symbol)
            continue;
        const Elf64_Shdr *names = section(file, header->sh_link);
        for (uint64_t s = 0; s < header->sh_size / sizeof(*symbol); s++)
            if (found(context, text_at(file, names, symbol[s].st_name), &symbol[s]))
                return true;
    }
    return false;
}

struct search {
    const char *name; /* or prefix */
    void (*found)(void *context, const struct elf_function *function);
    void *context;
};

static bool pass_on_function(void *context, const char *name, const Elf64_Sym *symbol) {
    const struct search *search = context;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
        strncmp(name, search->name, strlen(search->name)) == 0) {
        const struct elf_function function = {name, symbol->st_value, symbol->st_size};
        search->found(search->context, &function);
    }
    return false;
}

void elf_each_function(const struct elf_file *file, const char *prefix,
                       void (*found)(void *context, const struct elf_function *function), void *context) {
    struct search search = {prefix, found, context};
    each_symbol(file, SHT_SYMTAB, pass_on_function, &search);
    each_symbol(file, SHT_DYNSYM, pass_on_function, &search);
}

static bool is_import(void *context, const char *name, const Elf64_Sym *symbol) {
    return symbol->st_shndx == SHN_UNDEF && strcmp(name, context) == 0;
}

bool elf_imports(const struct elf_file *file, const char *name) {
    return each_symbol(file, SHT_DYNSYM, is_import, (void *)(uintptr_t)name);
}
