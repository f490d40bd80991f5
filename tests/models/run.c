/* Runs a program through gpu.h. See run.h. */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "divergence/divergence.h"
#include "gpu/gpu.h"

/* --- machines --- */

static void add_machine(struct machines *machines, const char *name, const char *const *settings) {
    struct config_machine *machine = &machines->machine[machines->count++];
    char error[CONFIG_ERROR_BYTES];
    bool is_good = config_load(machine, name, "machines", error, sizeof error);
    for (; is_good && *settings; settings++)
        is_good = config_set(machine, *settings, error, sizeof error);
    if (!is_good || !config_check(machine, error, sizeof error)) {
        fprintf(stderr, "%s\n", error);
        exit(1);
    }
    machine->limits.max_cycles = MOST_CYCLES;
}

/* One machine of each kind, made small. timing/machines runs the workloads on every machine of the folder. */
void machines_load(struct machines *machines) {
    machines->count = 0;
    add_machine(machines, "gtx480", (const char *const[]){"sm.count=2", NULL});
    add_machine(machines, "narasiman2011", (const char *const[]){"sm.count=1", NULL});
    add_machine(machines, "malits2012",
                (const char *const[]){"sm.count=3", "sm.threads=256", "sm.threads_per_block=256", NULL});
    add_machine(machines, "meng2010", (const char *const[]){"sm.count=2", "shared.size=16K", NULL});
    add_machine(machines, "h200", (const char *const[]){"sm.count=2", NULL});
}

const struct config_machine *machines_find(const struct machines *machines, const char *name) {
    for (unsigned i = 0; i < machines->count; i++)
        if (strcmp(machines->machine[i].name, name) == 0)
            return &machines->machine[i];
    return NULL;
}

/* --- a run --- */

static struct gpu_config config_for(const struct target *target, struct config_machine *machine, uint32_t check_every) {
    struct gpu_config config = gpu_default_config();
    config.memory_bytes = 64u << 20;
    config.max_instructions = ENDLESS_INSTRUCTIONS;
    bool is_lowered = target->machine && target->machine->lowering.target; /* instructions of the machine, not PTX's */
    config.records_threads = !target->n_threads && !is_lowered;
    config.n_threads = target->n_threads;
    if (!target->machine)
        return config;
    *machine = *target->machine;
    snprintf(machine->divergence, sizeof machine->divergence, "%s", target->divergence);
    snprintf(config.scheduler, sizeof config.scheduler, "%s", target->scheduler);
    if (target->n_sms)
        machine->sm.count = target->n_sms;
    if (target->most_blocks)
        machine->sm.blocks = target->most_blocks;
    gpu_config_use(&config, machine);
    config.check_every = check_every;
    config.keeps_step = target->keeps_step;
    return config;
}

/* Returns whether a rule of the model forbids the program; checked here to tell it from other errors. */
static bool is_refused(const struct target *target, const struct exec_program *program, char *text, size_t size) {
    const struct divergence_ops *ops;
    void *options;
    char rule[400];
    if (!target->machine)
        return false;
    if (!divergence_parse(target->divergence, &ops, &options, text, size))
        return true;
    const char *refusal = ops->refuses ? ops->refuses(options, target->machine, program, rule, sizeof rule) : NULL;
    if (refusal)
        snprintf(text, size, "%s", refusal);
    free(options);
    return refusal != NULL;
}

/* Collects what must be equal in every run. */
static void collect(struct outcome *outcome, struct gpu *gpu, struct gpu_module *module, uint64_t out, uint32_t bytes) {
    uint64_t sums = 0, sums_bytes = 0;
    uint32_t count;
    const struct gpu_profile *profile = gpu_profiles(gpu, &count);
    uint64_t n_counted = count ? profile->n_threads : 0;
    gpu_module_global(module, "sums", &sums, &sums_bytes);
    outcome->n_memory_words = bytes / 4 + N_SUMS;
    outcome->n_words = outcome->n_memory_words + (uint32_t)n_counted;
    outcome->words = malloc(outcome->n_words * sizeof *outcome->words);
    if (!outcome->words)
        abort();
    memcpy(outcome->words, gpu_host(gpu, out, bytes), bytes);
    memcpy(outcome->words + bytes / 4, gpu_host(gpu, sums, sums_bytes), sums_bytes);
    if (n_counted)
        memcpy(outcome->words + outcome->n_memory_words, profile->path, n_counted * sizeof *profile->path);
    outcome->counters = gpu_totals(gpu);
}

static void launch(const struct program *program, struct gpu *gpu, struct gpu_module *module, struct gpu_kernel *kernel,
                   struct outcome *outcome) {
    struct gpu_error error = {.status = GPU_OK};
    uint32_t n_threads = program_threads(program) * program->grid;
    uint32_t bytes = 4 * (n_threads * SLICE_WORDS + program->grid * N_SUMS);
    uint64_t out = gpu_malloc(gpu, bytes, 256);
    struct gpu_launch launch = {.kernel = kernel,
                                .shape.grid = {program->grid, 1, 1},
                                .shape.block = {program->block[0], program->block[1], program->block[2]},
                                .parameters = &out,
                                .parameter_bytes = sizeof out};
    if (gpu_launch(gpu, &launch, &error))
        collect(outcome, gpu, module, out, bytes);
    else
        snprintf(outcome->error, sizeof outcome->error, "%s", error.message);
}

static void load_and_launch(const struct program *program, const struct text *text, const struct target *target,
                            struct gpu *gpu, struct outcome *outcome) {
    struct ptx_messages messages = {0};
    struct gpu_module *module = gpu_module_load(gpu, "random.ptx", text->data, text->length, &messages);
    struct gpu_kernel *kernel = module ? gpu_module_kernel(module, "k", &messages) : NULL;
    bool is_narrow = target->machine && target->machine->sm.warp_size < EXEC_LANES;
    if (!kernel)
        snprintf(outcome->error, sizeof outcome->error, "%s", messages.text ? messages.text : "no kernel");
    else if (is_narrow && gpu_kernel_program(kernel)->uses_warps)
        outcome->is_refused = true;
    else if (is_refused(target, gpu_kernel_program(kernel), outcome->error, sizeof outcome->error))
        outcome->is_refused = true;
    else
        launch(program, gpu, module, kernel, outcome);
    ptx_messages_free(&messages);
}

void run_program(const struct program *program, const struct text *text, const struct target *target,
                 uint32_t check_every, struct outcome *outcome) {
    *outcome = (struct outcome){.is_refused = false};
    struct config_machine machine;
    struct gpu_config config = config_for(target, &machine, check_every);
    struct gpu_error error = {.status = GPU_OK};
    if (is_refused(target, NULL, outcome->error, sizeof outcome->error) ||
        (target->machine && program_threads(program) > machine.sm.threads_per_block)) {
        outcome->is_refused = true;
        return;
    }
    struct gpu *gpu = gpu_new(&config, &error);
    if (gpu)
        load_and_launch(program, text, target, gpu, outcome);
    else
        snprintf(outcome->error, sizeof outcome->error, "%s", error.message);
    gpu_free(gpu);
}

void outcome_free(struct outcome *outcome) { free(outcome->words); }

/* --- comparison --- */

static void locate(uint32_t word, const struct outcome *outcome, const struct program *program, char *text,
                   size_t size) {
    uint32_t n_threads = program_threads(program), n_slices = n_threads * program->grid;
    uint32_t thread = word / SLICE_WORDS;
    if (word >= outcome->n_memory_words) {
        thread = word - outcome->n_memory_words;
        snprintf(text, size, "instructions of block %u thread %u", thread / n_threads, thread % n_threads);
    } else if (word >= outcome->n_memory_words - N_SUMS) {
        snprintf(text, size, "sums[%u]", word - (outcome->n_memory_words - N_SUMS));
    } else if (thread >= n_slices) {
        uint32_t at = word - n_slices * SLICE_WORDS;
        snprintf(text, size, "tally[%u] of block %u", at % N_SUMS, at / N_SUMS);
    } else {
        snprintf(text, size, "word %u of block %u thread %u", word % SLICE_WORDS, thread / n_threads,
                 thread % n_threads);
    }
}

/* Returns whether the word depends on the order of atomics. */
static bool is_of_order(uint32_t word, const struct program *program) {
    return word % SLICE_WORDS == ORDER_WORD && word / SLICE_WORDS < program_threads(program) * program->grid;
}

bool outcome_agrees(const struct outcome *outcome, const struct outcome *expected, const struct program *program,
                    bool has_order, char *text, size_t size) {
    if (*outcome->error) {
        snprintf(text, size, "%s", outcome->error);
        return false;
    }
    char where[100];
    for (uint32_t i = 0; i < expected->n_words && i < outcome->n_words; i++)
        if (outcome->words[i] != expected->words[i] && (has_order || !is_of_order(i, program))) {
            locate(i, outcome, program, where, sizeof where);
            snprintf(text, size, "%s: %u, expected %u", where, outcome->words[i], expected->words[i]);
            return false;
        }
    return true;
}
