/* Runs random PTX programs here and on a GPU, and compares them bit for bit.
 *
 *     differential [--seed S] [--first I] [--count N] [--jobs J] --record FILE   runs programs and writes their digests
 *     differential [--count N] [--jobs J] --check FILE                           runs them or the first N, and compares
 *     differential [...] --record-steps FILE, --check-steps FILE                 the same for every instruction
 *     differential [--seed S] --dump I                                           prints program I
 *     differential [--seed S] --trace I                                          runs it and prints all results
 *
 * Program I of a seed is always the same (program.h). This is an ordinary program over the CUDA driver API: linked with
 * Heddle's libcuda it runs in the simulator, linked with NVIDIA's on a GPU:
 *     gcc -O2 -std=gnu17 -I/usr/local/cuda/include -Itests/runner tests/differential/[a-z]*.c \
 *         tests/runner/{text,driver}.c -lcuda -o differential
 * --agree FILE: record only the digests that are the same in FILE, recorded with another --optimization;
 * --batch N: programs per module; --seconds T: stop after T seconds and keep the results so far; --reports N:
 * differences to print; --optimization L: of the real driver's compiler. Exit status: 0 all equal, 1 not. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "driver.h"
#include "image.h"
#include "layout.h"
#include "program.h"
#include "recording.h"

enum {
    MAX_JOBS = 64,
    MAX_FAILED = 500,
    DEFAULT_REPORTS = 20,
    DEFAULT_COUNT = 10000,
    DEFAULT_BATCH = 64,
    TRACED_BATCH = 8
};

struct options {
    const char *record, *check, *agree;
    bool has_steps, dumps, traces;
    uint64_t seed, first, count, number;
    unsigned jobs, batch, seconds, reports;
    int optimization;
};

/* The state common to all worker processes. */
struct work {
    const struct options *options;
    uint64_t seed, first, count, words;
    uint64_t *digest; /* count * words */
    atomic_uint *next;
    time_t start;
};

static void *share(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

/* Computes the digest of each instruction's results: in order for each thread, and independent of the threads' order.
 */
static void digest_steps(const uint64_t *trace, uint64_t *digest) {
    for (unsigned thread = 0; thread < LAYOUT_THREADS; thread++) {
        const uint64_t *entry = trace + (size_t)thread * LAYOUT_TRACE_ENTRIES * 2;
        uint64_t hash[MAX_TRACED] = {0};
        for (unsigned i = 0; i < LAYOUT_TRACE_ENTRIES && entry[2 * i] < MAX_TRACED; i++)
            hash[entry[2 * i]] = random_hash(hash[entry[2 * i]] + thread + 1, entry[2 * i + 1]);
        for (unsigned id = 0; id < MAX_TRACED; id++)
            digest[id] += hash[id];
    }
}

static void keep_result(void *user, uint64_t number, const unsigned char *memory, const uint64_t *trace) {
    struct work *work = user;
    uint64_t *digest = work->digest + (number - work->first) * work->words;
    if (trace)
        digest_steps(trace, digest);
    else
        *digest = image_digest(memory);
}

static void work_through(struct work *work) {
    const struct options *options = work->options;
    struct batch_options batch = {work->seed, options->has_steps, options->optimization};
    batch_start();
    for (;;) {
        uint64_t first = (uint64_t)atomic_fetch_add(work->next, 1) * options->batch;
        if (first >= work->count || (options->seconds && time(NULL) - work->start >= (time_t)options->seconds))
            return;
        uint64_t left = work->count - first;
        batch_run(&batch, work->first + first, left < options->batch ? (unsigned)left : options->batch, keep_result,
                  work);
    }
}

static void start_worker(struct work *work) {
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child == 0) {
        work_through(work);
        exit(0);
    }
}

/* Returns how many programs were started: all, unless time ran out. Those that failed, and the later ones of their
 * batch, keep the digest 0. */
static uint64_t run_workers(struct work *work) {
    unsigned jobs = work->options->jobs, n_running = jobs, n_failed = 0;
    for (unsigned i = 0; i < jobs; i++)
        start_worker(work);
    while (n_running > 0) {
        int status = 0;
        wait(&status);
        bool is_failed = WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) == BATCH_FAILED);
        if (WIFSIGNALED(status))
            fprintf(stderr, "a worker ended by signal %d\n", WTERMSIG(status));
        if (is_failed && ++n_failed < MAX_FAILED)
            start_worker(work);
        else if (status != 0 && !is_failed)
            exit(1);
        else
            n_running--;
    }
    uint64_t begun = (uint64_t)(*work->next - jobs) * work->options->batch; /* each worker's last number was not used */
    return begun < work->count ? begun : work->count;
}

static struct work new_work(const struct options *options, const struct recording *recording) {
    struct work work = {.options = options,
                        .seed = recording->seed,
                        .first = recording->first,
                        .count = recording->count,
                        .words = options->has_steps ? MAX_TRACED : 1,
                        .next = share(sizeof *work.next),
                        .start = time(NULL)};
    work.digest = share((recording->count + 1) * work.words * sizeof *work.digest);
    return work;
}

static void name_machine(struct recording *recording) {
    char name[48] = "", line[32] = "";
    CUdevice device;
    int version = 0;
    time_t now = time(NULL);
    FILE *file = fopen("/sys/module/nvidia/version", "r");
    DRIVER_REQUIRE(cuInit(0));
    DRIVER_REQUIRE(cuDeviceGet(&device, 0));
    DRIVER_REQUIRE(cuDeviceGetName(name, sizeof name, device));
    DRIVER_REQUIRE(cuDriverGetVersion(&version));
    if (file && fgets(line, sizeof line, file))
        line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
    snprintf(recording->machine, sizeof recording->machine, "%s, CUDA %d.%d, driver %s", name, version / 1000,
             version % 1000 / 10, line[0] ? line : "unknown");
    strftime(recording->date, sizeof recording->date, "%Y-%m-%d", gmtime(&now));
}

/* A program whose result depends on the compiler's optimization tests the compiler: its digest becomes 0, which means
 * no result. Returns how many there are. */
static uint64_t drop_disagreeing(const char *path, struct recording *recording) {
    struct recording other;
    uint64_t n_left_out = 0;
    recording_read(path, &other);
    if (other.seed != recording->seed || other.first != recording->first || other.words != recording->words) {
        fprintf(stderr, "%s: has other programs\n", path);
        exit(1);
    }
    if (other.count < recording->count)
        recording->count = other.count;
    for (uint64_t i = 0; i < recording->count; i++) {
        uint64_t *digest = recording->digest + i * recording->words;
        bool is_equal = memcmp(digest, other.digest + i * recording->words, recording->words * sizeof *digest) == 0;
        n_left_out += !is_equal;
        if (!is_equal)
            memset(digest, 0, recording->words * sizeof *digest);
    }
    free(other.digest);
    return n_left_out;
}

static int record(const struct options *options) {
    struct recording recording = {.seed = options->seed, .first = options->first, .count = options->count};
    struct work work = new_work(options, &recording);
    recording.words = work.words;
    recording.count = run_workers(&work);
    recording.digest = work.digest;
    name_machine(&recording);
    uint64_t n_left_out = options->agree ? drop_disagreeing(options->agree, &recording) : 0;
    recording_write(options->record, &recording);
    printf("%llu programs of seed %llu in %ld s, %llu of them left out: %s\n", (unsigned long long)recording.count,
           (unsigned long long)recording.seed, (long)(time(NULL) - work.start), (unsigned long long)n_left_out,
           options->record);
    return 0;
}

struct listing {
    uint64_t seed;
    long only; /* an instruction's number, or -1 */
};

static void print_trace(void *user, uint64_t number, const unsigned char *memory, const uint64_t *trace) {
    const struct listing *listing = user;
    struct program program;
    struct text text = {0};
    program_make(&program, listing->seed, number, true, &text);
    printf("program %llu of seed %llu, digest %016llx\n", (unsigned long long)number, (unsigned long long)listing->seed,
           (unsigned long long)image_digest(memory));
    for (unsigned id = 0; id < program.n_traced; id++) {
        if (listing->only >= 0 && listing->only != (long)id)
            continue;
        printf("#%u %s\n", id, program.traced[id].text);
        for (unsigned thread = 0; thread < LAYOUT_THREADS; thread++) {
            const uint64_t *entry = trace + (size_t)thread * LAYOUT_TRACE_ENTRIES * 2;
            printf("  %u:", thread);
            for (unsigned i = 0; i < LAYOUT_TRACE_ENTRIES && entry[2 * i] < MAX_TRACED; i++)
                if (entry[2 * i] == id)
                    printf(" %llx", (unsigned long long)entry[2 * i + 1]);
            printf("\n");
        }
    }
    program_free(&program);
    text_free(&text);
}

static void trace(uint64_t seed, uint64_t number, long only, int optimization) {
    struct listing listing = {seed, only};
    struct batch_options batch = {seed, true, optimization};
    batch_run(&batch, number, 1, print_trace, &listing);
}

/* Reports the first instruction whose results differ, in the order of the program. */
static void report_steps(const struct options *options, const struct work *work, uint64_t place,
                         const uint64_t *expected) {
    const uint64_t *digest = work->digest + place * work->words;
    unsigned id = 0;
    while (digest[id] == expected[id])
        id++;
    printf("instruction %u of program %llu differs:\n", id, (unsigned long long)(work->first + place));
    trace(work->seed, work->first + place, (long)id, options->optimization);
}

static bool is_missing(const uint64_t *digest, uint64_t words) {
    for (uint64_t i = 0; i < words; i++)
        if (digest[i])
            return false;
    return true;
}

static int check(struct options *options) {
    struct recording recording;
    recording_read(options->check, &recording);
    if ((recording.words > 1) != options->has_steps) {
        fprintf(stderr, "%s: %s\n", options->check,
                options->has_steps ? "has no digests of instructions" : "use --check-steps");
        return 1;
    }
    if (options->count && options->count < recording.count)
        recording.count = options->count;
    struct work work = new_work(options, &recording);
    uint64_t count = run_workers(&work), n_different = 0, n_missing = 0, n_left_out = 0;
    if (options->has_steps)
        batch_start();
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t *expected = recording.digest + i * work.words, *digest = work.digest + i * work.words;
        if (is_missing(expected, work.words)) {
            n_left_out++;
            continue;
        }
        if (is_missing(digest, work.words)) {
            n_missing++;
            continue;
        }
        if (memcmp(digest, expected, work.words * sizeof *digest) == 0 || ++n_different > options->reports)
            continue;
        if (options->has_steps)
            report_steps(options, &work, i, expected);
        else
            printf("program %llu: %016llx, recorded %016llx; to see it: --seed %llu --dump %llu, --trace %llu\n",
                   (unsigned long long)(work.first + i), (unsigned long long)*digest, (unsigned long long)*expected,
                   (unsigned long long)work.seed, (unsigned long long)(work.first + i),
                   (unsigned long long)(work.first + i));
    }
    printf(
        "%llu programs of seed %llu in %ld s: %llu differ from %s (%s), %llu gave no result, %llu have none recorded\n",
        (unsigned long long)count, (unsigned long long)work.seed, (long)(time(NULL) - work.start),
        (unsigned long long)n_different, recording.machine, recording.date, (unsigned long long)n_missing,
        (unsigned long long)n_left_out);
    free(recording.digest);
    return n_different > 0 || n_missing > 0;
}

static int dump(const struct options *options) {
    struct program program;
    struct text text = {0};
    program_add_header(&text);
    for (uint64_t i = 0; i < options->count; i++) {
        program_make(&program, options->seed, options->number + i, false, &text);
        program_free(&program);
    }
    fputs(text.data, stdout);
    text_free(&text);
    return 0;
}

static void usage(void) {
    fprintf(stderr, "usage: differential [--seed S] [--first I] [--count N] [--jobs J] [--batch N] [--seconds T] "
                    "[--optimization L]\n"
                    "                    (--record FILE | --check FILE | --record-steps FILE | --check-steps FILE | "
                    "--dump I | --trace I)\n");
    exit(2);
}

static uint64_t number_of(const char *text) {
    char *end;
    uint64_t number = strtoull(text, &end, 0);
    if (!*text || *end)
        usage();
    return number;
}

static void set_option(struct options *options, const char *name, const char *value) {
    if (strcmp(name, "--record") == 0 || strcmp(name, "--record-steps") == 0)
        options->record = value;
    else if (strcmp(name, "--check") == 0 || strcmp(name, "--check-steps") == 0)
        options->check = value;
    else if (strcmp(name, "--agree") == 0)
        options->agree = value;
    else if (strcmp(name, "--seed") == 0)
        options->seed = number_of(value);
    else if (strcmp(name, "--first") == 0)
        options->first = number_of(value);
    else if (strcmp(name, "--count") == 0)
        options->count = number_of(value);
    else if (strcmp(name, "--jobs") == 0)
        options->jobs = (unsigned)number_of(value);
    else if (strcmp(name, "--batch") == 0)
        options->batch = (unsigned)number_of(value);
    else if (strcmp(name, "--seconds") == 0)
        options->seconds = (unsigned)number_of(value);
    else if (strcmp(name, "--reports") == 0)
        options->reports = (unsigned)number_of(value);
    else if (strcmp(name, "--optimization") == 0)
        options->optimization = (int)number_of(value);
    else if (strcmp(name, "--dump") == 0 || strcmp(name, "--trace") == 0)
        options->number = number_of(value);
    else
        usage();
    options->has_steps |= strstr(name, "-steps") != NULL;
    options->dumps |= strcmp(name, "--dump") == 0;
    options->traces |= strcmp(name, "--trace") == 0;
}

int main(int argc, char **argv) {
    struct options options = {.seed = 1, .jobs = 1, .reports = DEFAULT_REPORTS, .optimization = -1};
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc)
            usage();
        set_option(&options, argv[i], argv[i + 1]);
    }
    if (options.count == 0 && !options.check)
        options.count = options.dumps ? 1 : DEFAULT_COUNT;
    if (options.batch == 0)
        options.batch = options.has_steps ? TRACED_BATCH : DEFAULT_BATCH;
    if (options.jobs == 0 || options.jobs > MAX_JOBS ||
        (options.record != NULL) + (options.check != NULL) + options.dumps + options.traces != 1)
        usage();
    if (options.dumps)
        return dump(&options);
    if (options.traces) {
        batch_start();
        trace(options.seed, options.number, -1, options.optimization);
        return 0;
    }
    return options.record ? record(&options) : check(&options);
}
