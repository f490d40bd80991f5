/* The timed GPU: SMs and the memory system of a machine, kept over all launches of a program. */
#pragma once

#include "base/bytes.h"
#include "config/machine.h"
#include "gpu/internal.h"
#include "mem/mem.h"

struct gpu_timed;

/* Builds config->machine, with its scheduler ("name:key=value,..." or empty for the machine's own), its checks and its
 * timeline. On failure returns NULL and a line in error. */
struct gpu_timed *gpu_timed_new(const struct gpu_config *config, char *error, size_t size);
void gpu_timed_free(struct gpu_timed *timed);
/* Notes that device memory is accessed between launches. */
void gpu_timed_access(struct gpu_timed *timed, uint64_t address, uint64_t bytes, enum mem_warming warming);
/* Between launches: an allocation is memory of the host, and no longer. Unknown addresses are ignored. */
void gpu_timed_add_host_memory(struct gpu_timed *timed, uint64_t address, uint64_t bytes);
void gpu_timed_remove_host_memory(struct gpu_timed *timed, uint64_t address);
/* Between launches, with a checkpoint: appends the time and the state of the memory system. load() makes new SMs and a
 * new memory system, and continues from there. */
void gpu_timed_save(struct gpu_timed *timed, struct base_bytes *state);
void gpu_timed_load(struct gpu_timed *timed, struct base_bytes *state);
/* With a timeline: the next launch starts in cycle `first` of it. Its events in --trace are shown there, or after those
 * of the launch before it, because an SM has one row of events. */
void gpu_timed_begin_work(struct gpu_timed *timed, uint64_t first);
/* Returns the difference between the timeline and the machine's own cycles. Without a timeline it is 0. */
uint64_t gpu_timed_shift(const struct gpu_timed *timed);
/* Shows work of the timeline in --trace. `name` of a kernel. */
void gpu_timed_note_work(struct gpu_timed *timed, const struct gpu_work *work, const char *name);
uint64_t gpu_timed_ns(const struct gpu_timed *timed); /* simulated time since the start */
/* Sets error if the divergence model runs no clusters of several blocks. */
bool gpu_timed_runs_clusters(const struct gpu_timed *timed, const char *kernel, struct gpu_error *error);
/* Returns false, with the error set, if the divergence model refuses the program. */
bool gpu_timed_accepts(const struct gpu_timed *timed, const struct exec_program *program, struct gpu_error *error);
/* Fills the record's counters, histogram and series. With a window only its blocks run and only its sections are
 * measured; the machine can run no other launch afterwards. */
struct gpu_window;
bool gpu_run_timed(struct gpu *gpu, struct gpu_kernel *kernel, const struct exec_grid *grid, struct gpu_window *window,
                   struct gpu_launch_record *record, struct gpu_error *error);

/* warm.c: without time, lets an access of an SM, or the code of a kernel, pass through the caches. */
void gpu_timed_touch(struct gpu_timed *timed, const struct exec_context *cx, const struct exec_insn *insn,
                     uint32_t lanes, uint32_t sm, struct gpu_warmed *warmed);
void gpu_timed_touch_code(struct gpu_timed *timed, const struct exec_grid *grid);

/* energy.c: fills the counters energy_* from the others. */
void gpu_count_energy(const struct config_energy *energy, struct stats_counters *counters);
