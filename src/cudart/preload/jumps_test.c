/* Jumps over functions of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "cudart/preload/preload.h"

/* The targets of the jumps. The compiler must not know what they return. */
static int seven(void) { return 7; }
static int eight(void) { return 8; }

/* A function that returns 1, of n bytes, with or without endbr64 before it. */
static unsigned char *write_function(unsigned char *at, bool has_endbr) {
    static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, body[] = {0xb8, 1, 0, 0, 0, 0xc3};
    if (has_endbr)
        memcpy(at, endbr, sizeof endbr);
    memcpy(at + (has_endbr ? sizeof endbr : 0), body, sizeof body);
    return at;
}

enum { CODE_BYTES = 4096 };

static unsigned char *new_code(void) {
    unsigned char *code =
        mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(code != MAP_FAILED);
    return code;
}

static int call(const unsigned char *code) {
    int (*function)(void);
    memcpy(&function, &code, sizeof function);
    return function();
}

static const void *address_of(int (*function)(void)) {
    const void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static void a_call_arrives_at_the_target(void **state) {
    (void)state;
    unsigned char *code = new_code(), *first = write_function(code, false), *second = write_function(code + 64, true);
    struct jump_table table;
    assert_int_equal(call(first) + call(second), 2);
    assert_true(jump_table_make(&table, (uintptr_t)code, (uintptr_t)code + CODE_BYTES, 2));
    assert_true(jump_write(&table, (uintptr_t)first, 6, address_of(seven)));
    assert_true(jump_write(&table, (uintptr_t)second, 10, address_of(eight)));
    assert_true(jump_table_close(&table));
    assert_int_equal(call(first), 7);
    assert_int_equal(call(second), 8);
    assert_int_equal(second[0], 0xf3); /* the instruction that indirect calls may require is still there */
    munmap(table.memory, table.size);
    munmap(code, CODE_BYTES);
}

static void a_function_that_is_too_short_stays(void **state) {
    (void)state;
    unsigned char *code = new_code(), *first = write_function(code, false), *second = write_function(code + 64, true);
    struct jump_table table;
    assert_true(jump_table_make(&table, (uintptr_t)code, (uintptr_t)code + CODE_BYTES, 2));
    assert_false(jump_write(&table, (uintptr_t)first, 4, address_of(seven)));
    assert_false(jump_write(&table, (uintptr_t)second, 4 + 4, address_of(seven))); /* five bytes after endbr64 */
    assert_int_equal(call(first) + call(second), 2);
    munmap(table.memory, table.size);
    munmap(code, CODE_BYTES);
}

static void a_table_takes_as_many_as_it_was_made_for(void **state) {
    (void)state;
    unsigned char *code = new_code(), *function = write_function(code, false);
    struct jump_table table;
    assert_true(jump_table_make(&table, (uintptr_t)code, (uintptr_t)code + CODE_BYTES, 1));
    unsigned n = 0;
    while (jump_write(&table, (uintptr_t)function, 6, address_of(seven)))
        assert_in_range(++n, 1, table.size); /* a page of them */
    assert_int_equal(n, table.size / 16);
    munmap(table.memory, table.size);
    munmap(code, CODE_BYTES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_arrives_at_the_target),
        cmocka_unit_test(a_function_that_is_too_short_stays),
        cmocka_unit_test(a_table_takes_as_many_as_it_was_made_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
