#include "cuda/modules/cubin.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A cubin of one kernel, "k", with 30 registers, in the layout of `cuobjdump -elf`. */
struct file {
    Elf64_Ehdr header;
    Elf64_Shdr section[4]; /* none, names, symbols, .nv.info */
    Elf64_Sym symbol[2];
    unsigned char info[16];
    char names[16];
};

static struct file make(void) {
    static const unsigned char info[16] = {3, 1, 0, 0, 4, 0x2f, 8, 0, 1, 0, 0, 0, 30, 0, 0, 0};
    struct file file = {
        .header = {.e_shoff = offsetof(struct file, section), .e_shnum = 4, .e_shstrndx = 1},
        .section =
            {[1] = {.sh_offset = offsetof(struct file, names), .sh_size = sizeof(file.names)},
             [2] = {.sh_offset = offsetof(struct file, symbol), .sh_size = sizeof(file.symbol), .sh_link = 1},
             [3] = {.sh_name = 1, .sh_offset = offsetof(struct file, info), .sh_size = sizeof(info), .sh_link = 2}},
        .symbol = {[1] = {.st_name = 10}},
        .names = "\0.nv.info\0k",
    };
    memcpy(file.header.e_ident, ELFMAG, SELFMAG);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    memcpy(file.info, info, sizeof(info));
    return file;
}

static void add(void *user, const char *kernel, uint32_t registers) {
    uint32_t *sum = user;
    *sum += strcmp(kernel, "k") == 0 ? registers : 1000;
}

static uint32_t registers_in(const void *bytes, size_t length) {
    uint32_t sum = 0;
    cuda_cubin_registers(bytes, length, add, &sum);
    return sum;
}

static void a_cubin_names_the_registers_of_its_kernels(void **state) {
    (void)state;
    struct file file = make();
    assert_int_equal(registers_in(&file, sizeof(file)), 30);
    assert_int_equal(registers_in("no cubin", 8), 0);
}

/* Every byte in turn has another value, and the file ends at every place. Sanitizers see a read outside. */
static void a_damaged_cubin_is_read_within_its_bounds(void **state) {
    (void)state;
    struct file file = make();
    for (size_t length = 0; length < sizeof(file); length++) {
        unsigned char *exact = malloc(length + 1);
        memcpy(exact, &file, length);
        assert_true(registers_in(exact, length) <= 30);
        free(exact);
    }
    for (size_t i = 0; i < sizeof(file); i++) {
        struct file damaged = file;
        ((unsigned char *)&damaged)[i] ^= 0xff;
        registers_in(&damaged, sizeof(damaged));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubin_names_the_registers_of_its_kernels),
        cmocka_unit_test(a_damaged_cubin_is_read_within_its_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
