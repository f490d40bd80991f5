/* Converts a gpgpusim.config to a machine.
 *
 * Such a file contains options, `-name value`, in any order. A value may be in quotes and span several lines, and '#'
 * begins a comment. This file converts each option that has an equivalent in a machine; gpgpusim.def lists the others
 * with reasons. DRAM times are converted to core cycles. All other options of the machine keep their defaults. */
#define _GNU_SOURCE
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/import/import.h"

struct option {
    const char *name, *value; /* the name without '-' and without gpgpu_ */
    const char *written;      /* as in the file */
    bool is_used;
};

struct reader {
    struct cli_import *import;
    struct option *option;
    unsigned n_options;
};

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static const char *skip_blank(const char *at) {
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#')
            return at;
        at += strcspn(at, "\n");
    }
}

/* Returns the next word. A word in quotes loses its blanks. */
static const char *read_word(const char **at, struct base_arena *arena) {
    const char *from = *at;
    if (*from != '"') {
        *at += strcspn(from, " \t\r\n#");
        return base_arena_copy(arena, from, (size_t)(*at - from));
    }
    size_t length = strcspn(++from, "\""), n = 0;
    char *word = base_arena_printf(arena, "%.*s", (int)length, from);
    for (size_t i = 0; i < length; i++)
        if (!isspace((unsigned char)from[i]))
            word[n++] = from[i];
    word[n] = '\0';
    *at = from + length + (from[length] == '"');
    return word;
}

static const char *plain_name(const char *name) {
    while (*name == '-')
        name++;
    return strncmp(name, "gpgpu_", 6) == 0 ? name + 6 : name;
}

/* Reads the options. An option begins with '-' and a letter; anything else is a value of the one before. */
static bool read_options(struct reader *reader, const char *text) {
    struct base_arena *arena = reader->import->arena;
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == '-';
    reader->option = BASE_ARENA_ARRAY(arena, struct option, most);
    for (const char *at = skip_blank(text); *at; at = skip_blank(at)) {
        bool is_option = at[0] == '-' && (isalpha((unsigned char)at[1]) || at[1] == '-');
        const char *word = read_word(&at, arena);
        if (is_option) {
            reader->option[reader->n_options++] = (struct option){plain_name(word), "", word, false};
            continue;
        }
        if (!reader->n_options) {
            command_fail(COMMAND_ERROR, "%s: '%s' comes before the first option: not a gpgpusim.config",
                         reader->import->file, word);
            return false;
        }
        struct option *last = &reader->option[reader->n_options - 1];
        last->value = *last->value ? base_arena_printf(arena, "%s %s", last->value, word) : word;
    }
    if (!reader->n_options)
        command_fail(COMMAND_ERROR, "%s has no options: not a gpgpusim.config", reader->import->file);
    return reader->n_options > 0;
}

/* Returns the last option of that name, or NULL if the file has none. */
static struct option *find(struct reader *reader, const char *name) {
    struct option *found = NULL;
    for (unsigned i = 0; i < reader->n_options; i++)
        if (strcmp(reader->option[i].name, name) == 0)
            found = &reader->option[i];
    return found;
}

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 4, 5))) static void set(struct reader *reader, const char *key, const char *source,
                                                      const char *format, ...) {
    char value[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    struct cli_import *import = reader->import;
    import->key[import->n_keys++] = (struct cli_import_key){key, base_arena_printf(import->arena, "%s", value), source};
}

static void leave(struct reader *reader, const struct option *option, const char *reason) {
    struct cli_import *import = reader->import;
    const char *text =
        base_arena_printf(import->arena, "%s%s%s", option->written, *option->value ? " " : "", option->value);
    import->left[import->n_left++] = (struct cli_import_left){text, reason};
}

static const char *source_of(struct reader *reader, const struct option *option) {
    return base_arena_printf(reader->import->arena, "%s %s", option->written, option->value);
}

/* Reads up to `most` numbers between separators. Returns how many there are. */
static unsigned numbers(const char *text, const char *separators, double *value, unsigned most) {
    unsigned n = 0;
    while (n < most) {
        char *end;
        value[n] = strtod(text, &end);
        if (end == text)
            return n;
        n++;
        text = end + strspn(end, separators);
        if (text == end)
            return n;
    }
    return n;
}

/* Returns the number of an option, or the fallback, and marks the option as used. */
static double number(struct reader *reader, const char *name, double fallback) {
    struct option *option = find(reader, name);
    double value;
    if (!option || numbers(option->value, "", &value, 1) == 0)
        return fallback;
    option->is_used = true;
    return value;
}

/* Copies an option that corresponds to one key. */
static void copy_number(struct reader *reader, const char *name, const char *key) {
    struct option *option = find(reader, name);
    double value;
    if (!option || numbers(option->value, "", &value, 1) == 0)
        return;
    option->is_used = true;
    set(reader, key, source_of(reader, option), "%.10g", value);
}

/* ---- Parts of the machine ---------------------------------------------------------------------------------------- */

static void map_shape(struct reader *reader) {
    double shape[2] = {0}, warp_size = 32;
    struct option *clusters = find(reader, "n_clusters"), *pipeline = find(reader, "shader_core_pipeline");
    if (clusters) {
        double per_cluster = number(reader, "n_cores_per_cluster", 1);
        clusters->is_used = true;
        set(reader, "sm.count",
            base_arena_printf(reader->import->arena, "%s, with %g in each", source_of(reader, clusters), per_cluster),
            "%.0f", number(reader, "n_clusters", 1) * per_cluster);
    }
    if (pipeline && numbers(pipeline->value, ":", shape, 2) == 2) {
        pipeline->is_used = true;
        warp_size = shape[1];
        set(reader, "sm.threads", source_of(reader, pipeline), "%.0f", shape[0]);
        set(reader, "sm.warp_size", source_of(reader, pipeline), "%.0f", warp_size);
        set(reader, "sm.threads_per_block", "compute capability 2.0 and above", "%.0f", fmin(1024, shape[0]));
    }
    copy_number(reader, "shader_cta", "sm.blocks");
    copy_number(reader, "shader_registers", "sm.registers");
    copy_number(reader, "num_sched_per_core", "sm.schedulers");
    copy_number(reader, "num_reg_banks", "sm.register_banks");
    copy_number(reader, "max_cycle", "limits.max_cycles");
    struct option *model = find(reader, "simd_model");
    if (model && strcmp(model->value, "1") == 0) {
        model->is_used = true;
        set(reader, "divergence", source_of(reader, model), "stack");
    }
}

/* A result is ready after the unit's latency and the stages of GPGPU-Sim around it. */
enum { STAGES_AROUND = 5 };

static void map_latency(struct reader *reader, const char *name, const char *key, const char *default_value) {
    struct option *option = find(reader, name);
    double latency;
    const char *text = option ? option->value : default_value;
    if (!text || numbers(text, ",", &latency, 1) == 0)
        return;
    const char *source = option ? source_of(reader, option) : "the default of GPGPU-Sim";
    if (option)
        option->is_used = true;
    set(reader, key,
        base_arena_printf(reader->import->arena, "%s: the first, and %d stages around it", source, STAGES_AROUND),
        "%.0f", latency + STAGES_AROUND);
}

/* Sets the threads that `units` units take per cycle, each a warp every `interval` cycles. */
static void map_width(struct reader *reader, const char *key, double units, const char *interval_name, double interval,
                      const char *units_text) {
    struct option *option = find(reader, interval_name);
    if (option && numbers(option->value, ",", &interval, 1) == 1)
        option->is_used = true;
    double width = fmax(1, floor(units * 32 / fmax(interval, 1)));
    set(reader, key,
        base_arena_printf(reader->import->arena, "%s that take a warp in %g cycle%s", units_text, interval,
                          interval == 1 ? "" : "s"),
        "%.0f", fmin(width, 32));
}

static void map_units(struct reader *reader) {
    struct base_arena *arena = reader->import->arena;
    double sp = number(reader, "num_sp_units", 1), sfu = number(reader, "num_sfu_units", 1),
           dp = number(reader, "num_dp_units", 0), schedulers = number(reader, "num_sched_per_core", 1);
    map_width(reader, "sm.simd_width", sp / fmax(schedulers, 1), "ptx_opcode_initiation_fp", 1,
              base_arena_printf(arena, "%g units for %g schedulers", sp, schedulers));
    map_width(reader, "sm.sfu_width", sfu, "ptx_opcode_initiation_sfu", 8, base_arena_printf(arena, "%g units", sfu));
    map_width(reader, "sm.fp64_width", dp > 0 ? dp : sfu, "ptx_opcode_initiation_dp", 8,
              dp > 0 ? base_arena_printf(arena, "%g units", dp)
                     : base_arena_printf(arena, "%g units of special functions", sfu));
    map_latency(reader, "ptx_opcode_latency_int", "sm.alu_cycles", NULL);
    map_latency(reader, "ptx_opcode_latency_int", "sm.branch_cycles", NULL);
    map_latency(reader, "ptx_opcode_latency_fp", "sm.fp32_cycles", NULL);
    map_latency(reader, "ptx_opcode_latency_dp", "sm.fp64_cycles", NULL);
    map_latency(reader, "ptx_opcode_latency_sfu", "sm.sfu_cycles", "8");
}

static void map_scheduler(struct reader *reader) {
    struct option *option = find(reader, "scheduler");
    static const char *const same[][2] = {{"lrr", "lrr"}, {"gto", "gto"}, {"rrr", "srr"}, {"old", "gto"}};
    unsigned active;
    if (!option)
        return;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (strcmp(option->value, same[i][0]) == 0) {
            option->is_used = true;
            set(reader, "scheduler", source_of(reader, option), "%s", same[i][1]);
        }
    if (sscanf(option->value, "two_level_active:%u", &active) == 1) {
        option->is_used = true;
        set(reader, "scheduler", source_of(reader, option), "two-level-active:active=%u", active);
    }
}

/* ---- Caches ------------------------------------------------------------------------------------------------------ */

/* [S|N:]sets:line:ways,replacement:write:allocate:write_allocate[:index],mshr:entries:merges,... */
struct cache {
    double sets, line, ways, mshrs, merges;
    char write, write_allocate;
    bool is_sectored;
};

static bool read_cache(const char *text, struct cache *cache) {
    double shape[3], mshr[2];
    char policy[8] = "";
    cache->is_sectored = *text == 'S';
    if (isalpha((unsigned char)*text))
        text += 1 + (text[1] == ':' || text[1] == ',');
    const char *second = strchr(text, ','), *third = second ? strchr(second + 1, ',') : NULL;
    if (!third || numbers(text, ":", shape, 3) != 3)
        return false;
    size_t n = 0;
    for (const char *at = second + 1; at < third && n < sizeof policy - 1; at++)
        if (*at != ':')
            policy[n++] = *at;
    const char *entries = strchr(third + 1, ':');
    if (n < 4 || !entries || numbers(entries + 1, ":", mshr, 2) != 2)
        return false;
    *cache = (struct cache){shape[0], shape[1], shape[2], mshr[0], mshr[1], policy[1], policy[3], cache->is_sectored};
    return true;
}

static void set_part(struct reader *reader, const char *cache, const char *part, const char *source, double value) {
    set(reader, base_arena_printf(reader->import->arena, "%s.%s", cache, part), source, "%.0f", value);
}

/* `slices` such caches of the file form one cache of the machine. */
static void map_cache(struct reader *reader, const char *name, const char *key, double slices, bool has_writes) {
    struct base_arena *arena = reader->import->arena;
    struct option *option = find(reader, name);
    struct cache cache;
    if (!option)
        return;
    const char *source = source_of(reader, option);
    if (strcmp(option->value, "none") == 0) {
        option->is_used = true;
        set(reader, base_arena_printf(arena, "%s.present", key), source, "false");
        return;
    }
    if (!read_cache(option->value, &cache))
        return;
    option->is_used = true;
    if (slices > 1)
        source = base_arena_printf(arena, "%s, %g slices", source, slices);
    if (cache.is_sectored)
        source = base_arena_printf(arena, "%s; without its sectors", source);
    set_part(reader, key, "size", source, cache.sets * cache.line * cache.ways * slices);
    set_part(reader, key, "line", source, cache.line);
    set_part(reader, key, "ways", source, cache.ways);
    set_part(reader, key, "mshrs", source, cache.mshrs * slices);
    set_part(reader, key, "mshr_merges", source, cache.merges);
    if (!has_writes)
        return;
    bool is_back = cache.write == 'B';
    set(reader, base_arena_printf(arena, "%s.write", key), source, "%s", is_back ? "back" : "through");
    set(reader, base_arena_printf(arena, "%s.write_allocate", key), source, "%s",
        is_back && cache.write_allocate != 'N' ? "true" : "false");
}

static void map_caches(struct reader *reader) {
    double channels = number(reader, "n_mem", 1), parts = number(reader, "n_sub_partition_per_mchannel", 1);
    double slices = channels * parts <= 64 ? channels * parts : channels;
    map_cache(reader, "cache:il1", "icache", 1, false);
    if (number(reader, "perfect_inst_const_cache", 0) > 0)
        set(reader, "icache.perfect", "-gpgpu_perfect_inst_const_cache 1", "true");
    map_cache(reader, "cache:dl1", "l1", 1, true);
    copy_number(reader, "l1_latency", "l1.latency");
    copy_number(reader, "l1_banks", "l1.banks");
    copy_number(reader, "shmem_size", "shared.size");
    copy_number(reader, "shmem_num_banks", "shared.banks");
    copy_number(reader, "smem_latency", "shared.latency");
    map_cache(reader, "cache:dl2", "l2", channels * parts, true);
    set(reader, "l2.banks",
        slices < channels * parts ? "-gpgpu_n_mem: the slices of a channel are one, as there are at most 64"
                                  : "-gpgpu_n_mem and -gpgpu_n_sub_partition_per_mchannel",
        "%.0f", slices);
    copy_number(reader, "rop_latency", "l2.latency");
    copy_number(reader, "l2_rop_latency", "l2.latency");
}

/* ---- Clocks, crossbar and DRAM
 * --------------------------------------------------------------------------------------- */

/* Returns a number of the timing, `name=value` between colons. */
static double timing(const char *text, const char *name, double fallback) {
    size_t length = strlen(name);
    for (const char *at = text; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return strtod(at + length + 1, NULL);
    return fallback;
}

static void map_dram_timing(struct reader *reader, double core_per_dram) {
    struct option *option = find(reader, "dram_timing_opt");
    double fixed = number(reader, "dram_latency", 0);
    if (!option || !strchr(option->value, '='))
        return;
    option->is_used = true;
    const char *source =
        base_arena_printf(reader->import->arena, "-dram_latency %g and %s of %s", fixed, "%s", option->written);
    double hit = timing(option->value, "CL", 0),
           open = timing(option->value, "RP", 0) + timing(option->value, "RCD", 0);
    set(reader, "dram.banks", "nbk of -gpgpu_dram_timing_opt", "%.0f", timing(option->value, "nbk", 16));
    set(reader, "dram.row_hit", base_arena_printf(reader->import->arena, source, "CL"), "%.0f",
        fixed + hit * core_per_dram);
    set(reader, "dram.row_conflict", base_arena_printf(reader->import->arena, source, "RP, RCD, CL"), "%.0f",
        fixed + (open + hit) * core_per_dram);
}

/* Reads the letters of the address: C and S are in a row. */
static void map_row(struct reader *reader) {
    struct option *option = find(reader, "mem_addr_mapping");
    unsigned bits = 0;
    for (const char *at = option ? option->value : ""; *at; at++)
        bits += *at == 'C' || *at == 'S';
    if (!bits)
        return;
    option->is_used = true;
    set(reader, "dram.row", base_arena_printf(reader->import->arena, "%s: %u bits of column", option->written, bits),
        "%u", 1u << (bits < 20 ? bits : 20));
}

static void map_memory(struct reader *reader) {
    struct base_arena *arena = reader->import->arena;
    struct option *clocks = find(reader, "clock_domains"), *policy = find(reader, "dram_scheduler");
    double clock[4] = {700, 700, 700, 924};
    if (clocks && numbers(clocks->value, ":", clock, 4) >= 1) {
        clocks->is_used = true;
        set(reader, "clock", source_of(reader, clocks), "%.6g", clock[0] / 1000);
    }
    double flit = number(reader, "icnt_flit_size", 0), chips = number(reader, "n_mem_per_ctrlr", 1),
           width = number(reader, "dram_buswidth", 4), rate = number(reader, "dram_data_command_freq_ratio", 2);
    if (flit > 0)
        set(reader, "crossbar.bytes_per_cycle", base_arena_printf(arena, "-icnt_flit_size %g", flit), "%.6g",
            flit * clock[1] / clock[0]);
    copy_number(reader, "n_mem", "dram.channels");
    set(reader, "dram.bytes_per_cycle",
        base_arena_printf(arena, "%g x %g bytes, %g times in each of %g MHz", chips, width, rate, clock[3]), "%.6g",
        chips * width * rate * clock[3] / clock[0]);
    map_dram_timing(reader, clock[0] / clock[3]);
    map_row(reader);
    copy_number(reader, "frfcfs_dram_sched_queue_size", "dram.queue");
    if (policy && (strcmp(policy->value, "0") == 0 || strcmp(policy->value, "1") == 0)) {
        policy->is_used = true;
        set(reader, "dram.policy", source_of(reader, policy), "%s", policy->value[0] == '0' ? "fcfs" : "fr-fcfs");
    }
}

/* ---- All together
 * ---------------------------------------------------------------------------------------------------- */

static const char *reason_for(const char *name) {
    static const struct {
        const char *name, *reason;
    } known[] = {
#define IMPORT_LEFT(name, reason) {#name, reason},
#include "cli/import/gpgpusim.def"
#undef IMPORT_LEFT
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].reason;
    return NULL;
}

/* In GPGPU-Sim such an L1 gets the memory that a kernel's shared memory leaves. */
static void note_adaptive_l1(struct reader *reader) {
    struct cli_import *import = reader->import;
    struct option *adaptive = find(reader, "adaptive_cache_config"), *l1 = find(reader, "cache:dl1");
    struct cache cache;
    if (!adaptive)
        adaptive = find(reader, "adaptive_volta_cache_config");
    if (adaptive && strcmp(adaptive->value, "0") != 0 && l1 && read_cache(l1->value, &cache))
        import->note =
            base_arena_printf(import->arena,
                              "the L1 has the %g KB of %s in every launch, although %s lets it grow into "
                              "unused shared memory: l1.size and unified.shared_sizes describe such a machine",
                              cache.sets * cache.line * cache.ways / 1024, l1->written, adaptive->written);
}

bool cli_import_gpgpusim(struct cli_import *import, const char *text) {
    struct reader reader = {.import = import};
    if (!read_options(&reader, text))
        return false;
    enum { MOST_KEYS = 128 };
    import->n_options = reader.n_options;
    import->key = BASE_ARENA_ARRAY(import->arena, struct cli_import_key, MOST_KEYS);
    import->left = BASE_ARENA_ARRAY(import->arena, struct cli_import_left, reader.n_options + MOST_KEYS);
    map_memory(&reader);
    map_scheduler(&reader);
    map_shape(&reader);
    map_units(&reader);
    map_caches(&reader);
    for (unsigned i = 0; i < reader.n_options; i++) {
        const struct option *option = &reader.option[i], *last = find(&reader, option->name);
        const char *reason = reason_for(option->name);
        if (last != option)
            leave(&reader, option, "a later one counts");
        else if (!option->is_used)
            leave(&reader, option, reason ? reason : "not known, or a value without a counterpart");
    }
    import->n_options_left = import->n_left;
    note_adaptive_l1(&reader);
    return true;
}
