/* Maps virtual registers to few slots: a linear scan over live ranges with holes.
 *
 * Time is counted in half instructions: instruction i reads at 2i and writes at 2i + 1. A register's range is the list
 * of spans in which it holds a value that may be read, plus the instant of every write that no instruction reads.
 * Registers whose ranges do not overlap may use the same slot. The range of a source that dies at an instruction ends
 * before the write, so that a destination can reuse its slot, except where ptx_needs_distinct_slots() says otherwise.
 * Registers are placed in the order in which their ranges begin, each into the lowest slot that is free for all of its
 * spans.
 *
 * register_count is the register pressure of the PTX text as written. ptxas moves and recomputes values, keeps uniform
 * ones in a separate register file, adds registers for addresses and calls, and aligns pairs, so its number differs in
 * both directions. */
#include "ptx/analysis/passes.h"

#include <assert.h>
#include <string.h>

struct span {
    uint32_t start, end; /* half-open, half instructions */
    struct span *next;
};

struct scan {
    struct ptx_passes *passes;
    struct span **range;    /* per register, ascending; built from the function's end to its start */
    uint32_t *live_end;     /* per register: end of the span being built; 0 when it is not live */
    uint64_t *live;         /* at the boundary between two blocks: registers with a span being built */
    int32_t *pressure_step; /* per half instruction: change of the number of 32-bit registers in use */
};

static int32_t register_weight(const struct ptx_register *reg) {
    static const int32_t weight[PTX_N_WIDTHS] = {[PTX_WIDTH_16] = 1, [PTX_WIDTH_32] = 1, [PTX_WIDTH_64] = 2};
    return weight[ptx_type_width(reg->type)];
}

static void add_span(struct scan *scan, uint32_t r, uint32_t start, uint32_t end) {
    struct span *first = scan->range[r];
    if (first && first->start <= end) {
        first->start = start;
        return;
    }
    struct span *span = BASE_ARENA_NEW(scan->passes->scratch, struct span);
    *span = (struct span){start, end, first};
    scan->range[r] = span;
}

static void end_life(struct scan *scan, uint32_t r, uint32_t start, uint32_t end) {
    int32_t weight = register_weight(&scan->passes->function->reg[r]);
    add_span(scan, r, start, end);
    scan->pressure_step[start] += weight;
    scan->pressure_step[end] -= weight;
    scan->live_end[r] = 0;
}

static void scan_writes(struct scan *scan, uint32_t i) {
    const struct ptx_passes *passes = scan->passes;
    for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++) {
        const struct ptx_access *access = &passes->access[a];
        uint32_t r = access->register_id, end = scan->live_end[r];
        if (!access->is_write || (end != 0 && !access->is_kill))
            continue;
        /* The write uses the slot even if no instruction reads the value. */
        end_life(scan, r, 2 * i + 1, end != 0 ? end : 2 * i + 2);
    }
}

static void scan_reads(struct scan *scan, uint32_t i) {
    const struct ptx_passes *passes = scan->passes;
    bool is_distinct = ptx_needs_distinct_slots(&passes->function->instruction[i]);
    for (uint32_t a = passes->access_start[i]; a < passes->access_start[i + 1]; a++) {
        const struct ptx_access *access = &passes->access[a];
        uint32_t r = access->register_id;
        if (access->is_write || scan->live_end[r] != 0)
            continue;
        scan->live_end[r] = 2 * i + 1;
        if (is_distinct) /* keeps its slot during the write; no pressure, since hardware does not need this */
            add_span(scan, r, 2 * i + 1, 2 * i + 2);
    }
}

/* Moves from the start of the block after `time` to the end of the block before it: spans continue where both sides
 * agree. */
static void cross_boundary(struct scan *scan, const uint64_t *live_before, uint32_t time) {
    const struct ptx_analysis *analysis = scan->passes->analysis;
    for (size_t w = 0; w < analysis->live_words; w++)
        for (uint64_t changed = scan->live[w] ^ live_before[w]; changed != 0; changed &= changed - 1) {
            uint32_t r = analysis->crossing[64 * w + (unsigned)__builtin_ctzll(changed)];
            if (scan->live_end[r] != 0)
                end_life(scan, r, time, scan->live_end[r]);
            else
                scan->live_end[r] = time;
        }
}

static void scan_blocks(struct scan *scan) {
    const struct ptx_analysis *analysis = scan->passes->analysis;
    size_t bytes = analysis->live_words * sizeof(uint64_t);
    uint64_t *live_out = BASE_ARENA_ARRAY(scan->passes->scratch, uint64_t, analysis->live_words);
    for (uint32_t b = analysis->n_blocks - 1; b-- > 0;) {
        const struct ptx_block *block = &analysis->block[b];
        ptx_find_live_out(analysis, b, live_out);
        cross_boundary(scan, live_out, 2 * (block->first + block->count));
        for (uint32_t i = block->first + block->count; i-- > block->first;) {
            scan_writes(scan, i);
            scan_reads(scan, i);
        }
        memcpy(scan->live, &analysis->live_in[b * analysis->live_words], bytes);
    }
    memset(live_out, 0, bytes);
    cross_boundary(scan, live_out, 0);
}

/* All parameters in registers are written on entry to the function, read or not. Results have a slot even when no
 * instruction uses them. */
static void add_interface(struct scan *scan) {
    const struct ptx_function *function = scan->passes->function;
    if (function->is_entry)
        return;
    for (uint32_t p = 0; p < function->n_parameters; p++) {
        uint32_t r = function->parameter[p].register_id;
        if (r < function->n_registers && (!scan->range[r] || scan->range[r]->start > 0))
            add_span(scan, r, 0, 1);
    }
    for (uint32_t p = 0; p < function->n_results; p++) {
        uint32_t r = function->result[p].register_id;
        if (r < function->n_registers && !scan->range[r])
            add_span(scan, r, 0, 1);
    }
}

static void find_peak(const struct scan *scan) {
    struct ptx_analysis *analysis = scan->passes->analysis;
    int32_t pressure = 0, peak = 0;
    for (uint32_t t = 0; t < 2 * analysis->function->n_instructions; t++) {
        pressure += scan->pressure_step[t];
        if (pressure > peak && analysis->block[analysis->block_of[t / 2]].is_reachable)
            peak = pressure;
    }
    analysis->register_count = (uint32_t)peak;
}

/* The slots of one width. */
struct slot_file {
    struct span **taken;  /* per slot: spans that end after the current time, ascending */
    uint32_t *busy_until; /* per slot: end of the span that covers the current time, or an earlier time */
    uint32_t n, capacity;
};

static bool overlaps(const struct span *a, const struct span *b) {
    while (a && b) {
        if (a->end <= b->start)
            a = a->next;
        else if (b->end <= a->start)
            b = b->next;
        else
            return true;
    }
    return false;
}

static struct span *merge(struct span *a, struct span *b) {
    struct span *head = NULL, **tail = &head;
    while (a && b) {
        struct span **first = a->start < b->start ? &a : &b;
        *tail = *first;
        tail = &(*first)->next;
        *first = (*first)->next;
    }
    *tail = a ? a : b;
    return head;
}

static uint32_t find_slot(struct slot_file *file, const struct span *range) {
    uint32_t now = range->start;
    for (uint32_t s = 0; s < file->n; s++) {
        if (file->busy_until[s] > now)
            continue;
        while (file->taken[s] && file->taken[s]->end <= now)
            file->taken[s] = file->taken[s]->next;
        if (file->taken[s] && file->taken[s]->start <= now) {
            file->busy_until[s] = file->taken[s]->end;
            continue;
        }
        if (!overlaps(file->taken[s], range))
            return s;
    }
    assert(file->n < file->capacity);
    return file->n++;
}

/* Chains registers by the time at which their ranges begin, ties by number. */
static uint32_t *chain_by_start(struct scan *scan, uint32_t *next) {
    const struct ptx_function *function = scan->passes->function;
    uint32_t *first = BASE_ARENA_ARRAY(scan->passes->scratch, uint32_t, 2 * (size_t)function->n_instructions + 1);
    for (uint32_t r = function->n_registers; r-- > 0;) {
        if (!scan->range[r])
            continue;
        next[r] = first[scan->range[r]->start];
        first[scan->range[r]->start] = r + 1; /* 0 ends a chain */
    }
    return first;
}

static void place_registers(struct scan *scan) {
    const struct ptx_function *function = scan->passes->function;
    struct ptx_analysis *analysis = scan->passes->analysis;
    struct base_arena *scratch = scan->passes->scratch;
    uint32_t n_registers = function->n_registers;
    struct slot_file file[PTX_N_WIDTHS] = {0};
    for (uint32_t r = 0; r < n_registers; r++)
        file[ptx_type_width(function->reg[r].type)].capacity++;
    for (unsigned w = 0; w < PTX_N_WIDTHS; w++) {
        file[w].taken = BASE_ARENA_ARRAY(scratch, struct span *, file[w].capacity);
        file[w].busy_until = BASE_ARENA_ARRAY(scratch, uint32_t, file[w].capacity);
    }
    uint32_t *next = BASE_ARENA_ARRAY(scratch, uint32_t, n_registers), *first = chain_by_start(scan, next);
    for (uint32_t t = 0; t <= 2 * function->n_instructions; t++)
        for (uint32_t link = first[t]; link != 0; link = next[link - 1]) {
            struct slot_file *of_width = &file[ptx_type_width(function->reg[link - 1].type)];
            uint32_t slot = find_slot(of_width, scan->range[link - 1]);
            of_width->taken[slot] = merge(of_width->taken[slot], scan->range[link - 1]);
            analysis->slot[link - 1] = slot;
        }
    for (unsigned w = 0; w < PTX_N_WIDTHS; w++)
        analysis->n_slots[w] = file[w].n;
}

void ptx_assign_slots(struct ptx_passes *passes) {
    const struct ptx_function *function = passes->function;
    struct base_arena *scratch = passes->scratch;
    uint32_t n_registers = function->n_registers;
    size_t n_times = 2 * (size_t)function->n_instructions + 1;
    struct scan scan = {.passes = passes,
                        .range = BASE_ARENA_ARRAY(scratch, struct span *, n_registers),
                        .live_end = BASE_ARENA_ARRAY(scratch, uint32_t, n_registers),
                        .live = BASE_ARENA_ARRAY(scratch, uint64_t, passes->analysis->live_words),
                        .pressure_step = BASE_ARENA_ARRAY(scratch, int32_t, n_times)};
    scan_blocks(&scan);
    add_interface(&scan);
    find_peak(&scan);
    passes->analysis->slot = BASE_ARENA_ARRAY(passes->analysis->arena, uint32_t, n_registers);
    for (uint32_t r = 0; r < n_registers; r++)
        passes->analysis->slot[r] = PTX_NO_INDEX;
    place_registers(&scan);
}
