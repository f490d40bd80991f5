/* Demangled names, on hosts that have a C++ library. */
#include "base/demangle.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static void check(const char *mangled, const char *expected) {
    struct base_arena arena = {0};
    assert_string_equal(base_demangle(mangled, &arena), expected);
    base_arena_free(&arena);
}

static void names_lose_their_parameters_and_result(void **state) {
    (void)state;
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY);
    if (!library)
        skip();
    dlclose(library);
    check("_Z4axpyfPKfPfi", "axpy");
    check("_ZN3geo5scaleIfLi3EEEvPT_", "geo::scale<float, 3>");
    check("_ZN12_GLOBAL__N_14stepEv", "(anonymous namespace)::step");
    check("_Z5applyPFfPFffEE", "apply"); /* a parameter with parentheses of its own */
}

static void other_names_stay(void **state) {
    (void)state;
    check("matmul", "matmul");
    check("_Znonsense", "_Znonsense");
    check("", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lose_their_parameters_and_result),
        cmocka_unit_test(other_names_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
