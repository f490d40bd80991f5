/* Times sections of launches in forks of the process (forks.c).
 *
 * The program runs once, functionally, and its accesses warm the caches of the timed machine. If a section will
 * probably be drawn, the process makes a fork where it begins. The fork holds the memory and the caches of this point,
 * and waits. The process runs the section functionally, counts its instructions and lines, and then lets the draw
 * (draw.c) decide whether the section is timed. If so, a fork that was made some blocks before the section times it. So
 * many blocks lie between them that the machine is as full of long and short blocks when the section begins as it would
 * be in the whole launch. Forks that time run beside the process, at most as many as the run has host threads. Their
 * results never reach the program. Where a segment begins, the draw waits for their times, whether they have arrived or
 * not. So neither results nor samples depend on the host.
 *
 * A fork costs host time, in proportion to the program's memory. A section is expected to have as much work as the last
 * one of its kernel and kind, in proportion to their blocks. If that was wrong the last time, the next section gets a
 * fork in any case, as long as all these forks take no longer than the program.
 *
 * If a launch is one section and will probably be drawn, the roles are exchanged: the process times it, and a fork runs
 * it functionally and counts. The caches are then those of a full run when the launch ends. The first launch of a
 * kernel needs no counts, because it only represents itself.
 *
 * Left out: the memory of gpu_pages_new(), which forks share with the process. While a program has such memory, no
 * section is timed. */
#include "gpu/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gpu/deviation.h"
#include "gpu/draw.h"
#include "gpu/engine.h"
#include "gpu/forks.h"
#include "sm/blocks.h"

enum {
    FEWEST_WAVES = 64, /* a launch of fewer waves is one section: its windows would take as long as the launch; a wave
                          is as many blocks as the machine holds */
    FEWEST_WAVES_OF_FIRST = 256, /* as much for the first launch of a kernel, of whose strata nothing is timed yet */
    SECTION_WAVES = 4,           /* of a section, at least */
    WARM_WAVES = 8,              /* that a window runs before its section, if all blocks are equally long */
    MOST_SECTIONS = 512,         /* of a launch */
    FREE_FORKS = 64,             /* are made, where the work was not as expected, whatever they cost */
    FORK_INSTRUCTIONS = 10000, /* a fork takes the host as long as about this many warp instructions, functionally... */
    FORK_PAGES = 2,            /* and one more for so many pages of memory; all forks at most as long as the program */
    PAGE_BYTES = 4096,
    RESULT_CYCLES = 8, /* from an instruction to the next that needs its result, roughly */
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
    struct gpu_forks forks;
    uint32_t n_tried; /* forks made because the work was not as expected */
    struct memory *memory;
    uint32_t n_memories;
    bool has_run_functionally;                /* some launch, so caches may differ from those of a full run */
    uint64_t fork_instructions, instructions; /* the cost of all forks, and the functional run's warp instructions */
    /* Of the launch that runs: */
    const struct exec_grid *grid;
    uint32_t first, last;     /* its sections */
    uint32_t open;            /* the section that the functional engine is in */
    uint32_t next_fork;       /* the section at whose start the next fork is made */
    uint64_t wave;            /* blocks */
    bool has_reached_last;    /* the fork for its last section has been made */
    struct stats_counters at; /* its counters when the open section began */
    struct gpu_warmed warmed_at;
    bool is_first_forks[MOST_SECTIONS + 2]; /* the fork from the launch's start will time this section */
    uint64_t longest;                       /* of the open section */
    double length, squares,
        n_ended_blocks; /* sums over its blocks: instructions of the longest row, and their squares */
};

static struct gpu_deviation deviation_of(void *user, const char *kernel, enum gpu_section_kind kind);

struct gpu_sections *gpu_sections_new(struct gpu *gpu) {
    struct gpu_sections *sections = base_allocate(1, sizeof *sections);
    sections->gpu = gpu;
    sections->draw = gpu_draw_new(gpu->config.draws, gpu->config.draw_error, deviation_of, sections);
    gpu_forks_open(&sections->forks, gpu);
    return sections;
}

/* The deviation of the sections timed so far. Waits for those that are being timed. */
static struct gpu_deviation deviation_of(void *user, const char *kernel, enum gpu_section_kind kind) {
    struct gpu_sections *sections = user;
    struct gpu_forks *forks = &sections->forks;
    for (uint32_t i = forks->n_running; i-- > 0;)
        for (uint32_t k = 0; k < forks->running[i].n; k++) {
            const struct gpu_section *section = &sections->section[forks->running[i].section[k]];
            if (section->kind == kind && sections->gpu->launch[section->launch].kernel == kernel) {
                gpu_forks_collect(forks, i, sections->section);
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

static bool is_one_section(const struct gpu_sections *sections, const char *kernel, const struct exec_grid *grid) {
    const struct gpu_timed *timed = sections->gpu->timed;
    uint64_t fewest = (has_run(sections, kernel) ? FEWEST_WAVES : FEWEST_WAVES_OF_FIRST) * wave_of(timed, grid);
    return exec_shape_blocks(&grid->shape) < fewest || !can_be_cut(timed, grid);
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
    if (record->is_timed || is_one_section(sections, record->kernel, grid)) {
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
        return is_one_section(sections, kernel, grid);
    if (!is_one_section(sections, kernel, grid) || gpu->memory.n_pages)
        return false;
    const struct gpu_section section = {.n_blocks = exec_shape_blocks(&grid->shape)};
    double work = expected_work(remember(sections, kernel, GPU_SECTION_WHOLE), &section);
    return gpu_draw_expects(sections->draw, kernel, GPU_SECTION_WHOLE, work, 0);
}

void gpu_sections_begin(struct gpu_sections *sections, struct gpu_kernel *kernel, const struct exec_grid *grid,
                        uint32_t launch) {
    sections->grid = grid;
    sections->first = sections->open = sections->next_fork = sections->n;
    sections->at = (struct stats_counters){0};
    sections->warmed_at = (struct gpu_warmed){0};
    sections->length = sections->squares = sections->n_ended_blocks = 0;
    sections->has_reached_last = false;
    memset(sections->is_first_forks, 0, sizeof sections->is_first_forks);
    cut(sections, launch);
    sections->last = sections->n;
    gpu_forks_begin(&sections->forks, kernel, grid);
    if (!sections->gpu->launch[launch].is_timed) {
        gpu_show_remark(sections->gpu->timed, grid, sections->gpu->launch[launch].kernel);
        return;
    }
    sections->next_fork = sections->last; /* a section that is timed needs none */
    if (sections->section[sections->first].kind == GPU_SECTION_WHOLE)
        gpu_forks_count(&sections->forks, &sections->longest);
}

uint32_t gpu_sections_sm(const struct gpu_sections *sections, uint64_t block) {
    uint32_t n_sms = sections->gpu->timed->machine.sm.count;
    if (block < sections->wave)
        return (uint32_t)(block % n_sms);
    uint64_t z = (block << 32 | sections->section[sections->first].launch) * UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)((z ^ z >> 32) % n_sms);
}

uint64_t gpu_sections_next(const struct gpu_sections *sections) {
    return sections->next_fork < sections->last ? sections->section[sections->next_fork].first_block : UINT64_MAX;
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

/* Returns the youngest fork that can time the open section, or UINT32_MAX. The fork from the launch's start need not be
 * so early. But it takes long to run from there to a late section, and only the last section is worth that. */
static uint32_t find_fork(const struct gpu_sections *sections) {
    const struct gpu_section *section = &sections->section[sections->open];
    double warm = warm_blocks(sections);
    bool is_late = (double)section->first_block > 4 * warm && section->kind == GPU_SECTION_MIDDLE;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < sections->forks.n_waiting; i++) {
        uint64_t block = sections->forks.waiting[i].block;
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

/* Returns whether a fork may be made that is perhaps not needed. */
static bool may_try(struct gpu_sections *sections, const struct stats_counters *counters) {
    uint64_t cost = FORK_INSTRUCTIONS + sections->gpu->memory.used / PAGE_BYTES / FORK_PAGES;
    uint64_t all = sections->instructions + counters->warp_instructions;
    bool is_free = sections->n_tried < FREE_FORKS;
    if (!is_free && sections->fork_instructions + cost > all)
        return false;
    sections->n_tried++;
    sections->fork_instructions += is_free ? 0 : cost;
    return true;
}

/* Ends forks that are much older than a section needs. The first of the launch stays. */
static void thin_out(struct gpu_sections *sections, uint32_t ahead) {
    struct gpu_forks *forks = &sections->forks;
    for (uint32_t i = forks->n_waiting; i-- > 0;) {
        const struct gpu_fork *fork = &forks->waiting[i];
        if (fork->block && sections->open - fork->made_at > 2 * ahead + 1)
            gpu_forks_end(forks, i);
    }
}

/* Returns whether section `number`, which is `ahead` sections of its kind away, will probably be drawn, or should have
 * a fork to be on the safe side. */
static bool deserves_fork(struct gpu_sections *sections, uint32_t number, uint32_t ahead,
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
    uint32_t fork = find_fork(sections);
    bool is_possible = fork != UINT32_MAX && is_done;
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
        if (sections->forks.waiting[fork].block)
            gpu_forks_start(&sections->forks, fork, sections->section, sections->open, 1, NULL);
        else
            sections->is_first_forks[sections->open - sections->first] = true;
    }
    sections->at = *counters;
    sections->warmed_at = *warmed;
    sections->open++;
}

/* A fork is made where section `number` begins. Returns how many sections later the first section begins that the fork
 * can time, or 0 if the launch is one section. */
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
        uint32_t number = sections->next_fork++;
        if (number > sections->first)
            close_section(sections, true, counters, warmed);
        uint32_t ahead = sections_ahead(sections, number);
        thin_out(sections, ahead);
        if (is_busy || sections->section[number].first_block != block)
            continue;
        bool is_first = number == sections->first, is_wanted = is_first && deserves_fork(sections, number, 0, counters);
        if (ahead && number + ahead + 1 < sections->last)
            is_wanted |= deserves_fork(sections, number + ahead, ahead - is_first, counters);
        else if (ahead && !sections->has_reached_last) /* the last section's fork must be made now */
            is_wanted |= sections->has_reached_last = deserves_fork(sections, sections->last - 1, 0, counters);
        if (is_wanted)
            gpu_forks_make(&sections->forks, number, block, counters->thread_instructions);
    }
}

/* Lets the fork from the launch's start time its sections. If it has to run half of the launch for them, it runs all of
 * the launch and times all sections. */
static void start_first_fork(struct gpu_sections *sections) {
    uint32_t n = sections->last - sections->first, end = 0;
    for (uint32_t i = 0; i < n; i++)
        end = sections->is_first_forks[i] ? i + 1 : end;
    bool is_early = 2 * end < n;
    if (end)
        gpu_forks_start(&sections->forks, 0, sections->section, sections->first, is_early ? end : n,
                        is_early ? sections->is_first_forks : NULL);
}

void gpu_sections_end(struct gpu_sections *sections, bool is_done, const struct stats_counters *counters,
                      const struct gpu_warmed *warmed) {
    struct gpu_section *section = &sections->section[sections->first];
    bool is_timed = sections->gpu->launch[section->launch].is_timed;
    struct gpu_fork_count count;
    if (is_timed && gpu_forks_counted(&sections->forks, &count)) {
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
    start_first_fork(sections);
    while (sections->forks.n_waiting)
        gpu_forks_end(&sections->forks, 0);
    sections->instructions += counters->warp_instructions;
}

const struct gpu_section *gpu_sections(struct gpu *gpu, uint32_t *count, struct gpu_error *error) {
    struct gpu_sections *sections = gpu->sections;
    *count = sections ? sections->n : 0;
    error->status = GPU_OK;
    if (!sections)
        return NULL;
    while (sections->forks.n_running)
        gpu_forks_collect(&sections->forks, 0, sections->section);
    *error = sections->forks.error;
    return sections->section;
}

void gpu_sections_free(struct gpu_sections *sections) {
    if (!sections)
        return;
    gpu_forks_close(&sections->forks, sections->section);
    for (uint32_t i = 0; i < sections->n; i++)
        free(sections->section[i].timed);
    gpu_draw_free(sections->draw);
    free(sections->memory);
    free(sections->section);
    free(sections);
}
