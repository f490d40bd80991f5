/* Work that waits in the device. A driver that wants launches of several streams to run at the same time adds them
 * here, with the work that each must wait for. gpu_run_tasks() runs everything, in the order of time: it does the
 * driver's own work (copies), runs a launch that no other can meet alone, as gpu_launch() does, and runs the others
 * together.
 *
 * On a timed device the time of a task is a cycle of the timeline. Without timing, launches take turns. Each runs until
 * it ends, or until all its blocks in flight have had a turn and may be waiting for another launch. */
#include "gpu/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "exec/exec.h"
#include "gpu/engine.h"
#include "gpu/timeline.h"

enum { MOST_ENGINES = 128 }; /* launches that take turns without timing */

struct gpu_queue {
    struct gpu_task *task;
    uint32_t n, capacity;
    uint32_t n_launches;
    uint32_t n_ended; /* the first ones, which have all ended */
};

/* --- tasks --- */

static struct gpu_task *add(struct gpu *gpu, const struct gpu_after *after) {
    if (!gpu->queue)
        gpu->queue = base_allocate(1, sizeof *gpu->queue);
    struct gpu_queue *queue = gpu->queue;
    if (queue->n == queue->capacity) {
        queue->capacity = queue->capacity ? 2 * queue->capacity : 64;
        queue->task = base_grow(queue->task, queue->capacity, sizeof *queue->task);
    }
    struct gpu_task *task = &queue->task[queue->n++];
    *task = (struct gpu_task){.ready = after->ready, .n_after = after->n_tasks};
    task->after = base_allocate(after->n_tasks + 1, sizeof *task->after);
    for (uint32_t i = 0; i < after->n_tasks; i++)
        task->after[i] = after->task[i];
    return task;
}

uint32_t gpu_add_launch(struct gpu *gpu, const struct gpu_launch *launch, const struct gpu_after *after) {
    struct gpu_task *task = add(gpu, after);
    task->is_launch = true;
    gpu->queue->n_launches++;
    task->launch = *launch;
    task->launch.parameters = base_allocate(launch->parameter_bytes + 1, 1);
    if (launch->parameter_bytes)
        memcpy(task->launch.parameters, launch->parameters, launch->parameter_bytes);
    return gpu->queue->n;
}

uint32_t gpu_add_act(struct gpu *gpu, uint64_t (*act)(void *user, uint64_t ready), void *user,
                     const struct gpu_after *after) {
    struct gpu_task *task = add(gpu, after);
    task->act = act;
    task->user = user;
    return gpu->queue->n;
}

uint32_t gpu_count_tasks(const struct gpu *gpu) { return gpu->queue ? gpu->queue->n : 0; }

uint32_t gpu_count_waiting_launches(const struct gpu *gpu) { return gpu->queue ? gpu->queue->n_launches : 0; }

uint64_t gpu_task_end(const struct gpu *gpu, uint32_t task) { return gpu->queue->task[task - 1].end; }

void gpu_forget_tasks(struct gpu *gpu) {
    for (uint32_t i = 0; i < gpu_count_tasks(gpu); i++) {
        free(gpu->queue->task[i].after);
        free(gpu->queue->task[i].launch.parameters);
    }
    if (gpu->queue)
        gpu->queue->n = gpu->queue->n_ended = gpu->queue->n_launches = 0;
}

void gpu_queue_free(struct gpu_queue *queue) {
    if (!queue)
        return;
    for (uint32_t i = 0; i < queue->n; i++) {
        free(queue->task[i].after);
        free(queue->task[i].launch.parameters);
    }
    free(queue->task);
    free(queue);
}

static bool has_concurrent_kernels(const struct gpu *gpu) {
    return gpu->timeline && gpu->timed->machine.launch.concurrent > 1;
}

const char *gpu_why_apart(const struct gpu *gpu) {
    if (!gpu->timed || !has_concurrent_kernels(gpu))
        return NULL;
    if (gpu->sections)
        return "--estimate times launches one at a time";
    if (gpu->checkpoint)
        return "--checkpoint saves the machine between launches";
    if (!gpu->timed->divergence->shares_sms)
        return "under this divergence model an SM runs one kernel at a time";
    return sm_can_share(gpu->timed->sm[0]) ? NULL : "under this scheduler an SM runs one kernel at a time";
}

bool gpu_runs_together(const struct gpu *gpu) {
    return !gpu->checkpoint && !gpu->sections &&
           (!gpu->timed || (has_concurrent_kernels(gpu) && sm_can_share(gpu->timed->sm[0])));
}

/* Returns whether the kernel may launch others, or copy. */
static bool calls_device_runtime(const struct exec_program *program) {
    for (uint32_t pc = 0; pc < program->n_insns; pc++)
        if (program->code[pc].kind == EXEC_KIND_CALL_BUILTIN && program->source[pc] &&
            exec_select_device_runtime(program->source[pc]->call->target.function->name))
            return true;
    return false;
}

/* Clusters of several blocks take SMs of one GPC at once. */
static bool has_clusters(const struct gpu_launch *launch) {
    return launch->shape.cluster[0] || launch->kernel->function->cluster[0];
}

bool gpu_may_run_together(const struct gpu *gpu, const struct gpu_launch *launch) {
    return gpu_runs_together(gpu) && !launch->shape.is_cooperative && !has_clusters(launch) &&
           !(gpu->timed && launch->is_untimed) && !calls_device_runtime(launch->kernel->program);
}

uint64_t gpu_queue_shared_bytes(const struct gpu *gpu, const struct gpu_launch *launch) {
    uint64_t bytes = (uint64_t)launch->kernel->program->dynamic_shared_offset + launch->shape.dynamic_shared_bytes +
                     gpu->config.sm.shared_reserved_bytes;
    uint64_t most = bytes * gpu_kernel_occupancy(gpu, launch->kernel, exec_shape_threads(&launch->shape),
                                                 launch->shape.dynamic_shared_bytes);
    for (uint32_t i = 0; i < gpu->queue->n; i++) {
        const struct gpu_task *task = &gpu->queue->task[i];
        if (!task->is_launch || task->state != GPU_TASK_WAITS || &task->launch == launch)
            continue;
        bytes = (uint64_t)task->launch.kernel->program->dynamic_shared_offset +
                task->launch.shape.dynamic_shared_bytes + gpu->config.sm.shared_reserved_bytes;
        bytes *= gpu_kernel_occupancy(gpu, task->launch.kernel, exec_shape_threads(&task->launch.shape),
                                      task->launch.shape.dynamic_shared_bytes);
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* --- order --- */

/* Finds the cycle from which on the task may start. Returns false if it waits for one that has not ended. */
static bool find_start(const struct gpu_queue *queue, const struct gpu_task *task, uint64_t *start) {
    *start = task->ready;
    for (uint32_t i = 0; i < task->n_after; i++) {
        const struct gpu_task *before = &queue->task[task->after[i] - 1];
        if (before->state != GPU_TASK_ENDED)
            return false;
        *start = before->end > *start ? before->end : *start;
    }
    return true;
}

/* Returns the task that may start first, or NULL. Of several, the driver's own work comes first, then the stream with
 * the highest priority. */
static struct gpu_task *first_task(struct gpu_queue *queue, uint64_t *start) {
    struct gpu_task *first = NULL;
    while (queue->n_ended < queue->n && queue->task[queue->n_ended].state == GPU_TASK_ENDED)
        queue->n_ended++;
    for (uint32_t i = queue->n_ended; i < queue->n; i++) {
        struct gpu_task *task = &queue->task[i];
        uint64_t own;
        if (task->state != GPU_TASK_WAITS || !find_start(queue, task, &own))
            continue;
        bool is_sooner = !first || own < *start;
        if (!is_sooner && own == *start)
            is_sooner = (first->is_launch && !task->is_launch) ||
                        (first->is_launch && task->is_launch && task->launch.priority < first->launch.priority);
        if (is_sooner) {
            first = task;
            *start = own;
        }
    }
    return first;
}

struct gpu_task *gpu_queue_next(struct gpu_queue *queue, uint64_t by, uint64_t *next) {
    uint64_t start = 0;
    for (struct gpu_task *task; (task = first_task(queue, &start));) {
        *next = start;
        if (start > by)
            return NULL;
        if (task->is_launch) {
            task->launch.ready = start;
            return task;
        }
        task->end = task->act ? task->act(task->user, start) : start;
        task->state = GPU_TASK_ENDED;
    }
    *next = UINT64_MAX;
    return NULL;
}

/* Returns whether every other launch in the queue waits for this one. */
static bool is_alone(const struct gpu_queue *queue, const struct gpu_task *task) {
    bool *waits = base_allocate(queue->n, sizeof *waits), is_alone = true;
    waits[task - queue->task] = true;
    for (uint32_t i = queue->n_ended; i < queue->n && is_alone; i++) { /* tasks wait only for earlier ones */
        const struct gpu_task *other = &queue->task[i];
        for (uint32_t k = 0; k < other->n_after; k++)
            waits[i] |= waits[other->after[k] - 1];
        is_alone = waits[i] || !other->is_launch || other->state == GPU_TASK_ENDED;
    }
    free(waits);
    return is_alone;
}

/* --- timed --- */

static bool run_alone(struct gpu *gpu, struct gpu_task *task, struct gpu_error *error) {
    uint32_t n_before, n;
    gpu_timeline_work(gpu->timeline, &n_before);
    bool is_done = gpu_launch(gpu, &task->launch, error);
    const struct gpu_work *work = gpu_timeline_work(gpu->timeline, &n);
    task->end = n > n_before ? work[n - 1].end : task->launch.ready;
    task->state = GPU_TASK_ENDED;
    return is_done;
}

static bool run_timed(struct gpu *gpu, struct gpu_error *error) {
    uint64_t next;
    for (struct gpu_task *task; (task = gpu_queue_next(gpu->queue, UINT64_MAX - 1, &next));) {
        bool is_done = is_alone(gpu->queue, task) ? run_alone(gpu, task, error) : gpu_run_together(gpu, task, error);
        if (!is_done)
            return false;
    }
    return true;
}

/* --- without timing --- */

/* A launch that takes turns with others. */
struct turn {
    struct gpu_task *task;
    struct gpu_engine *engine;
    struct exec_grid grid;
    struct stats_counters counters;
    uint32_t number;
    uint64_t start_ns;
};

static struct turn *begin_turn(struct gpu *gpu, struct gpu_task *task, struct gpu_error *error) {
    struct turn *turn = base_allocate(1, sizeof *turn);
    turn->task = task;
    turn->start_ns = gpu_host_clock_ns();
    if (!gpu_begin_launch(gpu, &task->launch, 0, &turn->grid, &turn->number, error)) {
        free(turn);
        return NULL;
    }
    turn->engine = gpu_engine_new(gpu, &turn->grid, &turn->counters, NULL, error);
    task->state = GPU_TASK_RUNS;
    return turn;
}

static void end_turn(struct gpu *gpu, struct turn *turn) {
    struct gpu_launch_record *record = &gpu->launch[turn->number];
    gpu_engine_free(turn->engine);
    record->counters = turn->counters;
    record->host_seconds = (double)(gpu_host_clock_ns() - turn->start_ns) * 1e-9;
    gpu_end_launch(gpu, &turn->task->launch, &turn->grid, record);
    turn->task->end = gpu->time_ns;
    turn->task->state = GPU_TASK_ENDED;
    free(turn);
}

static bool run_in_turns(struct gpu *gpu, struct gpu_error *error) {
    struct turn *turn[MOST_ENGINES];
    uint32_t n = 0;
    uint64_t next;
    bool is_good = true;
    while (is_good) {
        struct gpu_task *task;
        while (is_good && n < MOST_ENGINES && (task = gpu_queue_next(gpu->queue, UINT64_MAX - 1, &next))) {
            turn[n] = begin_turn(gpu, task, error);
            is_good = turn[n] != NULL;
            n += is_good;
        }
        if (!n)
            break;
        for (uint32_t i = 0; i < n && is_good; i++) {
            is_good = gpu_engine_step(turn[i]->engine);
            if (!is_good || !gpu_engine_is_done(turn[i]->engine))
                continue;
            end_turn(gpu, turn[i]);
            memmove(&turn[i], &turn[i + 1], (--n - i) * sizeof *turn);
            break; /* others may start now */
        }
    }
    for (uint32_t i = 0; i < n; i++)
        end_turn(gpu, turn[i]);
    return is_good;
}

bool gpu_run_tasks(struct gpu *gpu, struct gpu_error *error) {
    *error = (struct gpu_error){.status = GPU_OK};
    if (!gpu_count_tasks(gpu))
        return true;
    return gpu->timed ? run_timed(gpu, error) : run_in_turns(gpu, error);
}
