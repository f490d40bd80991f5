/* The conformance suite: every instruction form on edge-case and random operands, compared with the answers of a GPU.
 *
 *     conformance --record FILE          runs every form on the GPU and writes its answers
 *     conformance --check FILE           runs every form and compares with the answers in FILE
 *     conformance --table FILE           the same, printed as the table of docs/ptx.md
 *     conformance --errors FILE          the same, printed as the tables of docs/validation.md
 *     conformance --list                 names the forms
 *     conformance --form NAME [FILE]     one form, case by case: inputs, recorded, computed
 *     conformance --ptx NAME             the module that runs the forms whose text begins with NAME
 *     options: --jobs N (processes at a time), --level base|v3|v4
 *
 * This is an ordinary program over the CUDA driver API. The build links it with Heddle's libcuda; record.sh builds it
 * for a real GPU. FILE may be compressed with zstd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "device.h"
#include "kernel.h"
#include "level.h"

enum mode { MODE_NONE, MODE_RECORD, MODE_CHECK, MODE_TABLE, MODE_ERRORS, MODE_LIST, MODE_FORM, MODE_PTX };
enum { EXIT_SKIPPED = 77 };

struct options {
    enum mode mode;
    const char *file, *form;
    unsigned n_jobs;
};

static int usage(void) {
    fprintf(stderr, "usage: conformance [--jobs N] [--level base|v3|v4] --record FILE | --check FILE | --table FILE |\n"
                    "                   --errors FILE | --list | --form NAME [FILE] | --ptx NAME\n");
    return 2;
}

static bool read_options(int argc, char **argv, struct options *options) {
    static const struct {
        const char *word;
        enum mode mode;
    } modes[] = {{"--record", MODE_RECORD}, {"--check", MODE_CHECK}, {"--table", MODE_TABLE}, {"--errors", MODE_ERRORS},
                 {"--list", MODE_LIST},     {"--form", MODE_FORM},   {"--ptx", MODE_PTX}};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct options){.n_jobs = cores > 0 ? (unsigned)cores : 1};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        for (unsigned k = 0; k < sizeof modes / sizeof modes[0]; k++)
            if (strcmp(argv[i], modes[k].word) == 0)
                options->mode = modes[k].mode;
        if (strcmp(argv[i], "--jobs") == 0 && has_value)
            options->n_jobs = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--level") == 0 && has_value && level_is_known(argv[i + 1]))
            setenv("HEDDLE_HOST_LEVEL", argv[++i], 1);
        else if ((strcmp(argv[i], "--form") == 0 || strcmp(argv[i], "--ptx") == 0) && has_value)
            options->form = argv[++i];
        else if (argv[i][0] != '-' && !options->file)
            options->file = argv[i];
        else if (options->mode == MODE_NONE || strncmp(argv[i], "--", 2) != 0)
            return false;
    }
    bool needs_form = options->mode == MODE_FORM || options->mode == MODE_PTX;
    bool needs_file = !needs_form && options->mode != MODE_LIST;
    return options->mode != MODE_NONE && (options->form || !needs_form) && options->n_jobs > 0 &&
           (options->file || !needs_file);
}

static int no_gpu(void) {
    fprintf(stderr, "conformance: the CUDA driver offers no GPU\n");
    return 1;
}

static int record(const struct options *options, const struct form_list *list) {
    struct answers got;
    unsigned count[4] = {0};
    if (!device_run(&got, list, 0, list->n, options->n_jobs, false))
        return no_gpu();
    for (size_t i = 0; i < list->n; i++) {
        count[got.answer[i].status]++;
        if (got.answer[i].status == ANSWER_CRASHED)
            printf("crashed: %s\n", list->form[i].text);
    }
    printf("%s, %s: %u forms answered, %u refused, %u ended the driver's process\n", got.gpu, got.driver,
           count[ANSWER_GIVEN], count[ANSWER_REFUSED], count[ANSWER_CRASHED]);
    bool is_good = answers_write(&got, list, options->file);
    answers_free(&got, list);
    return !is_good;
}

static int check(const struct options *options, const struct form_list *list) {
    struct answers recorded, got;
    bool is_good = true;
    if (!answers_read(&recorded, list, options->file))
        return 1;
    if (!device_run(&got, list, 0, list->n, options->n_jobs, false))
        return no_gpu();
    if (options->mode == MODE_TABLE)
        check_print_table(list, &recorded, &got);
    else if (options->mode == MODE_ERRORS)
        check_print_errors(list, &recorded, &got);
    else
        is_good = check_answers(list, &recorded, &got);
    answers_free(&recorded, list);
    answers_free(&got, list);
    return !is_good;
}

static int show_form(const struct options *options, const struct form_list *list) {
    struct answers recorded = {0}, got;
    size_t i = 0, length = strlen(options->form);
    while (i < list->n && (strncmp(list->form[i].text, options->form, length) != 0 ||
                           (list->form[i].text[length] && list->form[i].text[length] != ' ')))
        i++;
    if (i == list->n) {
        fprintf(stderr, "conformance: no form '%s'; --list names them\n", options->form);
        return 1;
    }
    if (options->file && !answers_read(&recorded, list, options->file))
        return 1;
    if (!device_run(&got, list, i, 1, 1, true))
        return no_gpu();
    check_print_cases(&list->form[i], recorded.answer ? &recorded.answer[i] : NULL, &got.answer[i]);
    answers_free(&recorded, list);
    answers_free(&got, list);
    return 0;
}

static void print_ptx(const char *start, const struct form_list *list) {
    struct text text = {0};
    unsigned n = 0;
    kernel_add_header(&text);
    for (size_t i = 0; i < list->n; i++)
        if (strncmp(list->form[i].text, start, strlen(start)) == 0)
            kernel_add(&text, &list->form[i], n++);
    fputs(text.data, stdout);
    text_free(&text);
}

int main(int argc, char **argv) {
    struct options options;
    if (!read_options(argc, argv, &options))
        return usage();
    const char *level = getenv("HEDDLE_HOST_LEVEL");
    if (level && level_is_known(level) && !level_is_available(level)) {
        printf("skipped: this host has no x86-64-%s\n", level);
        return EXIT_SKIPPED;
    }
    struct form_list list = form_list_all();
    int status = 0;
    switch (options.mode) {
    case MODE_RECORD:
        status = record(&options, &list);
        break;
    case MODE_LIST:
        for (size_t i = 0; i < list.n; i++)
            printf("%s\n", list.form[i].text);
        break;
    case MODE_FORM:
        status = show_form(&options, &list);
        break;
    case MODE_PTX:
        print_ptx(options.form, &list);
        break;
    default:
        status = check(&options, &list);
        break;
    }
    form_list_free(&list);
    return status;
}
