/* Writes a timeline as JSON in the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open. One
 * microsecond of the file is one cycle. Events are written as they come, in any order of time. None is kept in memory.
 * The file is complete after each stats_trace_flush(). When it reaches its limit of bytes, further events are
 * dropped, unless the caller makes room: it can remove events of processes or cycles that it does without. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stats_trace;

/* The place of an event: a process and a thread of the format. */
struct stats_track {
    uint32_t process, thread;
};

/* Returns NULL if the file cannot be written (errno). */
struct stats_trace *stats_trace_open(const char *path, uint64_t most_bytes);
/* Completes the file as far as it was written. Returns false if writing failed (errno). */
bool stats_trace_flush(struct stats_trace *trace);
bool stats_trace_close(struct stats_trace *trace); /* does nothing for NULL */
/* Returns whether an event was dropped at the limit of bytes. */
bool stats_trace_is_full(const struct stats_trace *trace);

/* Returns how many bytes are left for events. */
uint64_t stats_trace_room(const struct stats_trace *trace);
/* What stats_trace_thin() knows about an event. Both ends of an overlapping span have the cycle of its begin. */
struct stats_event {
    char phase; /* as in trace.c */
    uint32_t process;
    uint64_t cycle;
};
/* Writes the file again without the events that keep() rejects. Returns false if that is impossible: the file is no
 * regular one, or the disk is full. */
bool stats_trace_thin(struct stats_trace *trace, bool (*keep)(void *user, const struct stats_event *event), void *user);

void stats_trace_name_process(struct stats_trace *trace, uint32_t process, const char *name);
void stats_trace_name_thread(struct stats_trace *trace, struct stats_track track, const char *name);

/* An argument of a span. An unnamed one ends a list. */
struct stats_argument {
    const char *name;
    uint64_t value;
};

/* Spans of one track must not overlap, unless one contains the other. */
void stats_trace_span(struct stats_trace *trace, struct stats_track track, const char *name, uint64_t first_cycle,
                      uint64_t n_cycles, const struct stats_argument *arguments);
/* A span that may overlap others. `number` distinguishes it from all others of its process. */
void stats_trace_overlapping_span(struct stats_trace *trace, uint32_t process, uint64_t number, const char *category,
                                  const char *name, uint64_t first_cycle, uint64_t n_cycles,
                                  const struct stats_argument *arguments);
/* An arrow from a span on one track to a span on another, in one cycle. */
void stats_trace_arrow(struct stats_trace *trace, uint64_t number, const char *name, struct stats_track from,
                       struct stats_track to, uint64_t cycle);
void stats_trace_counter(struct stats_trace *trace, uint32_t process, const char *name, uint64_t cycle, double value);
