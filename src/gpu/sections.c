/* Times sections of launches in copies of the process.
 *
 * The program runs once, functionally, and its accesses warm the caches of the timed machine. Where a section begins,
 * the process makes a copy of itself (fork): the copy holds the memory, and the caches, as they are at this point. It
 * waits. The process runs the section functionally, counts its instructions and lines, and then lets the draw (draw.c)
 * decide whether the section is timed. If so, a copy that was made some blocks before the section times it: so many
 * that the machine is as full of long and short blocks when the section begins as it would be in the whole launch.
 * Copies that time run beside the process, at most as many as the run has host threads. What they compute never reaches
 * the program, and the draw does not wait for them, so neither results nor samples depend on the host.
 *
 * A copy costs host time, in proportion to the program's memory. If the sections are too short for it, only some of
 * them get a copy, and the draw chooses among these.
 *
 * Left out: the memory of gpu_pages_new(), which copies share with the process; while a program has some, no section is
 * timed. */
#define _GNU_SOURCE
#include "gpu/sections.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "gpu/draw.h"
#include "gpu/engine.h"
#include "sm/blocks.h"

enum {
    FEWEST_WAVES = 32,   /* a launch of fewer waves is one section; a wave is as many blocks as the machine holds */
    SECTION_WAVES = 4,   /* of a section, at least */
    WARM_WAVES = 4,      /* that a window runs before its section, if all blocks are equally long */
    MOST_SECTIONS = 128, /* of a launch */
    MOST_WAITING = 24,   /* copies that wait */
    FREE_COPIES = 256,   /* are made whatever they cost */
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

struct gpu_sections {
    struct gpu *gpu;
    struct gpu_draw *draw;
    struct gpu_section *section;
    uint32_t n, capacity;
    struct copy waiting[MOST_WAITING], *running;
    uint32_t n_waiting, n_running, most_running;
    pid_t *ended; /* copies that were not drawn */
    uint32_t n_ended, n_copies;
    uint64_t copy_instructions, instructions; /* the cost of all copies, and the functional run's warp instructions */
    struct gpu_error error;                   /* the first of a copy */
    /* Of the launch that runs: */
    struct gpu_kernel *kernel;
    const struct exec_grid *grid;
    uint32_t first, last;     /* its sections */
    uint32_t open;            /* the section that the functional engine is in */
    uint32_t next_copy;       /* the section at whose begin the next copy is made */
    uint64_t wave;            /* blocks */
    struct stats_counters at; /* its counters when the open section began */
    struct gpu_warmed warmed_at;
    bool is_first_copys[MOST_SECTIONS + 2]; /* the copy from its begin will time this section */
    uint64_t longest;                       /* of the open section */
    double length, squares,
        n_ended_blocks; /* sums over its blocks: instructions of the longest row, and their squares */
};

struct gpu_sections *gpu_sections_new(struct gpu *gpu) {
    struct gpu_sections *sections = base_allocate(1, sizeof *sections);
    sections->gpu = gpu;
    sections->draw = gpu_draw_new(gpu->config.draws);
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
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!read_all(orders, window.measure, bytes) || nothing < 0)
        _exit(1);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    struct exec_grid grid = *sections->grid;
    const struct config_machine *machine = &gpu->timed->machine;
    grid.timer_shift = gpu_timed_shift(gpu->timed);
    grid.cycles_per_ns = machine->clock_ghz;
    grid.warp_size = machine->sm.warp_size;
    gpu->config.n_threads = 1;
    gpu->config.shows_progress = false;
    gpu->timed->workers = NULL;
    gpu->is_copy_of = getppid();
    struct gpu_launch_record record = {.kernel = sections->kernel->program->name, .is_timed = true};
    bool is_whole = window.measure[0].kind == GPU_SECTION_WHOLE;
    if (!gpu_run_timed(gpu, sections->kernel, &grid, is_whole ? NULL : &window, &record, &error) &&
        error.status == GPU_OK)
        error.status = GPU_TRAP;
    if (is_whole)
        window.measure[0].measured = record.counters;
    _exit(!write_all(answers, &error, sizeof error) || !write_all(answers, window.measure, bytes));
}

/* Returns whether a copy may be made now. */
static bool may_copy(struct gpu_sections *sections, const struct stats_counters *counters) {
    const struct gpu *gpu = sections->gpu;
    uint64_t cost = COPY_INSTRUCTIONS + gpu->memory.used / PAGE_BYTES / COPY_PAGES;
    uint64_t all = sections->instructions + counters->warp_instructions;
    bool is_free = sections->n_copies < FREE_COPIES;
    if (sections->n_waiting == MOST_WAITING || gpu->memory.n_pages ||
        (!is_free && sections->copy_instructions + cost > all))
        return false;
    sections->copy_instructions += is_free ? 0 : cost;
    return true;
}

static void make_copy(struct gpu_sections *sections, uint32_t number, uint64_t block,
                      const struct stats_counters *counters) {
    int orders[2], answers[2];
    if (!may_copy(sections, counters) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) != 0)
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
    sections->n_copies++;
    sections->waiting[sections->n_waiting++] = (struct copy){.pid = pid,
                                                             .order = orders[1],
                                                             .answer = answers[0],
                                                             .made_at = number,
                                                             .block = block,
                                                             .instructions = counters->thread_instructions};
}

/* Waits for the oldest copy that runs, and keeps its answer. */
static void collect_one(struct gpu_sections *sections) {
    struct copy copy = sections->running[0];
    struct gpu_measure measure;
    struct gpu_error error;
    sections->n_running--;
    memmove(sections->running, sections->running + 1, sections->n_running * sizeof *sections->running);
    bool is_good = read_all(copy.answer, &error, sizeof error);
    for (uint32_t i = 0; is_good && error.status == GPU_OK && i < copy.n; i++) {
        struct gpu_section *section = &sections->section[copy.section[i]];
        is_good = read_all(copy.answer, &measure, sizeof measure);
        if (!is_good || section->timed)
            continue;
        section->timed = base_allocate(1, sizeof *section->timed);
        *section->timed = measure.measured;
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
        collect_one(sections);
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

/* Ends copies so that there are enough of any age: more recent ones than old ones. The first of the launch stays. */
static void thin_out(struct gpu_sections *sections) {
    for (uint32_t i = sections->n_waiting; i-- > 0;) {
        uint32_t number = sections->waiting[i].made_at - sections->first;
        uint32_t age = sections->open - sections->waiting[i].made_at, lowest = number & (0u - number);
        if (number && age > 2 * lowest)
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

static void cut(struct gpu_sections *sections, uint32_t launch) {
    const struct gpu_timed *timed = sections->gpu->timed;
    const struct exec_grid *grid = sections->grid;
    const struct config_capacity capacity = config_capacity_of(&timed->machine);
    const struct config_demand block = sm_block_demand(grid);
    uint64_t wave = (uint64_t)config_occupancy(&capacity, &block, NULL) * timed->machine.sm.count;
    uint64_t n = exec_shape_blocks(&grid->shape), ends = SECTION_WAVES * wave;
    sections->wave = wave;
    if (n < FEWEST_WAVES * wave || !can_be_cut(timed, grid)) {
        add_section(sections, GPU_SECTION_WHOLE, launch, 0, n);
        return;
    }
    uint64_t waves = (n - 2 * ends) / wave / MOST_SECTIONS + 1;
    uint64_t size = (waves < SECTION_WAVES ? SECTION_WAVES : waves) * wave, at = ends;
    add_section(sections, GPU_SECTION_FIRST, launch, 0, ends);
    for (; at + size + ends <= n; at += size)
        add_section(sections, GPU_SECTION_MIDDLE, launch, at, size);
    add_section(sections, GPU_SECTION_LAST, launch, at, n - at);
}

void gpu_sections_begin(struct gpu_sections *sections, struct gpu_kernel *kernel, const struct exec_grid *grid,
                        uint32_t launch) {
    sections->kernel = kernel;
    sections->grid = grid;
    sections->first = sections->open = sections->next_copy = sections->n;
    sections->at = (struct stats_counters){0};
    sections->warmed_at = (struct gpu_warmed){0};
    sections->length = sections->squares = sections->n_ended_blocks = 0;
    memset(sections->is_first_copys, 0, sizeof sections->is_first_copys);
    gpu_show_remark(sections->gpu->timed, grid, sections->gpu->launch[launch].kernel);
    cut(sections, launch);
    sections->last = sections->n;
    forget_ended(sections, false);
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

/* Returns the youngest copy that can time the open section, or UINT32_MAX. While a long block runs, many short ones
 * pass, so the more the blocks differ, the more of them must run before the section. The copy from the launch's begin
 * need not be so early, but running from there to a late section takes long; only the last one is worth that. */
static uint32_t find_copy(const struct gpu_sections *sections) {
    const struct gpu_section *section = &sections->section[sections->open];
    double mean = sections->length / sections->n_ended_blocks, squares = sections->squares / sections->n_ended_blocks;
    double warm = WARM_WAVES * (double)sections->wave * (mean > 0 ? squares / (mean * mean) : 1);
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
    sections->longest = 0;
    section->work = work_of(section, &sections->gpu->timed->machine);
    section->instructions_before = sections->at.thread_instructions;
    uint32_t copy = find_copy(sections);
    bool is_possible = copy != UINT32_MAX && is_done;
    if (gpu_draw_add(sections->draw, sections->gpu->launch[section->launch].kernel, section, is_possible)) {
        if (sections->waiting[copy].block)
            start_copy(sections, copy, sections->open, 1, NULL);
        else
            sections->is_first_copys[sections->open - sections->first] = true;
    }
    sections->at = *counters;
    sections->warmed_at = *warmed;
    sections->open++;
}

void gpu_sections_reach(struct gpu_sections *sections, uint64_t block, bool is_busy,
                        const struct stats_counters *counters, const struct gpu_warmed *warmed) {
    while (gpu_sections_next(sections) <= block) {
        uint32_t number = sections->next_copy++;
        if (number > sections->first)
            close_section(sections, true, counters, warmed);
        thin_out(sections);
        if (!is_busy && sections->section[number].first_block == block)
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
    while (sections->open < sections->last)
        close_section(sections, is_done, counters, warmed);
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
        collect_one(sections);
    *error = sections->error;
    return sections->section;
}

void gpu_sections_free(struct gpu_sections *sections) {
    if (!sections)
        return;
    while (sections->n_running)
        collect_one(sections);
    forget_ended(sections, true);
    for (uint32_t i = 0; i < sections->n; i++)
        free(sections->section[i].timed);
    gpu_draw_free(sections->draw);
    free(sections->section);
    free(sections->running);
    free(sections->ended);
    free(sections);
}
