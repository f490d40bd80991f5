/* Matrix instructions on many inputs, compared with the answers of a GPU.
 *
 *     matrix --record FILE         runs every form on the GPU and writes its answers
 *     matrix --check FILE          runs every form and compares with the answers in FILE
 *     matrix --list                names the forms
 *     matrix --ptx NAME            the module that runs the forms whose text begins with NAME
 *     matrix --inputs NAME FILE    writes the inputs of a form's cases as words
 *     options: --widest N (only shapes of at most N columns), --cases N (kept whole), --chunks N (of 64 cases each, of
 * wgmma 16, of which a hash is kept), --only NAME
 *
 * This is an ordinary program over the CUDA driver API: the build links it with Heddle's libcuda, record.sh with a
 * GPU's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernel.h"
#include "runner/driver.h"

struct options {
    const char *mode, *file, *name, *only;
    unsigned n_cases, n_chunks, widest;
};

static int usage(void) {
    fprintf(stderr, "usage: matrix [--cases N] [--chunks N] [--widest N] [--only NAME] --record FILE | --check FILE | "
                    "--list | --ptx NAME |\n"
                    "              --inputs NAME FILE\n");
    return 2;
}

static bool read_options(int argc, char **argv, struct options *options) {
    *options = (struct options){.n_cases = 0, .n_chunks = 32, .widest = UINT32_MAX};
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--cases") == 0 && has_value)
            options->n_cases = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--chunks") == 0 && has_value)
            options->n_chunks = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--widest") == 0 && has_value)
            options->widest = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0 && has_value)
            options->only = argv[++i];
        else if (strcmp(argv[i], "--list") == 0)
            options->mode = "list";
        else if (strcmp(argv[i], "--record") == 0 && has_value)
            options->mode = "record", options->file = argv[++i];
        else if (strcmp(argv[i], "--check") == 0 && has_value)
            options->mode = "check", options->file = argv[++i];
        else if (strcmp(argv[i], "--ptx") == 0 && has_value)
            options->mode = "ptx", options->name = argv[++i];
        else if (strcmp(argv[i], "--inputs") == 0 && i + 2 < argc)
            options->mode = "inputs", options->name = argv[i + 1], options->file = argv[i + 2], i += 2;
        else
            return false;
    }
    return options->mode != NULL;
}

static bool is_named(const struct form *form, const char *name) {
    return !name || strncmp(form->text, name, strlen(name)) == 0;
}

static bool is_wanted(const struct options *options, const struct form *form) {
    return is_named(form, options->only) && form->n <= options->widest;
}

static uint64_t hash(uint64_t state, const uint32_t *words, size_t n) {
    for (size_t i = 0; i < n; i++) {
        state = (state ^ words[i]) * 0x9e3779b97f4a7c15u;
        state ^= state >> 29;
    }
    return state;
}

/* Runs the cases [first, first + n) and fills their output words. */
static void run_cases(CUfunction function, const struct form *form, unsigned first, unsigned n, uint32_t *outputs) {
    size_t in_bytes = (size_t)n * form->n_input_words * 4, out_bytes = (size_t)n * form->output.n_words * 4;
    uint32_t *inputs = text_resize(NULL, in_bytes);
    CUdeviceptr in, out;
    void *arguments[] = {&in, &out};
    for (unsigned i = 0; i < n; i++)
        form_fill_case(form, first + i, inputs + (size_t)i * form->n_input_words);
    DRIVER_REQUIRE(cuMemAlloc(&in, in_bytes));
    DRIVER_REQUIRE(cuMemAlloc(&out, out_bytes));
    DRIVER_REQUIRE(cuMemcpyHtoD(in, inputs, in_bytes));
    DRIVER_REQUIRE(cuMemsetD8(out, 0, out_bytes));
    DRIVER_REQUIRE(cuLaunchKernel(function, n, 1, 1, form_threads(form), 1, 1, 0, NULL, arguments, NULL));
    DRIVER_REQUIRE(cuCtxSynchronize());
    DRIVER_REQUIRE(cuMemcpyDtoH(outputs, out, out_bytes));
    DRIVER_REQUIRE(cuMemFree(in));
    DRIVER_REQUIRE(cuMemFree(out));
    free(inputs);
}

static CUresult load_form(const struct form *form, CUmodule *module, char *log) {
    struct text text = {0};
    kernel_add_header(&text, form);
    kernel_add(&text, form, 0);
    CUresult result = driver_load(text.data, module, log);
    text_free(&text);
    return result;
}

static void write_word(FILE *file, uint32_t word) { fwrite(&word, sizeof word, 1, file); }

/* A form in the file: its text and a zero, 1 if the GPU runs it, then the words of a case, the number of cases kept
 * whole and their words, the number of chunks and their hashes. */
static void record_form(const struct options *options, const struct form *form, FILE *file) {
    static char log[DRIVER_LOG];
    CUmodule module;
    CUfunction function;
    fwrite(form->text, strlen(form->text) + 1, 1, file);
    CUresult result = load_form(form, &module, log);
    fputc(result == CUDA_SUCCESS, file);
    if (result != CUDA_SUCCESS) {
        printf("refused: %s\n%s\n", form->text, log);
        return;
    }
    DRIVER_REQUIRE(cuModuleGetFunction(&function, module, "form0"));
    unsigned n_words = form->output.n_words, chunk = form_chunk_cases(form),
             n = options->n_chunks * chunk > options->n_cases ? options->n_chunks * chunk : options->n_cases;
    uint32_t *outputs = text_resize(NULL, (size_t)n * n_words * 4);
    run_cases(function, form, 0, n, outputs);
    write_word(file, n_words);
    write_word(file, options->n_cases);
    fwrite(outputs, 4, (size_t)options->n_cases * n_words, file);
    write_word(file, options->n_chunks);
    for (unsigned i = 0; i < options->n_chunks; i++) {
        uint64_t value = hash(0, outputs + (size_t)i * chunk * n_words, (size_t)chunk * n_words);
        fwrite(&value, sizeof value, 1, file);
    }
    free(outputs);
    DRIVER_REQUIRE(cuModuleUnload(module));
}

/* The first line: GPU, driver and date. */
static void write_head(FILE *file) {
    char gpu[128] = "";
    int version = 0;
    CUdevice device;
    time_t now = time(NULL);
    char date[32];
    DRIVER_REQUIRE(cuDeviceGet(&device, 0));
    DRIVER_REQUIRE(cuDeviceGetName(gpu, sizeof gpu, device));
    DRIVER_REQUIRE(cuDriverGetVersion(&version));
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    fprintf(file, "%s, CUDA %d.%d, %s\n", gpu, version / 1000, version % 1000 / 10, date);
}

static int record(const struct options *options, const struct form_list *list) {
    FILE *file = fopen(options->file, "wb");
    if (!file) {
        perror(options->file);
        return 1;
    }
    driver_start();
    write_head(file);
    for (size_t i = 0; i < list->n; i++)
        if (is_wanted(options, &list->form[i]))
            record_form(options, &list->form[i], file);
    return fclose(file) != 0;
}

/* --- comparing --- */

/* A form's answers in the file. */
struct recorded {
    const char *text;
    bool is_given;
    uint32_t n_words, n_cases, n_chunks;
    const unsigned char *words; /* may be at any address */
    const unsigned char *hash;
};

static uint32_t read_word(const unsigned char **at) {
    uint32_t word;
    memcpy(&word, *at, sizeof word);
    *at += sizeof word;
    return word;
}

static const unsigned char *read_recorded(const unsigned char *at, struct recorded *recorded) {
    *recorded = (struct recorded){.text = (const char *)at};
    at += strlen(recorded->text) + 1;
    recorded->is_given = *at++;
    if (!recorded->is_given)
        return at;
    recorded->n_words = read_word(&at);
    recorded->n_cases = read_word(&at);
    recorded->words = at;
    at += (size_t)4 * recorded->n_words * recorded->n_cases;
    recorded->n_chunks = read_word(&at);
    recorded->hash = at;
    return at + (size_t)8 * recorded->n_chunks;
}

/* Returns the number of cases, or chunks of cases, that differ. */
static unsigned count_different(const struct recorded *recorded, const uint32_t *outputs, unsigned n_cases,
                                unsigned n_chunks, unsigned chunk, unsigned *first) {
    unsigned n_different = 0;
    size_t n_words = recorded->n_words;
    for (unsigned i = 0; i < n_cases; i++) {
        const unsigned char *expected = recorded->words + 4 * n_words * i;
        if (memcmp(expected, outputs + n_words * i, 4 * n_words) != 0 && n_different++ == 0)
            *first = i;
    }
    for (unsigned i = 0; i < n_chunks; i++) {
        uint64_t expected, got = hash(0, outputs + i * chunk * n_words, chunk * n_words);
        memcpy(&expected, recorded->hash + 8 * i, sizeof expected);
        if (expected != got && n_different++ == 0)
            *first = i * chunk;
    }
    return n_different;
}

static bool check_form(const struct options *options, const struct form *form, const struct recorded *recorded) {
    static char log[DRIVER_LOG];
    CUmodule module;
    CUfunction function;
    CUresult result = load_form(form, &module, log);
    if (result != CUDA_SUCCESS) {
        printf("refused: %s\n%s", form->text, log);
        return false;
    }
    DRIVER_REQUIRE(cuModuleGetFunction(&function, module, "form0"));
    unsigned n_cases = recorded->n_cases < options->n_cases ? recorded->n_cases : options->n_cases;
    unsigned n_chunks = recorded->n_chunks < options->n_chunks ? recorded->n_chunks : options->n_chunks;
    unsigned chunk = form_chunk_cases(form), n = n_chunks * chunk > n_cases ? n_chunks * chunk : n_cases, first = 0;
    uint32_t *outputs = text_resize(NULL, (size_t)n * recorded->n_words * 4);
    run_cases(function, form, 0, n, outputs);
    unsigned n_different = count_different(recorded, outputs, n_cases, n_chunks, chunk, &first);
    if (n_different) {
        printf("different: %s (%u of %u cases and %u chunks), first case %u\n", form->text, n_different, n_cases,
               n_chunks, first);
        for (unsigned i = 0, n_shown = 0; first < n_cases && i < recorded->n_words && n_shown < 4; i++) {
            size_t at = (size_t)first * recorded->n_words + i;
            uint32_t expected, got = outputs[at];
            memcpy(&expected, recorded->words + 4 * at, sizeof expected);
            if (expected != got && ++n_shown)
                printf("  word %u: recorded %08x, got %08x\n", i, expected, got);
        }
    }
    free(outputs);
    DRIVER_REQUIRE(cuModuleUnload(module));
    return n_different == 0;
}

/* Returns the answers of a form, or NULL. */
static const struct recorded *find_recorded(const struct recorded *recorded, size_t n, const char *text) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(recorded[i].text, text) == 0)
            return &recorded[i];
    return NULL;
}

static unsigned char *read_file(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    size_t room = 0;
    unsigned char *bytes = NULL;
    if (!file) {
        perror(path);
        return NULL;
    }
    do {
        bytes = text_resize(bytes, room = 2 * room + 65536);
        *length += fread(bytes + *length, 1, room - *length, file);
    } while (*length == room);
    fclose(file);
    return bytes;
}

/* Every form must have answers, except those that the GPU refuses. */
static int check(const struct options *options, const struct form_list *list) {
    size_t length = 0, n_recorded = 0;
    unsigned n_equal = 0, n_different = 0;
    unsigned char *bytes = read_file(options->file, &length);
    struct recorded *recorded = text_resize(NULL, (list->n + 1) * sizeof *recorded);
    const unsigned char *at = bytes ? memchr(bytes, '\n', length) : NULL;
    if (!at) {
        free(recorded);
        free(bytes);
        return 1;
    }
    for (at++; at < bytes + length && n_recorded < list->n; n_recorded++)
        at = read_recorded(at, &recorded[n_recorded]);
    driver_start();
    for (size_t i = 0; i < list->n; i++) {
        const struct form *form = &list->form[i];
        const struct recorded *answers = find_recorded(recorded, n_recorded, form->text);
        if (!is_wanted(options, form) || (answers && !answers->is_given))
            continue;
        if (!answers)
            printf("no answer recorded: %s\n", form->text);
        bool is_equal = answers && check_form(options, form, answers);
        n_equal += is_equal;
        n_different += !is_equal;
    }
    printf("%.*s: %u forms equal bit for bit, %u different\n", (int)strcspn((const char *)bytes, "\n"),
           (const char *)bytes, n_equal, n_different);
    free(recorded);
    free(bytes);
    return n_different > 0;
}

static void print_ptx(const char *name, const struct form_list *list) {
    struct text text = {0};
    unsigned n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (is_named(&list->form[i], name)) {
            if (n == 0)
                kernel_add_header(&text, &list->form[i]);
            kernel_add(&text, &list->form[i], n++);
        }
    if (n > 0)
        fputs(text.data, stdout);
    text_free(&text);
}

static int write_inputs(const struct options *options, const struct form_list *list) {
    FILE *file = fopen(options->file, "wb");
    size_t i = 0;
    while (i < list->n && strcmp(list->form[i].text, options->name) != 0)
        i++;
    if (!file || i == list->n)
        return 1;
    const struct form *form = &list->form[i];
    uint32_t *words = text_resize(NULL, form->n_input_words * sizeof *words);
    for (unsigned number = 0; number < options->n_cases; number++) {
        form_fill_case(form, number, words);
        fwrite(words, sizeof *words, form->n_input_words, file);
    }
    free(words);
    return fclose(file) != 0;
}

int main(int argc, char **argv) {
    struct options options;
    int status = 0;
    if (!read_options(argc, argv, &options))
        return usage();
    struct form_list list = form_list_all();
    if (strcmp(options.mode, "list") == 0)
        for (size_t i = 0; i < list.n; i++)
            printf("%s\n", list.form[i].text);
    else if (strcmp(options.mode, "ptx") == 0)
        print_ptx(options.name, &list);
    else if (strcmp(options.mode, "inputs") == 0)
        status = write_inputs(&options, &list);
    else if (strcmp(options.mode, "check") == 0)
        status = check(&options, &list);
    else
        status = record(&options, &list);
    form_list_free(&list);
    return status;
}
