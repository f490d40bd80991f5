/* A fork and the process talk over two sockets. The process sends the number of sections to time, followed by that many
 * struct gpu_measure. 0 ends the fork. If the launch is one section, the fork times the whole launch. The fork answers
 * with an error, or GPU_OK, and the same structures. */
#define _GNU_SOURCE
#include "gpu/forks.h"

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
#include "gpu/engine.h"

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
        ssize_t n = send(file, at, size, MSG_NOSIGNAL); /* a fork may have been killed */
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

/* ---- In the fork ------------------------------------------------------------------------------------------------- */

/* A fork prints nothing, and has no threads. */
static void become_fork(struct gpu *gpu) {
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

/* Waits for an order, times sections and ends. */
static _Noreturn void time_sections(struct gpu_forks *forks, uint64_t first_block, int orders, int answers) {
    struct gpu *gpu = forks->gpu;
    struct gpu_window window = {.first_block = first_block};
    struct gpu_error error = {.status = GPU_OK};
    for (uint32_t i = 0; i < forks->n_waiting; i++) /* so that each fork notices if the process ends */
        close(forks->waiting[i].order);
    if (!read_all(orders, &window.n_measures, sizeof window.n_measures) || !window.n_measures)
        _exit(0);
    window.measure = base_allocate(window.n_measures, sizeof *window.measure);
    size_t bytes = window.n_measures * sizeof *window.measure;
    if (!read_all(orders, window.measure, bytes))
        _exit(1);
    become_fork(gpu);
    struct exec_grid grid = *forks->grid;
    const struct config_machine *machine = &gpu->timed->machine;
    grid.timer_shift = gpu_timed_shift(gpu->timed);
    grid.cycles_per_ns = machine->clock_ghz;
    grid.warp_size = machine->sm.warp_size;
    struct gpu_launch_record record = {.kernel = forks->kernel->program->name, .is_timed = true};
    bool is_whole = window.measure[0].kind == GPU_SECTION_WHOLE;
    if (!gpu_run_timed(gpu, forks->kernel, &grid, is_whole ? NULL : &window, &record, &error) && error.status == GPU_OK)
        error.status = GPU_TRAP;
    if (is_whole)
        window.measure[0].measured = record.counters;
    _exit(!write_all(answers, &error, sizeof error) || !write_all(answers, window.measure, bytes));
}

/* Runs the launch functionally, sends its counts and ends. */
static _Noreturn void count_launch(struct gpu_forks *forks, const uint64_t *longest, int counts) {
    struct exec_grid grid = *forks->grid;
    struct gpu_error error = {.status = GPU_OK};
    struct gpu_fork_count count = {.is_done = false};
    become_fork(forks->gpu);
    grid.timer_shift = 0;
    grid.cycles_per_ns = 0;
    grid.warp_size = EXEC_LANES;
    count.is_done = gpu_run_functional(forks->gpu, &grid, &count.counters, &count.warmed, &error);
    count.longest = *longest;
    _exit(!write_all(counts, &count, sizeof count));
}

/* ---- In the process ---------------------------------------------------------------------------------------------- */

void gpu_forks_open(struct gpu_forks *forks, struct gpu *gpu) {
    forks->gpu = gpu;
    forks->most_running = gpu->config.n_threads > 1 ? gpu->config.n_threads : 1;
    forks->running = base_allocate(forks->most_running, sizeof *forks->running);
    forks->error.status = GPU_OK;
}

/* Lets the system forget forks that have ended. */
static void forget_ended(struct gpu_forks *forks, bool waits) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < forks->n_ended; i++) {
        if (waits)
            reap(forks->ended[i]);
        else if (waitpid(forks->ended[i], NULL, WNOHANG) == 0)
            forks->ended[n++] = forks->ended[i];
    }
    forks->n_ended = n;
}

void gpu_forks_begin(struct gpu_forks *forks, struct gpu_kernel *kernel, const struct exec_grid *grid) {
    forks->kernel = kernel;
    forks->grid = grid;
    forget_ended(forks, false);
}

void gpu_forks_make(struct gpu_forks *forks, uint32_t number, uint64_t block, uint64_t instructions) {
    int orders[2], answers[2];
    if (forks->n_waiting == GPU_MOST_WAITING_FORKS || forks->gpu->memory.n_pages ||
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
        time_sections(forks, block, orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    if (pid < 0) {
        close(orders[1]);
        close(answers[0]);
        return;
    }
    forks->waiting[forks->n_waiting++] = (struct gpu_fork){.pid = pid,
                                                           .order = orders[1],
                                                           .answer = answers[0],
                                                           .made_at = number,
                                                           .block = block,
                                                           .instructions = instructions};
}

static void remove_waiting(struct gpu_forks *forks, uint32_t i) {
    forks->n_waiting--;
    memmove(&forks->waiting[i], &forks->waiting[i + 1], (forks->n_waiting - i) * sizeof *forks->waiting);
}

void gpu_forks_start(struct gpu_forks *forks, uint32_t i, struct gpu_section *all, uint32_t first, uint32_t n,
                     const bool *is_wanted) {
    struct gpu_fork fork = forks->waiting[i];
    remove_waiting(forks, i);
    if (forks->n_running == forks->most_running)
        gpu_forks_collect(forks, 0, all);
    fork.section = base_allocate(n, sizeof *fork.section);
    for (uint32_t k = first; k < first + n; k++)
        if (!is_wanted || is_wanted[k - first])
            fork.section[fork.n++] = k;
    bool is_sent = write_all(fork.order, &fork.n, sizeof fork.n);
    for (uint32_t k = 0; is_sent && k < fork.n; k++) {
        const struct gpu_section *section = &all[fork.section[k]];
        const struct gpu_measure measure = {.kind = section->kind,
                                            .warm = section->instructions_before - fork.instructions,
                                            .counted = section->counted};
        is_sent = write_all(fork.order, &measure, sizeof measure);
    }
    close(fork.order);
    forks->running[forks->n_running++] = fork;
}

void gpu_forks_end(struct gpu_forks *forks, uint32_t i) {
    const struct gpu_fork fork = forks->waiting[i];
    const uint32_t none = 0;
    remove_waiting(forks, i);
    if (!write_all(fork.order, &none, sizeof none))
        assert(errno); /* it has ended already */
    close(fork.order);
    close(fork.answer);
    forks->ended = base_grow(forks->ended, forks->n_ended + 1, sizeof *forks->ended);
    forks->ended[forks->n_ended++] = fork.pid;
}

void gpu_forks_collect(struct gpu_forks *forks, uint32_t i, struct gpu_section *all) {
    struct gpu_fork fork = forks->running[i];
    struct gpu_measure measure;
    struct gpu_error error;
    forks->n_running--;
    memmove(&forks->running[i], &forks->running[i + 1], (forks->n_running - i) * sizeof *forks->running);
    bool is_good = read_all(fork.answer, &error, sizeof error);
    for (uint32_t k = 0; is_good && error.status == GPU_OK && k < fork.n; k++) {
        struct gpu_section *section = &all[fork.section[k]];
        is_good = read_all(fork.answer, &measure, sizeof measure);
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
                 forks->gpu->launch[all[fork.section[0]].launch].kernel);
    }
    if (error.status != GPU_OK && forks->error.status == GPU_OK)
        forks->error = error;
    close(fork.answer);
    free(fork.section);
    reap(fork.pid);
}

void gpu_forks_count(struct gpu_forks *forks, const uint64_t *longest) {
    int counts[2];
    forks->counter = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, counts) != 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(counts[0]);
        count_launch(forks, longest, counts[1]);
    }
    close(counts[1]);
    if (pid < 0)
        close(counts[0]);
    forks->counter = pid > 0 ? pid : 0;
    forks->count = counts[0];
}

bool gpu_forks_counted(struct gpu_forks *forks, struct gpu_fork_count *count) {
    if (!forks->counter)
        return false;
    bool is_good = read_all(forks->count, count, sizeof *count);
    close(forks->count);
    reap(forks->counter);
    forks->counter = 0;
    return is_good && count->is_done;
}

void gpu_forks_close(struct gpu_forks *forks, struct gpu_section *all) {
    while (forks->n_running)
        gpu_forks_collect(forks, 0, all);
    forget_ended(forks, true);
    free(forks->running);
    free(forks->ended);
}
