/* Runs kernel tests (kernel_test.h) through the CUDA driver API.
 *
 *     kernel_runner [--level base|v3|v4] [--divergence MODEL [--threads N]] [--real-gpu] [--check] FILE.ptx...
 *
 * Every test runs in a separate process, so that a kernel that faults, prints or hangs does not affect other tests; its
 * standard output and error are collected and compared with the test's expectations. --level sets HEDDLE_HOST_LEVEL and
 * ends with status 77 when the host lacks that instruction set; --divergence times the tests on the default machine,
 * which gets a matrix unit and clusters, with that model, except those that a rule of the model refuses, on N host
 * threads;
 * --real-gpu skips the tests that do not apply to hardware, and the texts of errors; --check only reads the files.
 *
 * With a GPU and its driver:
 *
 *     cd tests/runner
 *     gcc -I/usr/local/cuda/include kernel*.c value_list.c values.c text.c driver.c level.c -lcuda -lm -o kernel_runner
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "kernel_memory.h"
#include "kernel_test.h"
#include "level.h"
#include "text.h"

/* The options of a run. */
struct mode {
    bool only_checks, is_real, may_refuse;
};

enum { MAX_REPORTS = 20, TIME_LIMIT_SECONDS = 200, EXIT_SKIPPED = 77, MAX_CAPTURE = 1 << 20 };

/* The child's findings; report goes to the parent. */
struct run {
    const struct kernel_file *file;
    const struct kernel_test *test;
    struct kernel_memory memory[KERNEL_MAX_ARGUMENTS];
    FILE *report;
    unsigned n_failures;
};

/* Returns the first place of `what` in [text, end), or end. */
static const char *find(const char *text, const char *end, const char *what) {
    size_t length = strlen(what);
    while (text < end && ((size_t)(end - text) < length || memcmp(text, what, length) != 0))
        text++;
    return text;
}

/* Finds the word after the only .entry of the PTX; returns false when there is none or more than one. */
static bool find_entry(const char *ptx, char *name) {
    const char *line, *word;
    size_t length, word_length;
    unsigned n = 0;
    while (text_next_line(&ptx, &line, &length)) {
        const char *end = find(line, line + length, "//"), *entry = find(line, end, ".entry");
        if (entry == end || (entry += 6, !text_next_word(&entry, end, &word, &word_length)))
            continue;
        snprintf(name, KERNEL_NAME, "%.*s", (int)(find(word, word + word_length, "(") - word), word);
        n++;
    }
    return n == 1;
}

static void report_values(struct run *run, const struct kernel_expectation *expectation) {
    static const struct tolerance exact = {.kind = TOLERANCE_NONE};
    const struct kernel_argument *argument = &run->test->argument[expectation->argument];
    struct kernel_memory *memory = &run->memory[expectation->argument];
    char got[VALUE_TEXT], wanted[VALUE_TEXT];
    kernel_memory_read(memory, argument);
    for (size_t i = 0; i < expectation->values.length; i++) {
        const struct value *value = &expectation->values.value[i];
        uint64_t bits = kernel_memory_value(memory, argument, expectation->first + i);
        if (value_matches(argument->type, bits, value, &exact) || ++run->n_failures > MAX_REPORTS)
            continue;
        fprintf(run->report, "%s:%u: %s[%zu] is %s, expected %s\n", run->file->path, expectation->line, argument->name,
                expectation->first + i, value_text(argument->type, bits, got),
                value->is_any_nan ? "any NaN" : value_text(argument->type, value->bits, wanted));
    }
}

static CUresult load_and_launch(struct run *run, const char **step) {
    static char log[DRIVER_LOG];
    const struct kernel_test *test = run->test;
    char name[KERNEL_NAME];
    void *parameter[KERNEL_MAX_ARGUMENTS];
    CUmodule module;
    CUfunction function;
    *step = "loading";
    CUresult result = driver_load(run->file->ptx, &module, log);
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s\n", log);
        return result;
    }
    *step = "finding the kernel";
    memcpy(name, test->kernel, sizeof name);
    if (!name[0] && !find_entry(run->file->ptx, name)) {
        fprintf(stderr, "the file has no or several .entry: a `kernel:` line must name one\n");
        return CUDA_ERROR_NOT_FOUND;
    }
    result = cuModuleGetFunction(&function, module, name);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; i < test->n_arguments; i++) {
        kernel_memory_make(&run->memory[i], &test->argument[i]);
        parameter[i] = kernel_memory_parameter(&run->memory[i], &test->argument[i]);
    }
    *step = "launching";
    const unsigned *grid = test->grid, *block = test->block;
    result = cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], test->shared_bytes, NULL,
                            parameter, NULL);
    if (result != CUDA_SUCCESS)
        return result;
    *step = "running";
    return cuCtxSynchronize();
}

static void check_result(struct run *run, CUresult result, const char *step) {
    const char *wanted = run->test->error[0] ? run->test->error : "CUDA_SUCCESS";
    if (strcmp(driver_error_name(result), wanted) == 0)
        return;
    run->n_failures++;
    fprintf(run->report, "%s:%u: %s gave %s, expected %s\n", run->file->path, run->test->line, step,
            driver_error_name(result), wanted);
}

/* Runs the test in the child and ends it. */
static void run_child(struct run *run) {
    const char *step;
    alarm(TIME_LIMIT_SECONDS);
    if (run->test->config)
        setenv("HEDDLE_CONFIG", run->test->config, 1);
    driver_start();
    CUresult result = load_and_launch(run, &step);
    check_result(run, result, step);
    for (unsigned i = 0; result == CUDA_SUCCESS && i < run->test->n_expectations; i++)
        if (run->test->expectation[i].kind == EXPECT_VALUES)
            report_values(run, &run->test->expectation[i]);
    if (run->n_failures > MAX_REPORTS)
        fprintf(run->report, "%s: and %u more\n", run->file->path, run->n_failures - MAX_REPORTS);
    for (unsigned i = 0; i < run->test->n_arguments; i++)
        free(run->memory[i].bytes);
}

/* Returns the contents of a temporary file, malloc'ed. */
static char *contents(FILE *file) {
    char *text = text_resize(NULL, MAX_CAPTURE);
    rewind(file);
    text[fread(text, 1, MAX_CAPTURE - 1, file)] = 0;
    fclose(file);
    return text;
}

static unsigned check_texts(const struct kernel_file *file, const struct kernel_test *test, const char *output,
                            const char *errors, bool is_real) {
    unsigned n_failures = 0;
    for (unsigned i = 0; i < test->n_expectations; i++) {
        const struct kernel_expectation *expectation = &test->expectation[i];
        bool is_message = expectation->kind == EXPECT_MESSAGE;
        if (expectation->kind == EXPECT_VALUES || (is_message && is_real) ||
            strstr(is_message ? errors : output, expectation->text))
            continue;
        printf("%s:%u: '%s' does not stand in the %s\n", file->path, expectation->line, expectation->text,
               is_message ? "error output" : "output");
        if (!is_message)
            printf("    output: %s\n", output);
        n_failures++;
    }
    return n_failures;
}

/* Returns false when the test failed. *is_refused: a rule of the model forbids it, which is not a failure. */
static bool run_test(const struct kernel_file *file, const struct kernel_test *test, const struct mode *mode,
                     bool *is_refused) {
    FILE *output = tmpfile(), *errors = tmpfile(), *report = tmpfile();
    if (!output || !errors || !report) {
        fprintf(stderr, "no temporary file: %s\n", strerror(errno));
        exit(1);
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        static struct run run;
        run = (struct run){.file = file, .test = test, .report = report};
        dup2(fileno(output), STDOUT_FILENO);
        dup2(fileno(errors), STDERR_FILENO);
        run_child(&run);
        exit(run.n_failures > 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        fprintf(stderr, "no process: %s\n", strerror(errno));
        exit(1);
    }
    char *text = contents(report), *printed = contents(output), *told = contents(errors);
    *is_refused = mode->may_refuse && strstr(told, "another model");
    unsigned n_failures = status != 0 && !*is_refused;
    if (!*is_refused)
        fputs(text, stdout);
    if (WIFSIGNALED(status))
        printf("%s:%u: ended by signal %d%s\n", file->path, test->line, WTERMSIG(status),
               WTERMSIG(status) == SIGALRM ? ": out of time" : "");
    if (!*is_refused)
        n_failures += check_texts(file, test, printed, told, mode->is_real);
    if (n_failures > 0 && *told)
        printf("    error output: %s", told);
    free(text), free(printed), free(told);
    return n_failures == 0;
}

static bool run_file(const char *path, const struct mode *mode) {
    struct kernel_file file;
    bool is_good = kernel_file_read(&file, path), is_refused;
    unsigned n_run = 0, n_failed = 0, n_refused = 0;
    for (unsigned i = 0; is_good && !mode->only_checks && i < file.n_tests; i++) {
        if (mode->is_real && file.test[i].is_simulated_only)
            continue;
        n_run++;
        n_failed += !run_test(&file, &file.test[i], mode, &is_refused);
        n_refused += is_refused;
    }
    printf("%s: %u tests, %u run: %u failed", path, file.n_tests, n_run, n_failed);
    if (n_refused)
        printf(", %u refused by a rule", n_refused);
    printf(file.n_errors ? ", %u errors in its comments\n" : "\n", file.n_errors);
    kernel_file_free(&file);
    return is_good && n_failed == 0;
}

static int usage(void) {
    fprintf(stderr,
            "usage: kernel_runner [--level base|v3|v4] [--divergence MODEL [--threads N]] [--real-gpu] [--check] "
            "FILE.ptx...\n");
    return 2;
}

static void time_on_default_machine(const char *model, const char *n_threads) {
    char config[256];
    snprintf(
        config, sizeof config,
        "{\"machine\": \"divergence: %s\\nmatrix:\\n  rate: 256\\ncluster:\\n  present: true\\n\", \"threads\": %s}",
        model, n_threads);
    setenv("HEDDLE_CONFIG", config, 1);
}

int main(int argc, char **argv) {
    struct mode mode = {.may_refuse = false};
    const char *model = NULL, *n_threads = NULL;
    int i = 1, n_bad = 0;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            mode.only_checks = true;
        } else if (strcmp(argv[i], "--real-gpu") == 0) {
            mode.is_real = true;
        } else if (strcmp(argv[i], "--divergence") == 0 && i + 1 < argc) {
            model = argv[++i];
            mode.may_refuse = true;
        } else if (strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
            n_threads = argv[++i];
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
    if (i == argc || (n_threads && !model))
        return usage();
    if (model)
        time_on_default_machine(model, n_threads ? n_threads : "1");
    for (; i < argc; i++)
        n_bad += !run_file(argv[i], &mode);
    return n_bad > 0;
}
