/* The timeline of a run (--trace): for each SM a track per slot with the activity of its group, the memory accesses,
 * splits and merges, and counters. docs/report.md describes it. */
#pragma once

#include "gpu/internal.h"
#include "mem/mem.h"
#include "sm/sm.h"

struct gpu_trace;

/* `n_sms` of the machine. Returns NULL and a line in error if the file cannot be written. */
struct gpu_trace *gpu_trace_new(const struct gpu_trace_config *config, uint32_t n_sms, char *error, size_t size);
void gpu_trace_free(struct gpu_trace *trace); /* does nothing for NULL */
const struct sm_observer *gpu_trace_observer(const struct gpu_trace *trace);

/* Launches begin to run after `cycle`: one, or several at the same time. The SMs and the memory may be new. */
void gpu_trace_begin(struct gpu_trace *trace, struct sm *const *sm, const struct mem *mem, uint64_t cycle);
/* Begins a launch in a stream, whose number counts from 1 and whose first cycle is the one after `cycle`. */
void gpu_trace_begin_launch(struct gpu_trace *trace, uint32_t number, uint32_t stream, const struct exec_grid *grid,
                            uint64_t cycle);
/* The launch has ended in this cycle. */
void gpu_trace_end_launch(struct gpu_trace *trace, const struct exec_grid *grid, uint64_t cycle);
/* From now on events are shown this many cycles later: the launch's place on the device's timeline. */
void gpu_trace_shift(struct gpu_trace *trace, uint64_t cycles);
/* Adds a kernel or copy to the row of its stream. */
void gpu_trace_work(struct gpu_trace *trace, const struct gpu_work *work, const char *kernel);
/* Everything up to `cycle` has happened: writes the counters that are due. */
void gpu_trace_advance(struct gpu_trace *trace, uint64_t cycle);
/* All launches have ended: completes the file. */
void gpu_trace_end(struct gpu_trace *trace, uint64_t cycle);
