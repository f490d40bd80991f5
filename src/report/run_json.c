/* A run as one JSON object. Everything but "host" is the same from run to run. */
#include <jansson.h>

#include "report/report.h"

enum { WARP_LANES = 32 };

static json_t *shape_json(const uint32_t shape[3]) { return json_pack("[i, i, i]", shape[0], shape[1], shape[2]); }

static void add_stats(json_t *object, const struct stats_counters *counters) {
    enum { ALWAYS = 1, TIMED = 0 }; /* what has no meaning without time is absent then */
#define STATS_COUNTER(name, when, meaning)                                                                             \
    if (when || counters->cycles)                                                                                      \
        json_object_set_new(object, #name, json_integer((json_int_t)counters->name));
#include "stats/counters.def"
#undef STATS_COUNTER
    double lanes = report_active_lanes(counters);
    json_object_set_new(object, "simd_efficiency", json_real(lanes / WARP_LANES));
    json_object_set_new(object, "average_active_threads", json_real(lanes));
}

static json_t *launches_json(const struct report_run *run) {
    json_t *array = json_array();
    for (unsigned i = 0; i < run->n_launches; i++) {
        const struct report_kernel *launch = &run->launch[i];
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(launch->name));
        json_object_set_new(object, "grid", shape_json(launch->grid));
        json_object_set_new(object, "block", shape_json(launch->block));
        add_stats(object, &launch->counters);
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *host_json(const struct report_run *run) {
    double seconds = run->host_seconds;
    json_t *object = json_object();
    json_object_set_new(object, "seconds", json_real(seconds));
    json_object_set_new(object, "warp_instructions_per_second",
                        json_real(report_rate(run->total.counters.warp_instructions, seconds)));
    return object;
}

static json_t *run_json(const struct report_run *run) {
    json_t *object = json_object(), *total = json_object();
    json_object_set_new(object, "heddle", json_string(HEDDLE_VERSION));
    json_object_set_new(object, "functional", json_true());
    json_object_set_new(object, "program", json_string(run->program));
    if (run->size)
        json_object_set_new(object, "size", json_string(run->size));
    json_object_set_new(object, "checked", json_boolean(run->is_checked));
    if (run->stopped)
        json_object_set_new(object, "stopped", json_string(run->stopped));
    if (run->error)
        json_object_set_new(object, "error", json_string(run->error));
    json_object_set_new(object, "kernels", launches_json(run));
    json_object_set_new(total, "launches", json_integer((json_int_t)run->n_launches));
    add_stats(total, &run->total.counters);
    json_object_set_new(object, "total", total);
    json_object_set_new(object, "host", host_json(run));
    return object;
}

bool report_write_json(FILE *file, const struct report_run *run) {
    json_t *object = run_json(run);
    bool is_written =
        json_dumpf(object, file, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
    json_decref(object);
    return is_written && fflush(file) == 0;
}
