/* Tests of the symbols of this program's own file, and of files that are not ELF files. */
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

#include "cudart/preload/preload.h"

/* A local function, which only .symtab names. */
static __attribute__((noinline, used)) int symbols_test_marked(void) { return 1; }

struct seen {
    unsigned n;
    uint64_t size;
};

static void see(void *context, const struct elf_function *function) {
    struct seen *seen = context;
    assert_string_equal(function->name, "symbols_test_marked");
    assert_true(function->address != 0);
    seen->n++;
    seen->size = function->size;
}

static void a_local_function_is_found_by_its_prefix(void **state) {
    (void)state;
    struct elf_file file;
    struct seen seen = {0};
    assert_true(elf_open(&file, "/proc/self/exe"));
    elf_each_function(&file, "symbols_test_mark", see, &seen);
    assert_int_equal(seen.n, symbols_test_marked());
    assert_in_range(seen.size, 2, 4096);
    elf_close(&file);
}

static void sections_and_imports_are_found_by_name(void **state) {
    (void)state;
    struct elf_file file;
    assert_true(elf_open(&file, "/proc/self/exe"));
    assert_true(elf_has_section(&file, ".text"));
    assert_false(elf_has_section(&file, ".nv_fatbin"));
    assert_true(elf_imports(&file, "_cmocka_run_group_tests"));
    assert_false(elf_imports(&file, "symbols_test_marked"));
    assert_false(elf_imports(&file, "_cmocka_run_group_test"));
    elf_close(&file);
}

static void what_is_no_program_is_refused(void **state) {
    (void)state;
    struct elf_file file;
    assert_false(elf_open(&file, "/nonexistent"));
    assert_false(elf_open(&file, "/dev/null"));
    assert_false(elf_open(&file, "README.md"));
}

/* Writes the bytes to a file and looks for the function in it. Returns how often it is found. */
static unsigned count_in(const void *bytes, size_t size) {
    char path[] = "/tmp/heddle-symbols-XXXXXX";
    struct elf_file file;
    struct seen seen = {0};
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, size), size);
    assert_true(elf_open(&file, path));
    elf_each_function(&file, "symbols_test_mark", see, &seen);
    assert_false(elf_has_section(&file, ".nothing"));
    elf_close(&file);
    close(descriptor);
    unlink(path);
    return seen.n;
}

static void a_file_is_never_read_beyond_its_end(void **state) {
    (void)state;
    struct elf_file whole;
    assert_true(elf_open(&whole, "/proc/self/exe"));
    unsigned char *copy = malloc(whole.size);
    assert_non_null(copy);
    memcpy(copy, whole.bytes, whole.size);
    assert_int_equal(count_in(copy, whole.size), 1);
    for (size_t size = whole.size; size > 64; size = size * 7 / 8)
        assert_true(count_in(copy, size) <= 1);
    /* Tables of symbols that claim to be longer than the file are none. */
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)copy;
    Elf64_Shdr *section = (Elf64_Shdr *)(copy + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB || section[i].sh_type == SHT_DYNSYM)
            section[i].sh_size = 1ull << 40;
    assert_int_equal(count_in(copy, whole.size), 0);
    free(copy);
    elf_close(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_local_function_is_found_by_its_prefix),
        cmocka_unit_test(sections_and_imports_are_found_by_name),
        cmocka_unit_test(what_is_no_program_is_refused),
        cmocka_unit_test(a_file_is_never_read_beyond_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
