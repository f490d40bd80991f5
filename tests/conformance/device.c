/* Runs forms through the CUDA driver API. Only child processes use the driver, each with a batch of forms; they write
 * into memory that the parent reads. So a driver that crashes ends only its child. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"
#include "kernel.h"

enum { BATCH = 64, MAX_JOBS = 64, BATCH_SECONDS = 600, EXIT_NO_GPU = 7 };

struct range {
    size_t first, n;
};

/* The memory that the children write. */
struct shared {
    char gpu[128], driver[128];
    uint8_t *status; /* by form */
    uint8_t *bytes;
    size_t *start; /* of a form's bytes; the parent's, constant while children run */
};

struct batch {
    const struct form_list *list;
    struct shared *shared;
    bool says;
};

static void *shared_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return memory;
}

/* --- in a child */

/* Reads the version of the kernel module, such as 580.159.04, otherwise that of the API. */
static void read_driver_version(char *text, size_t size) {
    char line[256] = "";
    int version = 0;
    FILE *file = fopen("/proc/driver/nvidia/version", "r");
    if (file && !fgets(line, sizeof line, file))
        line[0] = 0;
    if (file)
        fclose(file);
    const char *number = strstr(line, "Module");
    number = number ? number + 6 + strspn(number + 6, " for x86_64") : "";
    DRIVER_REQUIRE(cuDriverGetVersion(&version));
    snprintf(text, size, "%.*s%sCUDA %d.%d", (int)strcspn(number, " \n"), number, *number ? ", " : "", version / 1000,
             version % 1000 / 10);
}

static void start_device(struct shared *shared) {
    CUdevice device;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS)
        _exit(EXIT_NO_GPU);
    driver_start();
    if (!shared->gpu[0]) {
        DRIVER_REQUIRE(cuDeviceGetName(shared->gpu, sizeof shared->gpu, device));
        read_driver_version(shared->driver, sizeof shared->driver);
    }
}

/* Memory of each case: the region's words, from the hidden inputs. */
static uint64_t *region_words(const struct form *form, const uint64_t *values) {
    uint64_t *words = calloc((size_t)form->n_cases * FORM_REGION_WORDS, sizeof *words);
    bool has_region = form->category != FORM_LANES && form->category != FORM_WARP && form->category != FORM_SPACE;
    if (!words)
        abort();
    for (unsigned i = 0; has_region && i < form->n_cases; i++)
        for (unsigned k = 0; k < form->region_words; k++)
            words[i * FORM_REGION_WORDS + k] = values[(size_t)i * form->n_inputs + form->first_hidden + k];
    return words;
}

static CUdeviceptr upload(const void *data, size_t bytes) {
    CUdeviceptr pointer;
    DRIVER_REQUIRE(cuMemAlloc(&pointer, bytes + 8));
    if (bytes)
        DRIVER_REQUIRE(cuMemcpyHtoD(pointer, data, bytes));
    return pointer;
}

static void run_form(CUmodule module, const struct form *form, unsigned number, uint8_t *answers) {
    char name[32];
    CUfunction function;
    size_t in_bytes = (size_t)form->n_cases * form->n_inputs * 8,
           out_bytes = (size_t)form->n_cases * form->n_outputs * 8;
    uint64_t *values = form_inputs(form), *words = region_words(form, values), *outputs = calloc(1, out_bytes);
    if (!outputs)
        abort();
    CUdeviceptr in = upload(values, in_bytes), out = upload(outputs, out_bytes);
    CUdeviceptr memory = upload(words, (size_t)form->n_cases * KERNEL_REGION);
    void *arguments[] = {&in, &out, &memory};
    snprintf(name, sizeof name, "form%u", number);
    DRIVER_REQUIRE(cuModuleGetFunction(&function, module, name));
    DRIVER_REQUIRE(
        cuLaunchKernel(function, form->n_cases / KERNEL_THREADS, 1, 1, KERNEL_THREADS, 1, 1, 0, NULL, arguments, NULL));
    DRIVER_REQUIRE(cuCtxSynchronize());
    DRIVER_REQUIRE(cuMemcpyDtoH(outputs, out, out_bytes));
    memset(answers, 0, form_answer_bytes(form));
    for (unsigned i = 0; i < form->n_cases; i++)
        for (unsigned k = 0; k < form->n_outputs; k++)
            form_set_answer(form, answers, k, i, outputs[(size_t)i * form->n_outputs + k]);
    DRIVER_REQUIRE(cuMemFree(in));
    DRIVER_REQUIRE(cuMemFree(out));
    DRIVER_REQUIRE(cuMemFree(memory));
    free(values);
    free(words);
    free(outputs);
}

/* Loads the range as one module; if that is refused, its halves. */
static void run_range(const struct batch *batch, struct range range) {
    static char log[DRIVER_LOG];
    const struct form *form = batch->list->form + range.first;
    struct text text = {0};
    CUmodule module;
    kernel_add_header(&text);
    for (unsigned i = 0; i < range.n; i++)
        kernel_add(&text, &form[i], i);
    bool is_loaded = driver_load(text.data, &module, log) == CUDA_SUCCESS;
    text_free(&text);
    if (is_loaded) {
        for (unsigned i = 0; i < range.n; i++) {
            run_form(module, &form[i], i, batch->shared->bytes + batch->shared->start[range.first + i]);
            batch->shared->status[range.first + i] = ANSWER_GIVEN;
        }
        DRIVER_REQUIRE(cuModuleUnload(module));
    } else if (range.n == 1) {
        batch->shared->status[range.first] = ANSWER_REFUSED;
        if (batch->says)
            printf("refused: %s\n%s", form->text, log);
    } else {
        run_range(batch, (struct range){range.first, range.n / 2});
        run_range(batch, (struct range){range.first + range.n / 2, range.n - range.n / 2});
    }
}

/* Silences the driver's messages about refused forms, which are expected and long. */
_Noreturn static void run_child(const struct batch *batch, struct range range) {
    alarm(BATCH_SECONDS);
    if (!batch->says && !freopen("/dev/null", "w", stderr))
        _exit(1);
    start_device(batch->shared);
    run_range(batch, range);
    fflush(stdout);
    _exit(0);
}

/* --- in the parent */

struct job {
    pid_t pid;
    struct range range;
};

struct queue {
    struct range *range;
    size_t n, room;
};

static void push(struct queue *queue, struct range range) {
    if (queue->n == queue->room)
        queue->range = text_resize(queue->range, (queue->room = 2 * queue->room + 64) * sizeof *queue->range);
    queue->range[queue->n++] = range;
}

/* A child crashed: splits its range; a single form is the cause. */
static void split(struct queue *queue, struct shared *shared, struct range range) {
    if (range.n == 1) {
        shared->status[range.first] = ANSWER_CRASHED;
        return;
    }
    push(queue, (struct range){range.first, range.n / 2});
    push(queue, (struct range){range.first + range.n / 2, range.n - range.n / 2});
}

static pid_t start_job(const struct batch *batch, struct range range) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        run_child(batch, range);
    if (pid < 0) {
        perror("fork");
        exit(1);
    }
    return pid;
}

static bool run_queue(const struct batch *batch, struct queue *queue, unsigned n_jobs) {
    struct job job[MAX_JOBS];
    unsigned n_running = 0;
    bool has_gpu = true;
    while (queue->n > 0 || n_running > 0) {
        while (queue->n > 0 && n_running < n_jobs && has_gpu) {
            struct range range = queue->range[--queue->n];
            job[n_running++] = (struct job){start_job(batch, range), range};
        }
        int status;
        pid_t pid = wait(&status);
        unsigned k = 0;
        while (k < n_running && job[k].pid != pid)
            k++;
        if (k == n_running)
            continue;
        struct range range = job[k].range;
        job[k] = job[--n_running];
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_NO_GPU) {
            has_gpu = false;
            queue->n = 0;
        } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            split(queue, batch->shared, range);
        }
    }
    return has_gpu;
}

static void collect(struct answers *answers, const struct form_list *list, const struct shared *shared,
                    struct range range) {
    time_t now = time(NULL);
    memcpy(answers->gpu, shared->gpu, sizeof answers->gpu);
    memcpy(answers->driver, shared->driver, sizeof answers->driver);
    strftime(answers->date, sizeof answers->date, "%Y-%m-%d", gmtime(&now));
    for (size_t i = range.first; i < range.first + range.n; i++) {
        const struct form *form = &list->form[i];
        struct answer *answer = &answers->answer[i];
        uint64_t *values = form_inputs(form);
        answer->status = (enum answer_status)shared->status[i];
        answer->inputs_hash = form_inputs_hash(form, values);
        free(values);
        if (answer->status != ANSWER_GIVEN)
            continue;
        answer->bytes = text_resize(answer->bytes, form_answer_bytes(form) + 1);
        memcpy(answer->bytes, shared->bytes + shared->start[i], form_answer_bytes(form));
    }
}

bool device_run(struct answers *answers, const struct form_list *list, size_t first, size_t n, unsigned n_jobs,
                bool says) {
    struct shared *shared = shared_memory(sizeof *shared);
    struct queue queue = {0};
    size_t bytes = 0;
    shared->start = text_resize(NULL, list->n * sizeof *shared->start);
    for (size_t i = 0; i < list->n; i++) {
        shared->start[i] = bytes;
        bytes += (form_answer_bytes(&list->form[i]) + 7) / 8 * 8;
    }
    shared->status = shared_memory(list->n);
    shared->bytes = shared_memory(bytes);
    *answers = (struct answers){.answer = calloc(list->n, sizeof *answers->answer)};
    for (size_t at = (n + BATCH - 1) / BATCH; at-- > 0;)
        push(&queue, (struct range){first + at * BATCH, n - at * BATCH < BATCH ? n - at * BATCH : BATCH});
    const struct batch batch = {list, shared, says};
    bool has_gpu = answers->answer && run_queue(&batch, &queue, n_jobs > MAX_JOBS ? MAX_JOBS : n_jobs);
    if (has_gpu)
        collect(answers, list, shared, (struct range){first, n});
    free(queue.range);
    free(shared->start);
    munmap(shared->bytes, bytes);
    munmap(shared->status, list->n);
    munmap(shared, sizeof *shared);
    return has_gpu;
}
