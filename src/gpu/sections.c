/* Times sections of launches in copies of the process.
 *
 * The program runs once, functionally, and its accesses warm the caches of the timed machine. Where a section begins
 * that will probably be drawn, the process makes a copy of itself (fork): the copy holds the memory, and the caches, as
 * they are at this point. It waits. The process runs the section functionally, counts its instructions and lines, and
 * then lets the draw (draw.c) decide whether the section is timed. If so, a copy that was made some blocks before the
 * section times it: so many that the machine is as full of long and short blocks when the section begins as it would be
 * in the whole launch. Copies that time run beside the process, at most as many as the run has host threads. What they
 * compute never reaches the program. The draw waits for their times where a segment begins, whether they are there
 * already or not, so neither results nor samples depend on the host.
 *
 * A copy costs host time, in proportion to the program's memory. A section is expected to have as much work as the last
 * one of its kernel and kind, in proportion to their blocks. If that was wrong the last time, the next section gets a
 * copy in any case, as long as all these copies take no longer than the program.
 *
 * If a launch is one section and will probably be drawn, the roles are exchanged: the process times it, and a copy runs
 * it functionally and counts. The caches are then those of a full run when the launch ends. The first launch of a
 * kernel needs no counts, as it stands for itself alone.
 *
 * Left out: the memory of gpu_pages_new(), which copies share with the process; while a program has some, no section is
 * timed. */
#define _GNU_SOURCE
#include "gpu/sections.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "gpu/deviation.h"
#include "gpu/draw.h"
#include "gpu/engine.h"
#include "sm/blocks.h"

enum {
    FEWEST_WAVES = 128,  /* a launch of fewer waves is one section: its windows would take as long as the launch; a wave
                            is as many blocks as the machine holds */
    SECTION_WAVES = 4,   /* of a section, at least */
    WARM_WAVES = 8,      /* that a window runs before its section, if all blocks are equally long */
    MOST_SECTIONS = 512, /* of a launch */
    MOST_WAITING = 24,   /* copies that wait */
    FREE_COPIES = 64,    /* are made, where the work was not as expected, whatever they cost */
    COPY_INSTRUCTIONS = 10000, /* a copy takes the host as long as about this many warp instructions, functionally... */
    COPY_PAGES = 2,            /* and one more for so many pages of memory; all copies at most as long as the program */
    PAGE_BYTES = 4096,
    RESULT_CYCLES = 8, /* from an instruction to the next that needs its result, roughly */
};

/* The process tells a copy the number of sections to time, and these follow as struct gpu_measure. 0: the copy ends. If
 * the launch is one section, the copy times it whole. The answer is an error or GPU_OK, and the same structures. */
struct copy {
    pid_t pid;
    int order, answer;            /* sockets */
    uint32_t made_at;             /* the section at whose begin it was made */
    uint64_t instructions, block; /* thread instructions of the launch, and its next block, at that time */
    uint32_t n, *section;         /* while it times: those that it measures */
};

/* What a copy counts in a launch that the process times. */
struct count {
    bool is_done;
    struct stats_counters counters;
    struct gpu_warmed warmed;
    uint64_t longest;
};

/* The last section of a kernel and kind. */
struct memory {
    const char *kernel;
    enum gpu_section_kind kind;
    double work;
    uint64_t n_blocks;
    bool was_expected; /* its work was */
};

struct gpu_sections {
    struct gpu *gpu;
    struct gpu_draw *draw;
    struct gpu_section *section;
    uint32_t n, capacity;
    struct copy waiting[MOST_WAITING], *running;
    uint32_t n_waiting, n_running, most_running;
    pid_t *ended;               /* copies that were not drawn */
    uint32_t n_ended, n_copies; /* n_copies: unexpected ones */
    struct memory *memory;
    uint32_t n_memories;
    bool has_run_functionally;                /* some launch, so caches may differ from those of a full run */
    uint64_t copy_instructions, instructions; /* the cost of all copies, and the functional run's warp instructions */
    struct gpu_error error;                   /* the first of a copy */
    /* Of the launch that runs: */
    struct gpu_kernel *kernel;
    const struct exec_grid *grid;
    uint32_t first, last;     /* its sections */
    uint32_t open;            /* the section that the functional engine is in */
    uint32_t next_copy;       /* the section at whose begin the next copy is made */
    uint64_t wave;            /* blocks */
    bool has_reached_last;    /* the copy for its last section has been made */
    pid_t counter;            /* the copy that counts, if the process times the launch; 0: none */
    int count;                /* the socket from which its struct count is read */
    struct stats_counters at; /* its counters when the open section began */
    struct gpu_warmed warmed_at;
    bool is_first_copys[MOST_SECTIONS + 2]; /* the copy from its begin will time this section */
    uint64_t longest;                       /* of the open section */
    double length, squares,
        n_ended_blocks; /* sums over its blocks: instructions of the longest row, and their squares */
};

static struct gpu_deviation deviation_of(void *user, const char *kernel, enum gpu_section_kind kind);

struct gpu_sections *gpu_sections_new(struct gpu *gpu) {
    struct gpu_sections *sections = base_allocate(1, sizeof *sections);
    sections->gpu = gpu;
    sections->draw = gpu_draw_new(gpu->config.draws, gpu->config.draw_error, deviation_of, sections);
    sections->most_running = gpu->config.n_threads > 1 ? gpu->config.n_threads : 1;
    sections->running = base_allocate(sections->most_running, sizeof *sections->running);
    sections->error.status = GPU_OK;
    return sections;
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

static bool read_all(int file, void *bytes, size_t size) {
    char *at = bytes;
    while (size) {
        ssize_t n = read(file, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        ssize_t n = send(file, at, size, MSG_NOSIGNAL); /* a copy may have been killed */
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static void reap(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* In the copy: nothing that it prints is seen, and it has no threads. */
static void become_copy(struct gpu *gpu) {
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0)
        _exit(1);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    gpu->config.n_threads = 1;
    gpu->config.shows_progress = false;
    gpu->timed->workers = NULL;
    gpu->is_copy_of = getppid();
}

/* In the copy: waits for its order, times sections and ends. */
static _Noreturn void time_sections(struct gpu_sections *sections, uint64_t first_block, int orders, int answers) {
    struct gpu *gpu = sections->gpu;
    struct gpu_window window = {.first_block = first_block};
    struct gpu_error error = {.status = GPU_OK};
    for (uint32_t i = 0; i < sections->n_waiting; i++) /* so that each copy notices if the process ends */
        close(sections->waiting[i].order);
    if (!read_all(orders, &window.n_measures, sizeof window.n_measures) || !window.n_measures)
        _exit(0);
    window.measure = base_allocate(window.n_measures, sizeof *window.measure);
    size_t bytes = window.n_measures * sizeof *window.measure;
    if (!read_all(orders, window.measure, bytes))
        _exit(1);
    become_copy(gpu);
    struct exec_grid grid = *sections->grid;
    const struct config_machine *machine = &gpu->timed->machine;
    grid.timer_shift = gpu_timed_shift(gpu->timed);
    grid.cycles_per_ns = machine->clock_ghz;
    grid.warp_size = machine->sm.warp_size;
    struct gpu_launch_record record = {.kernel = sections->kernel->program->name, .is_timed = true};
    bool is_whole = window.measure[0].kind == GPU_SECTION_WHOLE;
    if (!gpu_run_timed(gpu, sections->kernel, &grid, is_whole ? NULL : &window, &record, &error) &&
        error.status == GPU_OK)
        error.status = GPU_TRAP;
    if (is_whole)
        window.measure[0].measured = record.counters;
    _exit(!write_all(answers, &error, sizeof error) || !write_all(answers, window.measure, bytes));
}

/* In the copy: runs the launch functionally, sends its counts and ends. */
static _Noreturn void count_launch(struct gpu_sections *sections, int counts) {
    struct exec_grid grid = *sections->grid;
    struct gpu_error error = {.status = GPU_OK};
    struct count count = {.is_done = false};
    become_copy(sections->gpu);
    grid.timer_shift = 0;
    grid.cycles_per_ns = 0;
    grid.warp_size = EXEC_LANES;
    count.is_done = gpu_run_functional(sections->gpu, &grid, &count.counters, &count.warmed, &error);
    count.longest = sections->longest;
    _exit(!write_all(counts, &count, sizeof count));
}

static void make_counter(struct gpu_sections *sections) {
    int counts[2];
    sections->counter = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, counts) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(counts[0]);
        count_launch(sections, counts[1]);
    }
    close(counts[1]);
    if (pid < 0)
        close(counts[0]);
    sections->counter = pid > 0 ? pid : 0;
    sections->count = counts[0];
}

/* Waits for the copy that counts. Returns false if it could not. */
static bool collect_count(struct gpu_sections *sections, struct count *count) {
    if (!sections->counter)
        return false;
    bool is_good = read_all(sections->count, count, sizeof *count);
    close(sections->count);
    reap(sections->counter);
    sections->counter = 0;
    return is_good && count->is_done;
}

/* Returns whether a copy may be made that is perhaps in vain. */
static bool may_try(struct gpu_sections *sections, const struct stats_counters *counters) {
    uint64_t cost = COPY_INSTRUCTIONS + sections->gpu->memory.used / PAGE_BYTES / COPY_PAGES;
    uint64_t all = sections->instructions + counters->warp_instructions;
    bool is_free = sections->n_copies < FREE_COPIES;
    if (!is_free && sections->copy_instructions + cost > all)
        return false;
    sections->n_copies++;
    sections->copy_instructions += is_free ? 0 : cost;
    return true;
}

static void make_copy(struct gpu_sections *sections, uint32_t number, uint64_t block,
                      const struct stats_counters *counters) {
    int orders[2], answers[2];
    if (sections->n_waiting == MOST_WAITING || sections->gpu->memory.n_pages ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) != 0)
        return;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, answers) != 0) {
        close(orders[0]);
        close(orders[1]);
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(orders[1]);
        close(answers[0]);
        time_sections(sections, block, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    if (pid < 0) {
        close(orders[1]);
        close(answers[0]);
        return;
    }
    sections->waiting[sections->n_waiting++] = (struct copy){.pid = pid,
                                                             .order = orders[1],
                                                             .answer = answers[0],
                                                             .made_at = number,
                                                             .block = block,
                                                             .instructions = counters->thread_instructions};
}

/* Waits for copy number i of those that run, and keeps its answer. */
static void collect(struct gpu_sections *sections, uint32_t i) {
    struct copy copy = sections->running[i];
    struct gpu_measure measure;
    struct gpu_error error;
    sections->n_running--;
    memmove(&sections->running[i], &sections->running[i + 1], (sections->n_running - i) * sizeof *sections->running);
    bool is_good = read_all(copy.answer, &error, sizeof error);
    for (uint32_t k = 0; is_good && error.status == GPU_OK && k < copy.n; k++) {
        struct gpu_section *section = &sections->section[copy.section[k]];
        is_good = read_all(copy.answer, &measure, sizeof measure);
        if (!is_good || section->timed)
            continue;
        section->timed = base_allocate(1, sizeof *section->timed);
        *section->timed = measure.measured;
        memcpy(section->early_cycles, measure.early_cycles, sizeof section->early_cycles);
    }
    if (!is_good) {
        error.status = GPU_TRAP;
        snprintf(error.message, sizeof error.message,
                 "a copy of the process, which timed a launch of '%s', ended without an answer",
                 sections->gpu->launch[sections->section[copy.section[0]].launch].kernel);
    }
    if (error.status != GPU_OK && sections->error.status == GPU_OK)
        sections->error = error;
    close(copy.answer);
    free(copy.section);
    reap(copy.pid);
}

static void remove_waiting(struct gpu_sections *sections, uint32_t i) {
    sections->n_waiting--;
    memmove(&sections->waiting[i], &sections->waiting[i + 1], (sections->n_waiting - i) * sizeof *sections->waiting);
}

/* Lets waiting copy number `i` time n sections from `first` on, those that `is_wanted` (of all sections of the launch)
 * marks or, if it is NULL, all. */
static void start_copy(struct gpu_sections *sections, uint32_t i, uint32_t first, uint32_t n, const bool *is_wanted) {
    struct copy copy = sections->waiting[i];
    remove_waiting(sections, i);
    if (sections->n_running == sections->most_running)
        collect(sections, 0);
    copy.section = base_allocate(n, sizeof *copy.section);
    for (uint32_t k = first; k < first + n; k++)
        if (!is_wanted || is_wanted[k - first])
            copy.section[copy.n++] = k;
    bool is_sent = write_all(copy.order, &copy.n, sizeof copy.n);
    for (uint32_t k = 0; is_sent && k < copy.n; k++) {
        const struct gpu_section *section = &sections->section[copy.section[k]];
        const struct gpu_measure measure = {.kind = section->kind,
                                            .warm = section->instructions_before - copy.instructions,
                                            .counted = section->counted};
        is_sent = write_all(copy.order, &measure, sizeof measure);
    }
    close(copy.order);
    sections->running[sections->n_running++] = copy;
}

static void end_copy(struct gpu_sections *sections, uint32_t i) {
    const struct copy copy = sections->waiting[i];
    const uint32_t none = 0;
    remove_waiting(sections, i);
    if (!write_all(copy.order, &none, sizeof none))
        assert(errno); /* it has ended already */
    close(copy.order);
    close(copy.answer);
    sections->ended = base_grow(sections->ended, sections->n_ended + 1, sizeof *sections->ended);
    sections->ended[sections->n_ended++] = copy.pid;
}

/* Ends copies that are much older than a section needs. The first of the launch stays. */
static void thin_out(struct gpu_sections *sections, uint32_t ahead) {
    for (uint32_t i = sections->n_waiting; i-- > 0;) {
        const struct copy *copy = &sections->waiting[i];
        if (copy->block && sections->open - copy->made_at > 2 * ahead + 1)
            end_copy(sections, i);
    }
}

/* Lets the system forget copies that have ended. */
static void forget_ended(struct gpu_sections *sections, bool waits) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < sections->n_ended; i++) {
        if (waits)
            reap(sections->ended[i]);
        else if (waitpid(sections->ended[i], NULL, WNOHANG) == 0)
            sections->ended[n++] = sections->ended[i];
    }
    sections->n_ended = n;
}

/* The deviation of the sections timed so far. Waits for those that are being timed. */
static struct gpu_deviation deviation_of(void *user, const char *kernel, enum gpu_section_kind kind) {
    struct gpu_sections *sections = user;
    for (uint32_t i = sections->n_running; i-- > 0;)
        for (uint32_t k = 0; k < sections->running[i].n; k++) {
            const struct gpu_section *section = &sections->section[sections->running[i].section[k]];
            if (section->kind == kind && sections->gpu->launch[section->launch].kernel == kernel) {
                collect(sections, i);
                break;
            }
        }
    return gpu_deviation_of(sections->gpu, sections->section, sections->n, kernel, kind);
}

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

static struct gpu_section *add_section(struct gpu_sections *sections, enum gpu_section_kind kind, uint32_t launch,
                                       uint64_t first_block, uint64_t n_blocks) {
    if (sections->n == sections->capacity) {
        sections->capacity = sections->capacity ? 2 * sections->capacity : 64;
        sections->section = base_grow(sections->section, sections->capacity, sizeof *sections->section);
    }
    struct gpu_section *section = &sections->section[sections->n++];
    *section = (struct gpu_section){.launch = launch, .kind = kind, .first_block = first_block, .n_blocks = n_blocks};
    return section;
}

/* Returns whether blocks of the launch start in the order of their numbers, each by itself. */
static bool can_be_cut(const struct gpu_timed *timed, const struct exec_grid *grid) {
    return !grid->shape.is_cooperative && exec_shape_cluster(&grid->shape) == 1 && !timed->divergence->chip &&
           !timed->scheduler->choose_block && !timed->scheduler->blocks;
}

/* Returns how many blocks the machine holds at once. */
static uint64_t wave_of(const struct gpu_timed *timed, const struct exec_grid *grid) {
    const struct config_capacity capacity = config_capacity_of(&timed->machine);
    const struct config_demand block = sm_block_demand(grid);
    return (uint64_t)config_occupancy(&capacity, &block, NULL) * timed->machine.sm.count;
}

static bool is_one_section(const struct gpu_timed *timed, const struct exec_grid *grid) {
    return exec_shape_blocks(&grid->shape) < FEWEST_WAVES * wave_of(timed, grid) || !can_be_cut(timed, grid);
}

/* Returns the memory of the last section of this kind, or NULL. */
static struct memory *remember(const struct gpu_sections *sections, const char *kernel, enum gpu_section_kind kind) {
    for (uint32_t i = 0; i < sections->n_memories; i++)
        if (sections->memory[i].kernel == kernel && sections->memory[i].kind == kind)
            return &sections->memory[i];
    return NULL;
}

static bool has_run(const struct gpu_sections *sections, const char *kernel) {
    return remember(sections, kernel, GPU_SECTION_NEW) || remember(sections, kernel, GPU_SECTION_WHOLE) ||
           remember(sections, kernel, GPU_SECTION_FIRST);
}

/* Returns the work that a section probably has. */
static double expected_work(const struct memory *memory, const struct gpu_section *section) {
    return memory && memory->n_blocks ? memory->work * (double)section->n_blocks / (double)memory->n_blocks : 0;
}

static void cut(struct gpu_sections *sections, uint32_t launch) {
    const struct gpu_timed *timed = sections->gpu->timed;
    const struct exec_grid *grid = sections->grid;
    uint64_t wave = wave_of(timed, grid), n = exec_shape_blocks(&grid->shape), ends = SECTION_WAVES * wave;
    const struct gpu_launch_record *record = &sections->gpu->launch[launch];
    sections->wave = wave;
    if (record->is_timed || is_one_section(timed, grid)) {
        bool is_new = record->is_timed && !has_run(sections, record->kernel);
        add_section(sections, is_new ? GPU_SECTION_NEW : GPU_SECTION_WHOLE, launch, 0, n);
        return;
    }
    uint64_t waves = (n - 2 * ends) / wave / MOST_SECTIONS + 1;
    uint64_t size = (waves < SECTION_WAVES ? SECTION_WAVES : waves) * wave, at = ends;
    add_section(sections, GPU_SECTION_FIRST, launch, 0, ends);
    for (; at + size + ends <= n; at += size)
        add_section(sections, GPU_SECTION_MIDDLE, launch, at, size);
    add_section(sections, GPU_SECTION_LAST, launch, at, n - at);
    for (uint32_t i = sections->first; i < sections->n; i++)
        sections->section[i].n_later = sections->n - 1 - i;
}

static struct memory *memory_for(struct gpu_sections *sections, const char *kernel, enum gpu_section_kind kind) {
    struct memory *memory = remember(sections, kernel, kind);
    if (memory)
        return memory;
    sections->memory = base_grow(sections->memory, sections->n_memories + 1, sizeof *sections->memory);
    memory = &sections->memory[sections->n_memories++];
    *memory = (struct memory){.kernel = kernel, .kind = kind};
    return memory;
}

bool gpu_sections_time(struct gpu_sections *sections, const char *kernel, const struct exec_grid *grid) {
    const struct gpu *gpu = sections->gpu;
    if (!has_run(sections, kernel))
        return is_one_section(gpu->timed, grid);
    if (!is_one_section(gpu->timed, grid) || gpu->memory.n_pages)
        return false;
    const struct gpu_section section = {.n_blocks = exec_shape_blocks(&grid->shape)};
    double work = expected_work(remember(sections, kernel, GPU_SECTION_WHOLE), &section);
    return gpu_draw_expects(sections->draw, kernel, GPU_SECTION_WHOLE, work, 0);
}

void gpu_sections_begin(struct gpu_sections *sections, struct gpu_kernel *kernel, const struct exec_grid *grid,
                        uint32_t launch) {
    sections->kernel = kernel;
    sections->grid = grid;
    sections->first = sections->open = sections->next_copy = sections->n;
    sections->at = (struct stats_counters){0};
    sections->warmed_at = (struct gpu_warmed){0};
    sections->length = sections->squares = sections->n_ended_blocks = 0;
    sections->has_reached_last = false;
    memset(sections->is_first_copys, 0, sizeof sections->is_first_copys);
    cut(sections, launch);
    sections->last = sections->n;
    forget_ended(sections, false);
    if (!sections->gpu->launch[launch].is_timed) {
        gpu_show_remark(sections->gpu->timed, grid, sections->gpu->launch[launch].kernel);
        return;
    }
    sections->next_copy = sections->last; /* a section that is timed needs none */
    if (sections->section[sections->first].kind == GPU_SECTION_WHOLE)
        make_counter(sections);
}

uint32_t gpu_sections_sm(const struct gpu_sections *sections, uint64_t block) {
    uint32_t n_sms = sections->gpu->timed->machine.sm.count;
    if (block < sections->wave)
        return (uint32_t)(block % n_sms);
    uint64_t z = (block << 32 | sections->section[sections->first].launch) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)((z ^ z >> 32) % n_sms);
}

uint64_t gpu_sections_next(const struct gpu_sections *sections) {
    return sections->next_copy < sections->last ? sections->section[sections->next_copy].first_block : UINT64_MAX;
}

void gpu_sections_add_block(struct gpu_sections *sections, uint64_t length) {
    sections->length += (double)length;
    sections->squares += (double)length * (double)length;
    sections->n_ended_blocks++;
    sections->longest = length > sections->longest ? length : sections->longest;
}

/* Returns how many blocks must run before a section. While a long block runs, many short ones pass, so the more the
 * blocks differ, the more of them must run. */
static double warm_blocks(const struct gpu_sections *sections) {
    double mean = sections->length / sections->n_ended_blocks, squares = sections->squares / sections->n_ended_blocks;
    return WARM_WAVES * (double)sections->wave * (mean > 0 ? squares / (mean * mean) : 1);
}

/* Returns the youngest copy that can time the open section, or UINT32_MAX. The copy from the launch's begin need not be
 * so early, but running from there to a late section takes long; only the last one is worth that. */
static uint32_t find_copy(const struct gpu_sections *sections) {
    const struct gpu_section *section = &sections->section[sections->open];
    double warm = warm_blocks(sections);
    bool is_late = (double)section->first_block > 4 * warm && section->kind == GPU_SECTION_MIDDLE;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < sections->n_waiting; i++) {
        uint64_t block = sections->waiting[i].block;
        if (block ? (double)block + warm <= (double)section->first_block : !is_late)
            found = i;
    }
    return found;
}

/* The machine's peaks let a section take this many cycles: it issues, moves lines, and waits for results. */
static double work_of(const struct gpu_section *section, const struct config_machine *machine) {
    double issue = (double)machine->sm.count * machine->sm.schedulers * machine->sm.simd_width / machine->sm.warp_size;
    double bytes = machine->dram.channels * machine->dram.bytes_per_cycle;
    double line_bytes = machine->l2.cache.is_present ? machine->l2.cache.line_bytes : machine->l1.cache.line_bytes;
    double work = (double)section->counted.warp_instructions / issue + RESULT_CYCLES * (double)section->longest;
    return work + (bytes > 0 ? (double)section->warmed.missed_lines * line_bytes / bytes : 0) + 1;
}

/* A line from DRAM occupies the bus, or one of the warps on the machine waits for it. */
static double line_cycles_of(const struct gpu_sections *sections) {
    const struct config_machine *machine = &sections->gpu->timed->machine;
    double bytes = machine->dram.channels * machine->dram.bytes_per_cycle, blocks = (double)sections->wave;
    double line_bytes = machine->l2.cache.is_present ? machine->l2.cache.line_bytes : machine->l1.cache.line_bytes;
    double n_blocks = (double)exec_shape_blocks(&sections->grid->shape);
    double warps = (n_blocks < blocks ? n_blocks : blocks) *
                   ceil((double)exec_shape_threads(&sections->grid->shape) / machine->sm.warp_size);
    return fmax(bytes > 0 ? line_bytes / bytes : 0, machine->dram.row_conflict_cycles / fmax(warps, 1));
}

/* Returns whether section `number`, which is `ahead` sections of its kind away, will probably be drawn, or should have
 * a copy to be on the safe side. */
static bool deserves_copy(struct gpu_sections *sections, uint32_t number, uint32_t ahead,
                          const struct stats_counters *counters) {
    const struct gpu_section *section = &sections->section[number];
    const char *kernel = sections->gpu->launch[section->launch].kernel;
    const struct memory *memory = remember(sections, kernel, section->kind);
    if (!memory || gpu_draw_expects(sections->draw, kernel, section->kind, expected_work(memory, section), ahead))
        return true;
    return !memory->was_expected && may_try(sections, counters);
}

/* Ends the open section, and decides whether it is timed. */
static void close_section(struct gpu_sections *sections, bool is_done, const struct stats_counters *counters,
                          const struct gpu_warmed *warmed) {
    struct gpu_section *section = &sections->section[sections->open];
    section->counted = *counters;
    stats_subtract(&section->counted, &sections->at);
    section->counted.blocks = section->n_blocks;
    section->warmed.touched_lines = warmed->touched_lines - sections->warmed_at.touched_lines;
    section->warmed.missed_lines = warmed->missed_lines - sections->warmed_at.missed_lines;
    section->longest = sections->longest;
    section->line_cycles = line_cycles_of(sections);
    sections->longest = 0;
    section->work = work_of(section, &sections->gpu->timed->machine);
    section->instructions_before = sections->at.thread_instructions;
    const char *kernel = sections->gpu->launch[section->launch].kernel;
    uint32_t copy = find_copy(sections);
    bool is_possible = copy != UINT32_MAX && is_done;
    struct memory *memory = memory_for(sections, kernel, section->kind);
    int size, expected;
    frexp(section->work, &size);
    frexp(expected_work(memory, section), &expected);
    *memory = (struct memory){kernel, section->kind, section->work, section->n_blocks, size == expected};
    if (section->kind == GPU_SECTION_NEW) {
        gpu_draw_add_timed(sections->draw, section);
    } else if (sections->gpu->launch[section->launch].is_timed) {
        gpu_draw_add(sections->draw, kernel, section, true);
    } else if (gpu_draw_add(sections->draw, kernel, section, is_possible)) {
        if (sections->waiting[copy].block)
            start_copy(sections, copy, sections->open, 1, NULL);
        else
            sections->is_first_copys[sections->open - sections->first] = true;
    }
    sections->at = *counters;
    sections->warmed_at = *warmed;
    sections->open++;
}

/* Returns how many sections later the first one begins that a copy can time which is made where section `number`
 * begins; 0: a launch of one section. */
static uint32_t sections_ahead(const struct gpu_sections *sections, uint32_t number) {
    const struct gpu_section *section = &sections->section[number];
    if (section->kind == GPU_SECTION_WHOLE || section->kind == GPU_SECTION_NEW)
        return 0;
    double ahead = ceil(warm_blocks(sections) / (double)section->n_blocks);
    return ahead < MOST_SECTIONS ? (uint32_t)ahead : MOST_SECTIONS;
}

void gpu_sections_reach(struct gpu_sections *sections, uint64_t block, bool is_busy,
                        const struct stats_counters *counters, const struct gpu_warmed *warmed) {
    while (gpu_sections_next(sections) <= block) {
        uint32_t number = sections->next_copy++;
        if (number > sections->first)
            close_section(sections, true, counters, warmed);
        uint32_t ahead = sections_ahead(sections, number);
        thin_out(sections, ahead);
        if (is_busy || sections->section[number].first_block != block)
            continue;
        bool is_first = number == sections->first, is_wanted = is_first && deserves_copy(sections, number, 0, counters);
        if (ahead && number + ahead + 1 < sections->last)
            is_wanted |= deserves_copy(sections, number + ahead, ahead - is_first, counters);
        else if (ahead && !sections->has_reached_last) /* the last section's copy must be made now */
            is_wanted |= sections->has_reached_last = deserves_copy(sections, sections->last - 1, 0, counters);
        if (is_wanted)
            make_copy(sections, number, block, counters);
    }
}

/* Lets the copy from the launch's begin time the sections that it got. If it has to run half of the launch for them, it
 * runs all of it and times all sections. */
static void start_first_copy(struct gpu_sections *sections) {
    uint32_t n = sections->last - sections->first, end = 0;
    for (uint32_t i = 0; i < n; i++)
        end = sections->is_first_copys[i] ? i + 1 : end;
    if (end)
        start_copy(sections, 0, sections->first, 2 * end < n ? end : n, 2 * end < n ? sections->is_first_copys : NULL);
}

void gpu_sections_end(struct gpu_sections *sections, bool is_done, const struct stats_counters *counters,
                      const struct gpu_warmed *warmed) {
    struct gpu_section *section = &sections->section[sections->first];
    bool is_timed = sections->gpu->launch[section->launch].is_timed;
    struct count count;
    if (is_timed && collect_count(sections, &count)) {
        sections->longest = count.longest;
        close_section(sections, is_done, &count.counters, &count.warmed);
    }
    while (sections->open < sections->last)
        close_section(sections, is_done, counters, warmed);
    section = &sections->section[sections->first];
    if (is_timed && is_done) {
        section->timed = base_allocate(1, sizeof *section->timed);
        *section->timed = *counters;
        section->has_true_caches = !sections->has_run_functionally;
    }
    sections->has_run_functionally |= !is_timed;
    start_first_copy(sections);
    while (sections->n_waiting)
        end_copy(sections, 0);
    sections->instructions += counters->warp_instructions;
}

const struct gpu_section *gpu_sections(struct gpu *gpu, uint32_t *count, struct gpu_error *error) {
    struct gpu_sections *sections = gpu->sections;
    *count = sections ? sections->n : 0;
    error->status = GPU_OK;
    if (!sections)
        return NULL;
    while (sections->n_running)
        collect(sections, 0);
    *error = sections->error;
    return sections->section;
}

void gpu_sections_free(struct gpu_sections *sections) {
    if (!sections)
        return;
    while (sections->n_running)
        collect(sections, 0);
    forget_ended(sections, true);
    for (uint32_t i = 0; i < sections->n; i++)
        free(sections->section[i].timed);
    gpu_draw_free(sections->draw);
    free(sections->memory);
    free(sections->section);
    free(sections->running);
    free(sections->ended);
    free(sections);
}
