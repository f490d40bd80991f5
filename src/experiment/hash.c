/* Hashes. See hash.h. */
#define _GNU_SOURCE
#include "experiment/hash.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* FNV-1a of 64 bits (Fowler, Noll, Vo), twice with different starts: enough to tell builds and runs apart. */
struct experiment_hash experiment_hash_start(void) {
    return (struct experiment_hash){0xcbf29ce484222325u, 0x84222325cbf29ce4u};
}

void experiment_hash_add(struct experiment_hash *hash, const void *data, size_t n) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < n; i++) {
        hash->a = (hash->a ^ byte[i]) * 0x100000001b3u;
        hash->b = (hash->b ^ byte[i]) * 0x100000001b3u;
    }
}

const char *experiment_hash_text(const struct experiment_hash *hash, struct base_arena *arena) {
    return base_arena_printf(arena, "%016" PRIx64 "%016" PRIx64, hash->a, hash->b);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

struct content {
    const unsigned char *data;
    size_t size;
};

static bool is_inside(const struct content *content, uint64_t offset, uint64_t size) {
    return offset <= content->size && size <= content->size - offset;
}

/* The section headers, copied; NULL: this is no ELF file of 64 bits, or its headers are gone. */
static Elf64_Shdr *copy_sections(const struct content *content, unsigned *count, struct base_arena *arena) {
    Elf64_Ehdr head;
    if (content->size < sizeof head)
        return NULL;
    memcpy(&head, content->data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_shnum == 0 ||
        head.e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(content, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr)))
        return NULL;
    Elf64_Shdr *section = BASE_ARENA_ARRAY(arena, Elf64_Shdr, head.e_shnum);
    memcpy(section, content->data + head.e_shoff, head.e_shnum * sizeof *section);
    *count = head.e_shnum;
    return section;
}

/* Code and data that the program loads. The run path is in .dynamic and its strings, the build's identity a note. */
static bool is_code_or_data(const Elf64_Shdr *section) {
    return (section->sh_flags & SHF_ALLOC) && section->sh_type != SHT_NOBITS && section->sh_type != SHT_DYNAMIC &&
           section->sh_type != SHT_STRTAB && section->sh_type != SHT_NOTE;
}

/* Returns false if the file is no program: it then counts as a whole. */
static bool add_program(struct experiment_hash *hash, const struct content *content, struct base_arena *arena) {
    unsigned count = 0, n_added = 0;
    const Elf64_Shdr *section = copy_sections(content, &count, arena);
    for (unsigned i = 0; i < count; i++)
        if (is_code_or_data(&section[i]) && !is_inside(content, section[i].sh_offset, section[i].sh_size))
            return false;
    for (unsigned i = 0; i < count; i++)
        if (is_code_or_data(&section[i])) {
            experiment_hash_add(hash, &section[i].sh_addr, sizeof section[i].sh_addr);
            experiment_hash_add(hash, &section[i].sh_size, sizeof section[i].sh_size);
            experiment_hash_add(hash, content->data + section[i].sh_offset, section[i].sh_size);
            n_added++;
        }
    return n_added > 0;
}

/* Maps the file; false with errno if it cannot be read. */
static bool map_file(struct content *content, const char *path) {
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool is_good = fstat(file, &about) == 0;
    if (is_good && !S_ISREG(about.st_mode)) {
        errno = EINVAL;
        is_good = false;
    }
    *content = (struct content){.size = is_good ? (size_t)about.st_size : 0};
    if (content->size) {
        void *data = mmap(NULL, content->size, PROT_READ, MAP_PRIVATE, file, 0);
        is_good = data != MAP_FAILED;
        content->data = data;
    }
    int error = errno;
    close(file);
    errno = error;
    return is_good;
}

const char *experiment_hash_file(const char *path, struct base_arena *arena) {
    struct content content;
    if (!map_file(&content, path))
        return NULL;
    struct experiment_hash hash = experiment_hash_start();
    if (!add_program(&hash, &content, arena))
        experiment_hash_add(&hash, content.data, content.size);
    if (content.size)
        munmap((void *)content.data, content.size);
    return experiment_hash_text(&hash, arena);
}
