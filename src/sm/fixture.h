/* For tests of sm: one SM with a kernel written in the test, its memory and a clock. Cycle counts are derived on paper.
 * A block that starts in cycle 0 has its first instruction fetched in cycle 1. The run ends in the cycle in which its
 * last instruction issues. Memory is perfect unless a test says otherwise: every line arrives l1.latency cycles after
 * the request, and an address is requested in the cycle after its instruction issued. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "sm/sm.h"

#define FIXTURE_HEAD                                                                                                   \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                                  \
    ".func (.param .b32 out) same(.param .b32 in)\n{\n.reg .b32 %x;\n"                                                 \
    "ld.param.b32 %x, [in];\nst.param.b32 [out], %x;\nret;\n}\n"                                                       \
    ".visible .entry k(.param .u64 p)\n{\n"                                                                            \
    ".reg .b32 %r<20>; .reg .f32 %f<9>; .reg .f64 %g<9>; .reg .b64 %d<9>; .reg .pred %p<4>;\n"

enum { FIXTURE_MEMORY = 0x10000, FIXTURE_MEMORY_BYTES = 1 << 16 };

/* A plain machine: one scheduler, every latency a different number. */
static const char *const fixture_plain[] = {"sm.count=1",          "sm.schedulers=1",     "sm.pipeline=scoreboard",
                                            "sm.fetch_cycles=1",   "sm.branch_cycles=5",  "sm.alu_cycles=9",
                                            "sm.fp32_cycles=11",   "sm.fp64_cycles=13",   "sm.sfu_cycles=17",
                                            "sm.simd_width=32",    "sm.sfu_width=8",      "sm.fp64_width=16",
                                            "sm.ldst_width=32",    "icache.perfect=true", "shared.latency=15",
                                            "shared.banks=32",     "l1.latency=40",       "sm.register_banks=0",
                                            "memory.perfect=true", "scheduler=lrr",       NULL};

struct fixture {
    struct config_machine machine;
    struct sm *sm;
    struct sm_clock clock;
    uint32_t n_ended;
    enum sm_freedom freedom; /* tried first in every tick */
    bool is_checked;         /* every bundle, and it runs one cycle at a time */
    uint32_t n_waits;        /* ticks for which it was not enough */
};

/* A test's own policy, instead of the machine's scheduler. */
static const struct sched_ops *fixture_policy;

static inline void fixture_line_filled(void *user, uint32_t sm, const struct mem_fill *fill, uint64_t cycle) {
    (void)sm;
    sm_line_filled(((struct fixture *)user)->sm, fill, cycle);
}

static inline void fixture_wake(void *user, uint32_t sm, uint64_t cycle) {
    (void)sm;
    struct fixture *f = user;
    f->clock.wake = cycle < f->clock.wake ? cycle : f->clock.wake;
}

static inline void fixture_block_ended(void *user, uint32_t sm) {
    (void)sm;
    ((struct fixture *)user)->n_ended++;
    ((struct fixture *)user)->clock.must_stop = true;
}

static inline void fixture_memory_done(void *user, uint32_t sm, uint32_t token, uint64_t cycle) {
    struct fixture *f = user;
    if (sm_memory_done(f->sm, token, cycle))
        fixture_wake(f, sm, cycle);
}

static inline void fixture_memory_changed(void *user, uint32_t sm, uint64_t cycle) {
    struct fixture *f = user;
    sm_memory_changed(f->sm);
    fixture_wake(f, sm, cycle);
}

static inline void fixture_configure(struct config_machine *machine, const char *const *settings) {
    char message[CONFIG_ERROR_BYTES] = "";
    config_defaults(machine);
    for (int list = 0; list < 2; list++)
        for (const char *const *setting = list ? settings : fixture_plain; setting && *setting; setting++)
            if (!config_set(machine, *setting, message, sizeof message))
                fail_msg("%s", message);
}

/* Ticks the SM in the cycles it asks for until its blocks have ended. Returns the last cycle. */
static inline uint64_t fixture_run_clock(struct fixture *f, struct mem *mem, uint32_t blocks) {
    uint64_t cycle = 0;
    uint32_t next_block = 0;
    for (;;) {
        while (next_block < blocks && sm_has_room(f->sm)) {
            sm_start_block(f->sm, next_block++, cycle);
            fixture_wake(f, 0, cycle + 1);
        }
        if (f->n_ended == blocks)
            return cycle;
        uint64_t event = mem_next_event(mem);
        cycle = event < f->clock.wake ? event : f->clock.wake;
        assert_true(cycle != SM_NEVER);
        if (event <= cycle)
            mem_advance(mem, cycle);
        if (f->clock.wake > cycle)
            continue;
        f->clock.must_stop = f->is_checked;
        uint64_t end = f->machine.memory.is_perfect ? SM_NEVER : cycle; /* perfect memory has no events */
        if (sm_run(f->sm, f->freedom, end, &f->clock) == SM_WAITS) {
            f->n_waits++;
            assert_int_equal(sm_run(f->sm, SM_TOGETHER, cycle, &f->clock), SM_TICKED);
        }
        cycle = sm_last_cycle(f->sm);
        assert_null(sm_fault(f->sm, &(const struct exec_row *){NULL}, &(uint32_t){0}));
    }
}

/* Texture 1: the memory as words. */
static inline const struct exec_texture *fixture_texture(void *user, uint64_t handle) {
    (void)user;
    static const struct exec_texture words = {.address = FIXTURE_MEMORY,
                                              .width = FIXTURE_MEMORY_BYTES / 4,
                                              .texel = EXEC_TEXEL_U32,
                                              .channels = 1,
                                              .is_buffer = true};
    return handle == 1 ? &words : NULL;
}

static inline struct stats_counters fixture_run_once(bool is_checked, enum sm_freedom freedom, uint32_t *n_waits,
                                                     const char *const *settings, const char *body, uint32_t blocks,
                                                     uint32_t threads) {
    struct fixture f = {.clock = {.wake = SM_NEVER}, .freedom = freedom, .is_checked = is_checked};
    char text[4096], error[256] = "";
    fixture_configure(&f.machine, settings);
    const struct sched_ops *scheduler;
    const struct divergence_ops *divergence;
    void *scheduler_options, *divergence_options;
    assert_true(sched_parse(f.machine.scheduler, &scheduler, &scheduler_options, error, sizeof error));
    assert_true(divergence_parse(f.machine.divergence, &divergence, &divergence_options, error, sizeof error));
    struct mem *mem = mem_new(&f.machine, fixture_memory_done, &f);
    mem_report_changes(mem, fixture_memory_changed);
    if (fixture_policy)
        scheduler = fixture_policy;
    if (scheduler->l1)
        mem_report_fills(mem, fixture_line_filled);
    struct sm_setup setup = {.machine = &f.machine,
                             .scheduler = scheduler,
                             .scheduler_options = scheduler_options,
                             .divergence = divergence,
                             .divergence_options = divergence_options,
                             .dispatcher = {.block_ended = fixture_block_ended, .wake = fixture_wake, .user = &f},
                             .mem = mem,
                             .checks = is_checked};
    f.sm = sm_new(&setup);

    snprintf(text, sizeof text, "%s%s\n}\n", FIXTURE_HEAD, body);
    struct ptx_messages messages = {0};
    struct ptx_module *module = ptx_parse("k.ptx", text, strlen(text), &messages);
    struct exec_program *program =
        module ? exec_link(module, ptx_find_function(module, "k"), NULL, NULL, &messages) : NULL;
    if (!program)
        fail_msg("%s", messages.text);
    unsigned char *bytes = calloc(1, FIXTURE_MEMORY_BYTES);
    struct exec_allocation allocation = {FIXTURE_MEMORY, FIXTURE_MEMORY_BYTES};
    struct exec_memory memory = {.base = FIXTURE_MEMORY,
                                 .limit = FIXTURE_MEMORY + FIXTURE_MEMORY_BYTES,
                                 .delta = (ptrdiff_t)((uintptr_t)bytes - FIXTURE_MEMORY),
                                 .allocation = &allocation,
                                 .n_allocations = 1,
                                 .texture = fixture_texture};
    uint64_t parameter = FIXTURE_MEMORY;
    struct exec_grid grid = {.program = program,
                             .memory = &memory,
                             .parameters = (const unsigned char *)&parameter,
                             .parameter_bytes = program->parameter_bytes,
                             .shape = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}},
                             .shared_bytes = program->dynamic_shared_offset,
                             .local_bytes = (program->local_bytes + 15) & ~15u,
                             .grid_id = 1,
                             .n_sms = 1,
                             .warp_size = f.machine.sm.warp_size,
                             .warps_per_sm = f.machine.sm.threads / f.machine.sm.warp_size};
    struct sm_program *timing = sm_program_new(program, &f.machine);
    if (scheduler->wants & SCHED_WANTS_KERNEL)
        sm_program_find_facts(timing);
    sm_begin_grid(f.sm, &grid, timing);
    struct stats_counters counters = {.cycles = fixture_run_clock(&f, mem, blocks)};
    sm_catch_up(f.sm, counters.cycles);
    sm_end_grid(f.sm);
    sm_add_counters(f.sm, &counters);
    stats_add_mem(&counters, mem_counters(mem));
    if (!sm_check_invariants(f.sm, error, sizeof error))
        fail_msg("%s", error);
    sm_free(f.sm);
    mem_free(mem);
    sm_program_free(timing);
    exec_program_free(program);
    ptx_module_free(module);
    free(bytes);
    free(scheduler_options);
    free(divergence_options);
    uint64_t sum = counters.active_cycles + counters.stall_memory + counters.stall_dependency + counters.stall_barrier +
                   counters.stall_fetch + counters.stall_structural + counters.stall_empty;
    assert_int_equal(sum, counters.sm_cycles); /* every cycle is accounted once */
    assert_int_equal(counters.empty_unused + counters.empty_start + counters.empty_tail, counters.stall_empty);
    *n_waits = f.n_waits;
    return counters;
}

/* Runs blocks of the kernel `body` with these settings on top of the plain machine's. Its parameter p points to
 * FIXTURE_MEMORY_BYTES zeroed bytes. Every tick is tried with this freedom first; *n_waits is the number of those that
 * needed more. An SM without checks takes quicker ways, with the same result. */
static inline struct stats_counters fixture_run_with(enum sm_freedom freedom, uint32_t *n_waits,
                                                     const char *const *settings, const char *body, uint32_t blocks,
                                                     uint32_t threads) {
    struct stats_counters checked = fixture_run_once(true, freedom, n_waits, settings, body, blocks, threads);
    if (!fixture_policy) { /* a test's own policy may count its calls */
        struct stats_counters other = fixture_run_once(false, freedom, n_waits, settings, body, blocks, threads);
        assert_memory_equal(&checked, &other, sizeof checked);
    }
    return checked;
}

static inline struct stats_counters fixture_run(const char *const *settings, const char *body, uint32_t blocks,
                                                uint32_t threads) {
    uint32_t n_waits;
    return fixture_run_with(SM_TOGETHER, &n_waits, settings, body, blocks, threads);
}

static inline uint64_t fixture_cycles(const char *const *settings, const char *body, uint32_t threads) {
    return fixture_run(settings, body, 1, threads).cycles;
}
