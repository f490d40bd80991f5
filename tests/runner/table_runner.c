/* Runs value tables of instructions (table.h) through the CUDA driver API.
 *
 *     table_runner [--level base|v3|v4] [--all] [--dump DIR] [--check] TABLE...
 *
 * Every op runs in the variants of table_module.h: all lanes active, with a guard, with the destination in a source
 * register, with immediates. All cases of an op are the threads of one launch; cases repeat to fill whole warps. Prints
 * twenty failures of a table, with --all all of them. --level sets HEDDLE_HOST_LEVEL and ends with status 77 when the
 * host lacks that instruction set; --dump writes the PTX of each table into a folder; --check only reads the tables.
 *
 * With a GPU and its driver, the same tables check the same expectations on hardware. (With driver 580, guarded set,
 * testp and vadd4.add write inactive lanes, which no PTX instruction may; and it computes some values differently, in
 * the tables whose heads say so.)
 *
 *     cd tests/runner
 *     gcc -I/usr/local/cuda/include table*.c values.c text.c driver.c level.c -lcuda -lm -o table_runner
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "level.h"
#include "table.h"
#include "table_module.h"
#include "text.h"

enum { MAX_REPORTS = 20, WARP = 32, EXIT_SKIPPED = 77 };

struct run {
    const struct table *table;
    unsigned n_failures, n_reported_most;
    unsigned n_launches;
};

static bool may_report(struct run *run) { return ++run->n_failures <= run->n_reported_most; }

/* Prints path:line: and the op as in the table. */
static void print_place(const struct run *run, unsigned line, const struct table_op *op) {
    printf("%s:%u: %s", run->table->path, line, op->text);
}

static void report_value(struct run *run, const struct table_op *op, const struct table_case *c, enum variant variant,
                         unsigned lane, unsigned reg, uint64_t got, uint64_t expected) {
    char text[VALUE_TEXT];
    if (!may_report(run))
        return;
    print_place(run, c->line, op);
    printf("\n    %s, lane %u:", table_variant_name(variant), lane);
    for (unsigned i = 0; i < op->n_registers; i++)
        if (op->reg[i].is_input)
            printf(" %s = %s,", op->reg[i].name, value_text(op->reg[i].type, c->input[i].bits, text));
    const struct table_register *output = &op->reg[reg];
    printf(" got %s = %s,", output->name, value_text(output->type, got, text));
    if (c->output[reg].is_any_nan && expected == c->output[reg].bits)
        printf(" expected any NaN\n");
    else
        printf(" expected %s\n", value_text(output->type, expected, text));
}

static void report_call(struct run *run, const struct table_op *op, enum variant variant, CUresult result,
                        const char *more) {
    if (!may_report(run))
        return;
    print_place(run, op->line, op);
    printf("\n    %s: %s%s%s\n", table_variant_name(variant), driver_error_name(result), *more ? "\n" : "", more);
}

static unsigned lanes_of(const struct table_op *op) { return (op->n_cases + WARP - 1) / WARP * WARP; }

/* Returns whether the lane's register has the right value after the launch; the tolerance is for computed values only.
 */
static bool is_right(const struct table_op *op, enum variant variant, unsigned lane, unsigned reg, uint64_t got,
                     uint64_t *expected) {
    const struct table_case *c = &op->cases[variant == VARIANT_IMMEDIATES ? 0 : lane % op->n_cases];
    if (variant == VARIANT_GUARDED && lane % 2 == 1) {
        *expected = op->reg[reg].is_input ? c->input[reg].bits : table_preset(&op->reg[reg], lane);
        return value_cut(op->reg[reg].type, got) == *expected;
    }
    *expected = c->output[reg].bits;
    return value_matches(op->reg[reg].type, got, &c->output[reg], &op->tolerance);
}

static void check_outputs(struct run *run, const struct table_op *op, enum variant variant, const uint64_t *slot) {
    unsigned n_lanes = lanes_of(op);
    bool *has_failed = calloc(op->n_cases, sizeof *has_failed);
    for (unsigned lane = 0; has_failed && lane < n_lanes; lane++)
        for (unsigned reg = 0; reg < op->n_registers; reg++) {
            uint64_t expected, got;
            unsigned number = variant == VARIANT_IMMEDIATES ? 0 : lane % op->n_cases;
            if (!op->reg[reg].is_output)
                continue;
            got = *slot++;
            if (is_right(op, variant, lane, reg, got, &expected) || has_failed[number])
                continue;
            has_failed[number] = true;
            report_value(run, op, &op->cases[number], variant, lane, reg, got, expected);
        }
    free(has_failed);
}

/* Returns the input slots of every lane; cases repeat from the first. */
static uint64_t *input_slots(const struct table_op *op) {
    unsigned n_lanes = lanes_of(op);
    uint64_t *slots = text_resize(NULL, n_lanes * op->n_inputs * sizeof *slots), *slot = slots;
    for (unsigned lane = 0; lane < n_lanes; lane++)
        for (unsigned reg = 0; reg < op->n_registers; reg++)
            if (op->reg[reg].is_input)
                *slot++ = op->cases[lane % op->n_cases].input[reg].bits;
    return slots;
}

static CUresult launch(CUfunction function, const struct table_op *op, CUdeviceptr in, CUdeviceptr out) {
    void *arguments[] = {&in, &out};
    CUresult result = cuLaunchKernel(function, lanes_of(op) / WARP, 1, 1, WARP, 1, 1, 0, NULL, arguments, NULL);
    return result == CUDA_SUCCESS ? cuCtxSynchronize() : result;
}

/* A failed launch ends the run: its context no longer works. */
static bool run_variant(struct run *run, CUmodule module, const struct table_op *op, unsigned number,
                        enum variant variant, CUdeviceptr in, CUdeviceptr out) {
    char name[64];
    CUfunction function;
    size_t bytes = (size_t)lanes_of(op) * op->n_outputs * 8;
    snprintf(name, sizeof name, "op%u_%s", number, table_variant_name(variant));
    CUresult result = cuModuleGetFunction(&function, module, name);
    if (result != CUDA_SUCCESS) {
        report_call(run, op, variant, result, "");
        return true;
    }
    DRIVER_REQUIRE(cuMemsetD8(out, 0xee, bytes));
    result = launch(function, op, in, out);
    run->n_launches++;
    if (result != CUDA_SUCCESS) {
        report_call(run, op, variant, result, "the launch failed; the rest was not run");
        return false;
    }
    uint64_t *slots = text_resize(NULL, bytes);
    DRIVER_REQUIRE(cuMemcpyDtoH(slots, out, bytes));
    check_outputs(run, op, variant, slots);
    free(slots);
    return true;
}

static bool run_op(struct run *run, CUmodule module, const struct table_op *op, unsigned number) {
    size_t in_bytes = (size_t)lanes_of(op) * op->n_inputs * 8, out_bytes = (size_t)lanes_of(op) * op->n_outputs * 8;
    CUdeviceptr in, out;
    bool is_alive = true;
    DRIVER_REQUIRE(cuMemAlloc(&in, in_bytes + 8));
    DRIVER_REQUIRE(cuMemAlloc(&out, out_bytes));
    if (in_bytes > 0) {
        uint64_t *slots = input_slots(op);
        DRIVER_REQUIRE(cuMemcpyHtoD(in, slots, in_bytes));
        free(slots);
    }
    for (enum variant variant = 0; variant < N_VARIANTS && is_alive; variant++)
        if (table_has_variant(op, variant))
            is_alive = run_variant(run, module, op, number, variant, in, out);
    if (is_alive) {
        DRIVER_REQUIRE(cuMemFree(in));
        DRIVER_REQUIRE(cuMemFree(out));
    }
    return is_alive;
}

static void add_op(struct text *text, const struct table_op *op, unsigned number) {
    for (enum variant variant = 0; variant < N_VARIANTS; variant++)
        if (table_has_variant(op, variant))
            table_add_kernel(text, op, number, variant);
}

static bool dump(const char *folder, const char *path, const char *ptx) {
    char stem[128], name[512];
    text_stem(path, stem, sizeof stem);
    snprintf(name, sizeof name, "%s/%s.ptx", folder, stem);
    FILE *file = fopen(name, "w");
    if (!file || fputs(ptx, file) < 0 || fclose(file) != 0) {
        fprintf(stderr, "%s: %s\n", name, strerror(errno));
        return false;
    }
    return true;
}

/* Runs one op in its own module: finds those that do not load when the whole table does not. */
static bool run_alone(struct run *run, const struct table_op *op, unsigned number) {
    static char log[DRIVER_LOG];
    struct text text = {0};
    CUmodule module;
    bool is_alive = true;
    table_add_header(&text);
    add_op(&text, op, number);
    CUresult result = driver_load(text.data, &module, log);
    if (result != CUDA_SUCCESS) {
        report_call(run, op, VARIANT_PLAIN, result, log);
    } else {
        is_alive = run_op(run, module, op, number);
        if (is_alive)
            DRIVER_REQUIRE(cuModuleUnload(module));
    }
    text_free(&text);
    return is_alive;
}

static void run_module(struct run *run, const char *ptx) {
    static char log[DRIVER_LOG];
    const struct table *table = run->table;
    CUmodule module;
    bool is_alive = true, is_whole = driver_load(ptx, &module, log) == CUDA_SUCCESS;
    for (unsigned i = 0; i < table->n_ops && is_alive; i++)
        is_alive = is_whole ? run_op(run, module, &table->op[i], i) : run_alone(run, &table->op[i], i);
    if (is_whole && is_alive)
        DRIVER_REQUIRE(cuModuleUnload(module));
}

enum mode { MODE_RUN, MODE_CHECK, MODE_DUMP };

static bool run_table(const char *path, enum mode mode, const char *folder, unsigned n_reported_most) {
    struct table table;
    struct run run = {.table = &table, .n_reported_most = n_reported_most};
    bool is_good = table_read(&table, path);
    if (is_good && mode != MODE_CHECK) {
        struct text ptx = {0};
        table_add_header(&ptx);
        for (unsigned i = 0; i < table.n_ops; i++)
            add_op(&ptx, &table.op[i], i);
        if (mode == MODE_DUMP)
            is_good = dump(folder, path, ptx.data);
        else
            run_module(&run, ptx.data);
        text_free(&ptx);
    }
    if (run.n_failures > n_reported_most)
        printf("%s: and %u more\n", path, run.n_failures - n_reported_most);
    printf("%s: %u ops, %u cases, %u launches: %u failures", path, table.n_ops, table.n_cases, run.n_launches,
           run.n_failures);
    printf(table.n_errors ? ", %u errors in the table\n" : "\n", table.n_errors);
    table_free(&table);
    return is_good && run.n_failures == 0;
}

static int usage(void) {
    fprintf(stderr, "usage: table_runner [--level base|v3|v4] [--all] [--dump DIR] [--check] TABLE...\n");
    return 2;
}

int main(int argc, char **argv) {
    enum mode mode = MODE_RUN;
    const char *folder = NULL;
    unsigned n_reported_most = MAX_REPORTS;
    int i = 1, n_bad = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            mode = MODE_CHECK;
        } else if (strcmp(argv[i], "--all") == 0) {
            n_reported_most = UINT_MAX;
        } else if (strcmp(argv[i], "--dump") == 0 && i + 1 < argc) {
            mode = MODE_DUMP;
            folder = argv[++i];
        } else if (strcmp(argv[i], "--level") == 0 && i + 1 < argc && level_is_known(argv[i + 1])) {
            if (!level_is_available(argv[++i])) {
                printf("skipped: this host has no x86-64-%s\n", argv[i]);
                return EXIT_SKIPPED;
            }
            setenv("HEDDLE_HOST_LEVEL", argv[i], 1);
        } else {
            return usage();
        }
    }
    if (i == argc)
        return usage();
    if (mode == MODE_RUN)
        driver_start();
    for (; i < argc; i++)
        n_bad += !run_table(argv[i], mode, folder, n_reported_most);
    return n_bad > 0;
}
