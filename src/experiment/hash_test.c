/* Hashes of files: those of programs do not depend on how a build was installed. */
#define _GNU_SOURCE
#include "experiment/hash.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct base_arena arena;

/* A program of four sections behind its head; strings, as the run path is, and debug information do not count. */
struct program {
    Elf64_Ehdr head;
    char code[8], strings[8], debug[8];
    Elf64_Shdr section[4];
};

static struct program a_program(void) {
    struct program program = {.code = "code", .strings = "path", .debug = "debug"};
    memcpy(program.head.e_ident, ELFMAG, SELFMAG);
    program.head.e_ident[EI_CLASS] = ELFCLASS64;
    program.head.e_shoff = offsetof(struct program, section);
    program.head.e_shentsize = sizeof(Elf64_Shdr);
    program.head.e_shnum = 4;
    program.section[1] = (Elf64_Shdr){
        .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_offset = offsetof(struct program, code), .sh_size = 8};
    program.section[2] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_flags = SHF_ALLOC, .sh_offset = offsetof(struct program, strings), .sh_size = 8};
    program.section[3] =
        (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = offsetof(struct program, debug), .sh_size = 8};
    return program;
}

static const char *hash_of(const void *data, size_t size) {
    char path[] = "/tmp/heddle-hash-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), size);
    close(file);
    const char *hash = experiment_hash_file(path, &arena);
    unlink(path);
    assert_non_null(hash);
    return hash;
}

static void a_programs_hash_is_that_of_its_code(void **state) {
    (void)state;
    struct program program = a_program(), other = program;
    const char *hash = hash_of(&program, sizeof program);
    strcpy(other.strings, "run");
    strcpy(other.debug, "none");
    assert_string_equal(hash_of(&other, sizeof other), hash);
    other = program;
    other.section[3].sh_type = SHT_NULL; /* stripped */
    assert_string_equal(hash_of(&other, sizeof other), hash);
    strcpy(other.code, "Code");
    assert_string_not_equal(hash_of(&other, sizeof other), hash);
    other = program;
    other.section[1].sh_addr = 16;
    assert_string_not_equal(hash_of(&other, sizeof other), hash);
}

static void other_files_count_as_a_whole(void **state) {
    (void)state;
    assert_string_not_equal(hash_of("text", 4), hash_of("texT", 4));
    assert_string_equal(hash_of("", 0), hash_of("", 0));
    struct program program = a_program(), other;
    program.section[1].sh_size = sizeof program; /* beyond the end */
    other = program;
    strcpy(other.debug, "none");
    assert_string_not_equal(hash_of(&program, sizeof program), hash_of(&other, sizeof other));
    assert_null(experiment_hash_file("/nowhere/at/all", &arena));
    assert_null(experiment_hash_file("/tmp", &arena));
}

static int tear_down(void **state) {
    (void)state;
    base_arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_programs_hash_is_that_of_its_code),
        cmocka_unit_test(other_files_count_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
