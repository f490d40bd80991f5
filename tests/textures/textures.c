/* The texture suite: every kind of texture and surface access, compared with the answers of a GPU.
 *
 *     textures --record FILE [SAMPLES]   runs every case on the GPU and writes its results
 *     textures --check FILE              runs every case and compares with FILE
 *     textures --table FILE              the same, printed as the table of docs/validation.md
 *     textures --show CASE FILE          one case, sample by sample: inputs, recorded, computed
 *     textures --ptx CASE                its PTX
 *     textures --list                    names the cases
 *
 * An ordinary program over the CUDA driver API: the build links it with Heddle's libcuda, record.sh with a real one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "recording.h"
#include "run.h"

static int usage(void) {
    fprintf(stderr, "usage: textures --record FILE [SAMPLES] | --check FILE | --table FILE | --show CASE FILE |\n"
                    "                --ptx CASE | --list\n");
    return 2;
}

static int record(const char *path, unsigned n_samples, const struct case_list *list) {
    struct recording *recording = recording_new(n_samples);
    unsigned n_refused = 0;
    for (size_t i = 0; i < list->n; i++) {
        unsigned char *results = NULL;
        const char *problem;
        size_t bytes = run_case(&list->item[i], n_samples, &results, &problem);
        if (!bytes) {
            printf("refused: %s: %s\n", list->item[i].name, problem);
            n_refused++;
        }
        recording_add(recording, list->item[i].name, results, bytes);
        free(results);
    }
    printf("%zu cases of %u samples, %u refused\n", list->n, n_samples, n_refused);
    bool is_good = recording_write(recording, path);
    recording_free(recording);
    return !is_good;
}

/* Cases by what came out. */
struct counts {
    unsigned equal, within, refused, wrong;
    size_t samples, samples_equal;
};

/* Bytes of a sample's result: a thread's words, or the whole array. */
static size_t sample_bytes(const struct texture_case *c, size_t bytes) {
    return c->operation == STORE ? bytes : (size_t)CASE_OUT_WORDS * 4;
}

static float as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The largest difference of the four words as numbers. */
static double difference(const unsigned char *ours, const unsigned char *theirs) {
    double largest = 0;
    for (unsigned k = 0; k < CASE_OUT_WORDS; k++) {
        uint32_t a, b;
        memcpy(&a, ours + (size_t)4 * k, 4);
        memcpy(&b, theirs + (size_t)4 * k, 4);
        largest = fmax(largest, fabs((double)as_float(a) - (double)as_float(b)));
    }
    return largest;
}

static void say_wrong(struct counts *counts, const struct texture_case *c, const char *what) {
    counts->wrong++;
    printf("%s: %s\n", c->name, what);
}

static void compare_samples(const struct texture_case *c, const unsigned char *results, const struct recorded *recorded,
                            struct counts *counts) {
    struct case_bound bound = case_bound(c);
    size_t step = sample_bytes(c, recorded->bytes), n = recorded->bytes / step, n_equal = 0;
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_equal = memcmp(results + i * step, recorded->data + i * step, step) == 0;
        n_equal += is_equal;
        if (!is_equal)
            largest = fmax(largest, difference(results + i * step, recorded->data + i * step));
    }
    counts->samples += n;
    counts->samples_equal += n_equal;
    bool is_within =
        (double)(n - n_equal) <= bound.share * (double)n && (bound.difference == 0 || largest <= bound.difference);
    if (n_equal == n)
        counts->equal++;
    else if (is_within)
        counts->within++;
    else {
        counts->wrong++;
        printf("%s: %zu of %zu samples differ, by %g at most\n", c->name, n - n_equal, n, largest);
    }
}

static void compare(const struct texture_case *c, const struct recorded *recorded, unsigned n_samples,
                    struct counts *counts) {
    unsigned char *results = NULL;
    const char *problem = NULL;
    size_t bytes = run_case(c, n_samples, &results, &problem);
    if (!recorded || !recorded->bytes)
        say_wrong(counts, c, "the recording has no answer");
    else if (!bytes && case_bound(c).is_refused)
        counts->refused++;
    else if (!bytes)
        say_wrong(counts, c, problem);
    else if (case_bound(c).is_refused || bytes != recorded->bytes)
        say_wrong(counts, c, "this should have been refused, or has another size");
    else
        compare_samples(c, results, recorded, counts);
    free(results);
}

/* The reasons, each once, with the number of their cases. */
static void print_reasons(const struct case_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const char *why = case_bound(&list->item[i]).why;
        unsigned n = 0;
        bool is_first = why != NULL;
        for (size_t j = 0; why && j < list->n; j++) {
            const char *other = case_bound(&list->item[j]).why;
            bool is_same = other && strcmp(other, why) == 0;
            n += is_same;
            is_first &= !(is_same && j < i);
        }
        if (is_first)
            printf("| %s%s | %u |\n", why, case_bound(&list->item[i]).is_refused ? ": refused" : "", n);
    }
}

static int check(const char *path, const struct case_list *list, bool is_table) {
    struct recording *recording = recording_read(path);
    struct counts counts = {0};
    if (!recording)
        return 1;
    for (size_t i = 0; i < list->n; i++)
        compare(&list->item[i], recording_find(recording, list->item[i].name), recording_samples(recording), &counts);
    if (is_table) {
        printf("Recorded on %s, %s.\n\n| | cases |\n|---|---|\n", recording_gpu(recording), recording_date(recording));
        printf("| all | %zu |\n| equal bit for bit | %u |\n| within a bound | %u |\n| refused | %u |\n", list->n,
               counts.equal, counts.within, counts.refused);
        printf("\n%zu of %zu samples are equal. Not established:\n\n| what | cases |\n|---|---|\n",
               counts.samples_equal, counts.samples);
        print_reasons(list);
    } else {
        printf("%u cases equal, %u within their bound, %u refused, %u wrong; %zu of %zu samples equal\n", counts.equal,
               counts.within, counts.refused, counts.wrong, counts.samples_equal, counts.samples);
    }
    recording_free(recording);
    return counts.wrong != 0;
}

static const struct texture_case *find_case(const struct case_list *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->item[i].name, name) == 0)
            return &list->item[i];
    fprintf(stderr, "textures: no case '%s'; --list names them\n", name);
    return NULL;
}

static void print_words(const char *what, const unsigned char *bytes, bool is_float) {
    printf("   %s", what);
    for (unsigned k = 0; k < CASE_OUT_WORDS; k++) {
        uint32_t word;
        memcpy(&word, bytes + (size_t)4 * k, 4);
        if (is_float)
            printf(" %.9g (%08x)", (double)as_float(word), word);
        else
            printf(" %08x", word);
    }
    printf("\n");
}

static int show(const struct texture_case *c, const char *path) {
    struct recording *recording = c ? recording_read(path) : NULL;
    const struct recorded *recorded = recording ? recording_find(recording, c->name) : NULL;
    unsigned char *results = NULL;
    const char *problem = NULL;
    if (!recorded || !recorded->bytes || c->operation == STORE) {
        fprintf(stderr, "textures: nothing recorded for it sample by sample\n");
        return 1;
    }
    size_t bytes = run_case(c, recording_samples(recording), &results, &problem);
    for (unsigned i = 0; i < recording_samples(recording); i++) {
        uint32_t in[CASE_IN_WORDS];
        size_t at = (size_t)i * CASE_OUT_WORDS * 4;
        case_inputs(c, i, in);
        bool is_equal = bytes && memcmp(results + at, recorded->data + at, CASE_OUT_WORDS * 4) == 0;
        printf("%u: layer %u at", i, in[0]);
        for (unsigned k = 1; k <= case_dimensions(c); k++)
            c->operation == FETCH || c->operation == LOAD ? printf(" %d", (int)in[k])
                                                          : printf(" %.9g", (double)as_float(in[k]));
        if (c->operation == LEVEL)
            printf(" level %.9g", (double)as_float(in[4]));
        printf("%s\n", is_equal ? "" : "  DIFFERS");
        print_words("recorded", recorded->data + at, case_reads_float(c));
        if (bytes && !is_equal)
            print_words("computed", results + at, case_reads_float(c));
    }
    free(results);
    recording_free(recording);
    return 0;
}

int main(int argc, char **argv) {
    struct case_list list = case_list_all();
    const char *mode = argc > 1 ? argv[1] : "";
    int status = 0;
    if (strcmp(mode, "--list") == 0) {
        for (size_t i = 0; i < list.n; i++)
            printf("%s\n", list.item[i].name);
    } else if (strcmp(mode, "--ptx") == 0 && argc == 3) {
        const struct texture_case *c = find_case(&list, argv[2]);
        char *ptx = c ? case_ptx(c) : NULL;
        fputs(ptx ? ptx : "", stdout);
        free(ptx);
        status = !c;
    } else if (argc >= 3 && (strcmp(mode, "--record") == 0 || strcmp(mode, "--check") == 0 ||
                             strcmp(mode, "--table") == 0 || (strcmp(mode, "--show") == 0 && argc == 4))) {
        driver_start();
        if (strcmp(mode, "--record") == 0)
            status = record(argv[2], argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 64, &list);
        else if (strcmp(mode, "--show") == 0)
            status = show(find_case(&list, argv[2]), argv[3]);
        else
            status = check(argv[2], &list, strcmp(mode, "--table") == 0);
    } else {
        status = usage();
    }
    free(list.item);
    return status;
}
