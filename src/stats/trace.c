/* See trace.h. Phases of the format: X is a span, b and e are the ends of an overlapping span, s and f those of an
 * arrow, C is a counter, M a name. */
#include "stats/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

/* The text after the last event. The next event overwrites it. */
static const char ending[] = "\n]}\n";

enum { MOST_EVENT_BYTES = 1024, MOST_NAME_BYTES = 200 };

struct stats_trace {
    FILE *file;
    char *path;
    uint64_t n_bytes, most_bytes;
    bool has_events, has_ending, is_full;
    int error; /* errno of the first failure */
};

static void put(struct stats_trace *trace, const char *text, size_t length) {
    if (fwrite(text, 1, length, trace->file) != length && !trace->error)
        trace->error = errno;
    trace->n_bytes += length;
}

struct stats_trace *stats_trace_open(const char *path, uint64_t most_bytes) {
    static const char beginning[] =
        "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"unit\":\"1 us is 1 cycle\"},\"traceEvents\":[";
    FILE *file = fopen(path, "we");
    if (!file)
        return NULL;
    struct stats_trace *trace = base_allocate(1, sizeof *trace);
    *trace = (struct stats_trace){.file = file, .path = strdup(path), .most_bytes = most_bytes};
    put(trace, beginning, sizeof beginning - 1);
    return trace;
}

bool stats_trace_flush(struct stats_trace *trace) {
    if (!trace->has_ending) {
        put(trace, ending, sizeof ending - 1);
        trace->n_bytes -= sizeof ending - 1;
        trace->has_ending = true;
    }
    if (fflush(trace->file) != 0 && !trace->error)
        trace->error = errno;
    errno = trace->error;
    return !trace->error;
}

bool stats_trace_close(struct stats_trace *trace) {
    if (!trace)
        return true;
    bool is_good = stats_trace_flush(trace);
    int error = errno;
    is_good &= fclose(trace->file) == 0;
    free(trace->path);
    free(trace);
    if (error)
        errno = error;
    return is_good;
}

bool stats_trace_is_full(const struct stats_trace *trace) { return trace->is_full; }

uint64_t stats_trace_room(const struct stats_trace *trace) {
    return trace->is_full || trace->n_bytes >= trace->most_bytes ? 0 : trace->most_bytes - trace->n_bytes;
}

/* ---- Thinning ---------------------------------------------------------------------------------------------------- */

/* Reads an event as begin() and its callers write it. Returns false for another line. */
static bool read_event(const char *line, struct stats_event *event) {
    const char *at = strstr(line, ",\"ts\":");
    event->cycle = at ? strtoull(at + 6, NULL, 10) : 0;
    return sscanf(line, "{\"ph\":\"%c\",\"pid\":%" SCNu32, &event->phase, &event->process) == 2;
}

/* Copies the first line, which is no event, and the events to keep. */
static void copy_kept(struct stats_trace *trace, FILE *from, bool (*keep)(void *user, const struct stats_event *event),
                      void *user) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    uint64_t begin = 0; /* of the last overlapping span */
    struct stats_event event;
    while ((length = getline(&line, &room, from)) > 0) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == ','))
            line[--length] = '\0';
        bool is_event = read_event(line, &event);
        if (!is_event && trace->n_bytes) /* the end */
            break;
        if (is_event && event.phase == 'b')
            begin = event.cycle;
        if (is_event && event.phase == 'e')
            event.cycle = begin;
        if (is_event && !keep(user, &event))
            continue;
        if (is_event) {
            put(trace, trace->has_events ? ",\n" : "\n", trace->has_events ? 2 : 1);
            trace->has_events = true;
        }
        put(trace, line, (size_t)length);
    }
    free(line);
}

bool stats_trace_thin(struct stats_trace *trace, bool (*keep)(void *user, const struct stats_event *event),
                      void *user) {
    struct stat about;
    struct stats_trace old = *trace;
    size_t size = strlen(trace->path) + 8;
    char *temporary = base_allocate(size, 1);
    snprintf(temporary, size, "%s.thin", trace->path);
    bool is_regular = fflush(trace->file) == 0 && fstat(fileno(trace->file), &about) == 0 && S_ISREG(about.st_mode);
    FILE *from = is_regular ? fopen(trace->path, "re") : NULL, *to = from ? fopen(temporary, "we") : NULL;
    if (to) {
        trace->file = to;
        trace->n_bytes = 0;
        trace->has_events = trace->has_ending = trace->is_full = false;
        copy_kept(trace, from, keep, user);
    }
    bool is_good = to && fflush(to) == 0 && !trace->error && rename(temporary, trace->path) == 0;
    if (is_good) {
        fclose(old.file);
    } else if (to) {
        fclose(to);
        unlink(temporary);
        *trace = old;
    }
    if (from)
        fclose(from);
    free(temporary);
    return is_good;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

/* The text of an event, before it is written. */
struct event {
    char text[MOST_EVENT_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct event *event, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(event->text + event->length, sizeof event->text - event->length, format, arguments);
    va_end(arguments);
    event->length += (size_t)n;
}

/* Adds a JSON string. Long names are cut, and characters other than printable ASCII become '?'. */
static void add_string(struct event *event, const char *text) {
    char quoted[2 * MOST_NAME_BYTES + 1];
    size_t n = 0;
    for (size_t i = 0; text[i] && i < MOST_NAME_BYTES; i++) {
        if (text[i] == '"' || text[i] == '\\')
            quoted[n++] = '\\';
        quoted[n++] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    }
    quoted[n] = '\0';
    add(event, "\"%s\"", quoted);
}

static void add_arguments(struct event *event, const struct stats_argument *argument) {
    add(event, ",\"args\":{");
    for (unsigned i = 0; argument && argument[i].name; i++)
        add(event, "%s\"%s\":%" PRIu64, i ? "," : "", argument[i].name, argument[i].value);
    add(event, "}");
}

static struct event begin(char phase, uint32_t process, const char *name) {
    struct event event = {.length = 0};
    add(&event, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"name\":", phase, process);
    add_string(&event, name);
    return event;
}

/* Writes the events, all or none of them. */
static void write_events(struct stats_trace *trace, struct event *event, unsigned count) {
    uint64_t bytes = sizeof ending;
    for (unsigned i = 0; i < count; i++)
        bytes += event[i].length + sizeof ",\n}";
    if (trace->is_full || trace->n_bytes + bytes > trace->most_bytes) {
        trace->is_full = true;
        return;
    }
    if (trace->has_ending && fseek(trace->file, -(long)(sizeof ending - 1), SEEK_CUR) != 0 && !trace->error)
        trace->error = errno;
    trace->has_ending = false;
    for (unsigned i = 0; i < count; i++) {
        if (trace->has_events)
            put(trace, ",", 1);
        put(trace, "\n", 1);
        trace->has_events = true;
        add(&event[i], "}");
        put(trace, event[i].text, event[i].length);
    }
}

void stats_trace_name_process(struct stats_trace *trace, uint32_t process, const char *name) {
    struct event event[2] = {begin('M', process, "process_name"), begin('M', process, "process_sort_index")};
    add(&event[0], ",\"args\":{\"name\":");
    add_string(&event[0], name);
    add(&event[0], "}");
    add(&event[1], ",\"args\":{\"sort_index\":%" PRIu32 "}", process);
    write_events(trace, event, 2);
}

void stats_trace_name_thread(struct stats_trace *trace, struct stats_track track, const char *name) {
    struct event event[2] = {begin('M', track.process, "thread_name"), begin('M', track.process, "thread_sort_index")};
    add(&event[0], ",\"tid\":%" PRIu32 ",\"args\":{\"name\":", track.thread);
    add_string(&event[0], name);
    add(&event[0], "}");
    add(&event[1], ",\"tid\":%" PRIu32 ",\"args\":{\"sort_index\":%" PRIu32 "}", track.thread, track.thread);
    write_events(trace, event, 2);
}

void stats_trace_span(struct stats_trace *trace, struct stats_track track, const char *name, uint64_t first_cycle,
                      uint64_t n_cycles, const struct stats_argument *arguments) {
    struct event event = begin('X', track.process, name);
    add(&event, ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ",\"dur\":%" PRIu64, track.thread, first_cycle, n_cycles);
    if (arguments)
        add_arguments(&event, arguments);
    write_events(trace, &event, 1);
}

void stats_trace_overlapping_span(struct stats_trace *trace, uint32_t process, uint64_t number, const char *category,
                                  const char *name, uint64_t first_cycle, uint64_t n_cycles,
                                  const struct stats_argument *arguments) {
    struct event event[2] = {begin('b', process, name), begin('e', process, name)};
    for (unsigned i = 0; i < 2; i++)
        add(&event[i], ",\"cat\":\"%s\",\"id\":%" PRIu64 ",\"ts\":%" PRIu64, category, number,
            first_cycle + (i ? n_cycles : 0));
    if (arguments)
        add_arguments(&event[0], arguments);
    write_events(trace, event, 2);
}

/* The arrow begins and ends in the middle of a cycle, so that it is inside its spans in whatever order they are
 * read. */
void stats_trace_arrow(struct stats_trace *trace, uint64_t number, const char *name, struct stats_track from,
                       struct stats_track to, uint64_t cycle) {
    struct event event[2] = {begin('s', from.process, name), begin('f', to.process, name)};
    add(&event[0], ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".5", from.thread, cycle);
    add(&event[1], ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ".5,\"bp\":\"e\"", to.thread, cycle);
    for (unsigned i = 0; i < 2; i++)
        add(&event[i], ",\"cat\":\"threads\",\"id\":%" PRIu64, number);
    write_events(trace, event, 2);
}

void stats_trace_counter(struct stats_trace *trace, uint32_t process, const char *name, uint64_t cycle, double value) {
    struct event event = begin('C', process, name);
    add(&event, ",\"ts\":%" PRIu64 ",\"args\":{\"value\":%.6g}", cycle, value);
    write_events(trace, &event, 1);
}
