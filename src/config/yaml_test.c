/* Tests of machine files as text: their contents, and the message for each mistake. */
#include "config/fixture.h"

static void nested_and_dotted_keys_are_the_same(void **state) {
    (void)state;
    struct config_machine nested = loaded("name: x\nl1:\n  size: 32K\n  ways: 8\ndram: {banks: 8}\n");
    struct config_machine dotted = loaded("dram.banks: 8\nl1.ways: 8\nl1.size: 32K\nname: \"x\"\n");
    assert_memory_equal(&nested, &dotted, sizeof nested);
    assert_int_equal(nested.l1.cache.size_bytes, 32768);
    assert_int_equal(nested.dram.banks, 8);
}

static void an_option_that_a_file_does_not_set_has_its_default(void **state) {
    (void)state;
    struct config_machine machine = loaded("sm.count: 3\n"), defaults;
    config_defaults(&defaults);
    memset(defaults.name, 0, sizeof defaults.name);
    strcpy(defaults.name, "test");
    defaults.sm.count = 3;
    assert_memory_equal(&machine, &defaults, sizeof machine);
}

static void a_machine_without_a_name_is_named_after_its_file(void **state) {
    (void)state;
    assert_string_equal(loaded("sm.count: 3\n").name, "test");
    assert_string_equal(loaded("name: other\n").name, "other");
    assert_string_equal(loaded("extends: gtx480\nl1.ways: 8\n").name, "test");
}

static void a_file_extends_a_machine(void **state) {
    (void)state;
    struct config_machine machine = loaded("extends: meng2010\nl1.latency: 5\n");
    assert_int_equal(machine.sm.count, 4);
    assert_int_equal(machine.l1.cache.latency_cycles, 5);
    assert_int_equal(machine.l2.cache.latency_cycles, 30);
    assert_string_equal(machine.description, ""); /* meng2010's would be wrong */
}

static void a_mistake_is_shown_with_its_position(void **state) {
    (void)state;
    expect_refused("name: x\nl1:\n  size: 16Q\n",
                   "test.yaml:3:9: error: l1.size is '16Q', but takes a number of bytes from 32 to 64M, such as 512 or "
                   "16K\n    size: 16Q\n          ^");
    expect_refused("l1:\n  sise: 16K\n",
                   "test.yaml:2:3: error: unknown key 'l1.sise'; did you mean 'l1.size'?\n    sise: 16K\n    ^");
    expect_refused("L9:\n  size: 16K\n",
                   "test.yaml:1:1: error: unknown key 'L9'; 'heddle list options' lists the keys\n    L9:\n    ^");
    expect_refused("l1: 16K\n", "test.yaml:1:5: error: l1 is a group of options and takes a map; or write l1.KEY: "
                                "VALUE\n    l1: 16K\n        ^");
    expect_refused("clock: {a: 1}\n", "test.yaml:1:8: error: clock is a map, but takes a number from 0.001 to 10\n    "
                                      "clock: {a: 1}\n           ^");
    expect_refused("clock: [1]\n", "test.yaml:1:8: error: clock is a list, but takes a number from 0.001 to 10\n    "
                                   "clock: [1]\n           ^");
    expect_refused("clock:\n", "test.yaml:1:7: error: clock is '', but takes a number from 0.001 to 10\n    clock:\n"
                               "          ^");
    expect_refused("clock: 1\nsm.count: 1\nclock: 2\n",
                   "test.yaml:3:1: error: clock is set twice; line 1 already sets it\n    clock: 2\n    ^");
    expect_refused("l1.size: 1K\nl1: {size: 2K}\n",
                   "test.yaml:2:6: error: l1.size is set twice; line 1 already sets it\n    l1: {size: 2K}\n"
                   "         ^");
    expect_refused("name: \"a\\0b\"\n", "test.yaml:1:7: error: name holds a zero byte\n    name: \"a\\0b\"\n"
                                        "          ^");
    expect_refused("? [a, b]\n: 1\n", "test.yaml:1:3: error: a key must be the name of an option\n    ? [a, b]\n"
                                      "      ^");
}

static void a_mechanism_is_either_off_or_has_parameters(void **state) {
    (void)state;
    assert_false(loaded("extends: h200\nhalves.present: false\n").halves.is_present);
    assert_true(loaded("halves: {present: true, read_cycles: 5}\n").halves.is_present);
    assert_int_equal(loaded("extends: a100\nhalves.read_cycles: 5\n").halves.read_cycles, 5);
    expect_refused("halves:\n  present: false\n  read_cycles: 5\n",
                   "test.yaml:3:16: error: halves.read_cycles is set, but line 2 sets halves.present to false\n"
                   "    read_cycles: 5\n                 ^");
    expect_refused("halves:\n  read_cycles: 5\n  present: false\n",
                   "test.yaml:3:12: error: halves.present is false, but line 2 sets a parameter of it\n"
                   "    present: false\n             ^");
    expect_refused("sm:\n  isa: sm_90\n",
                   "test.yaml:2:3: error: 'sm.isa' is now 'lowering.target'\n    isa: sm_90\n    ^");
}

static void columns_count_bytes_after_non_ascii_letters(void **state) {
    (void)state;
    expect_refused("# \xC3\xA4\xC3\xB6\nclock: x\n",
                   "test.yaml:2:8: error: clock is 'x', but takes a number from 0.001 to 10\n    clock: x\n"
                   "           ^");
    expect_refused("\xEF\xBB\xBF# \xE2\x82\xAC\nclock: x\n",
                   "test.yaml:2:8: error: clock is 'x', but takes a number from 0.001 to 10\n    clock: x\n"
                   "           ^");
}

static void text_that_is_not_yaml_is_refused(void **state) {
    (void)state;
    expect_refused("l1: {size: 1K\n", "test.yaml:2:1: error: not YAML: did not find expected ',' or '}'\n    \n    ^");
    expect_refused("l1:\n\tsize: 1K\n",
                   "test.yaml:2:1: error: not YAML: found character that cannot start any token\n     size: 1K\n    ^");
    expect_refused("clock: \xFF\n", "test.yaml:1:8: error: not YAML: invalid leading UTF-8 octet\n    clock: ?\n"
                                    "           ^");
}

static void only_one_map_is_a_machine(void **state) {
    (void)state;
    expect_refused("", "test.yaml:1:1: error: a machine file is a map, such as l1.size: 16K\n    \n    ^");
    expect_refused("- a\n", "test.yaml:1:1: error: a machine file is a map, such as l1.size: 16K\n    - a\n    ^");
    expect_refused("clock: 1\n---\nclock: 2\n",
                   "test.yaml:2:1: error: a machine file holds one document\n    ---\n    ^");
    expect_refused("clock: *a\n", "test.yaml:1:8: error: clock is an alias, but takes a number from 0.001 to 10\n    "
                                  "clock: *a\n           ^");
}

static void a_wrong_extends_is_refused(void **state) {
    (void)state;
    expect_refused("extends: gtx48\n",
                   "test.yaml:1:10: error: no machine 'gtx48'; did you mean 'gtx480'?\n    extends: gtx48\n"
                   "             ^");
    expect_refused("extends: ./no.yaml\n",
                   "test.yaml:1:10: error: cannot read './no.yaml'\n    extends: ./no.yaml\n             ^");
    expect_refused("clock: 1\nextends: gtx480\n",
                   "test.yaml:2:1: error: extends must be the first key: what follows changes the machine that it "
                   "names\n    extends: gtx480\n    ^");
    expect_refused("extends: gtx480\nextends: gtx480\n",
                   "test.yaml:2:1: error: extends must be the first key: what follows changes the machine that it "
                   "names\n    extends: gtx480\n    ^");
    expect_refused("extends: [a]\n",
                   "test.yaml:1:10: error: extends takes the name of a machine or a .yaml file\n    extends: [a]\n"
                   "             ^");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_and_dotted_keys_are_the_same),
        cmocka_unit_test(an_option_that_a_file_does_not_set_has_its_default),
        cmocka_unit_test(a_machine_without_a_name_is_named_after_its_file),
        cmocka_unit_test(a_file_extends_a_machine),
        cmocka_unit_test(a_mistake_is_shown_with_its_position),
        cmocka_unit_test(a_mechanism_is_either_off_or_has_parameters),
        cmocka_unit_test(columns_count_bytes_after_non_ascii_letters),
        cmocka_unit_test(text_that_is_not_yaml_is_refused),
        cmocka_unit_test(only_one_map_is_a_machine),
        cmocka_unit_test(a_wrong_extends_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
