/* For the tests of this folder: an untimed device (host.c, check.c, step.c, time.c, fixture.c). It parses PTX text,
 * links its kernel `k`, and executes the groups of a model one instruction at a time, in the order that a test chooses,
 * round robin or at random. Results are available at once; only loads may have to wait (the callback `outcome`). After
 * every step it checks the invariants: each live thread is in one place of the model, and a group that changed outside
 * its own hooks has been woken.
 *
 *     struct fixture *f = fixture_open(&divergence_dwf, "dwf:lanes=free", TEXT, &(struct fixture_shape){.block = 64});
 *     uint64_t out = fixture_alloc(f, 256); fixture_parameter(f, 0, out);
 *     fixture_start(f);                                       (admits blocks)
 *     fixture_step(&f->sm[0], 0); ...   or   fixture_run(f); or   fixture_run_random(f, seed);
 *     fixture_u32(f, out)[i] ...        fixture_close(f); */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "divergence/divergence.h"
#include "divergence/parts/threads.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIXTURE_IS_SANITIZED
#endif
#endif

#define FIXTURE_MEMORY 0x200000000000ull

enum {
    FIXTURE_MEMORY_BYTES = 1 << 16,
    FIXTURE_SYMBOLS = 16,
    FIXTURE_PARAMETERS = 8, /* of 64 bits each */
    FIXTURE_SLOTS = 128,
    FIXTURE_BLOCKS = 16, /* in execution on an SM */
    FIXTURE_SMS = 4,
    FIXTURE_ACCESSES = 16, /* in flight in one group */
    FIXTURE_MOST_STEPS = 1 << 20,
#ifdef FIXTURE_IS_SANITIZED
    FIXTURE_CHECK_EVERY = 16, /* under sanitizers, which look for other mistakes and are slow */
#else
    FIXTURE_CHECK_EVERY = 3, /* a thread that is lost stays lost; the check takes most of the time */
#endif
};

/* What is left 0 gets the value in brackets. */
struct fixture_shape {
    uint32_t block, grid;   /* threads in a block [32], blocks [1] */
    uint32_t warp_size;     /* [32] */
    uint32_t n_slots;       /* of an SM [what the model asks for] */
    uint32_t blocks_per_sm; /* in execution [all blocks of the grid, at most FIXTURE_BLOCKS] */
    uint32_t n_sms;         /* [1] */
    bool is_scoreboard;     /* the machine's pipeline [barrel] */
};

/* A load that waits for some of its lanes. */
struct fixture_access {
    uint32_t tag, pc;
    uint32_t lanes;               /* lanes that still belong to it */
    uint32_t missed;              /* lanes that did not hit */
    uint64_t arrives[EXEC_LANES]; /* the cycle in which each lane has its data */
    const struct exec_row *row;   /* of these lanes; NULL: scattered */
};

struct fixture_slot {
    struct divergence_group *group; /* NULL: free */
    struct fixture_access *access;  /* FIXTURE_ACCESSES of them, apart: every step looks at all slots, few have any */
    uint32_t n_accesses;
    /* What the SM knows of the group: a change without a call is a mistake of the model. */
    uint32_t pc, mask;
    enum divergence_status status;
    uint64_t n_issued; /* instructions since the group came here */
    bool is_stalled;   /* with tracks_lanes: it waits for a load, which the model knows */
};

struct fixture_block {
    struct divergence_block block;
    bool is_in_flight;
};

struct fixture;

struct fixture_sm {
    struct fixture *f;
    uint32_t index;
    void *model;
    struct exec_context cx;
    struct stats_divergence counters;
    struct fixture_slot slot[FIXTURE_SLOTS];
    uint32_t n_used; /* slots that have ever held a group: the first ones */
    struct fixture_access access[FIXTURE_SLOTS][FIXTURE_ACCESSES];
    struct fixture_block block[FIXTURE_BLOCKS];
    uint64_t call_at;                      /* UINT64_MAX: never */
    const struct fixture_access *reported; /* while memory() runs */
    uint64_t n_instructions, n_bundles;
};

/* Where visit() has found threads. */
struct fixture_census {
    const struct fixture *f;
    uint32_t n_rows; /* of a block */
    bool is_stray;
    const struct exec_row *row; /* of the last thread, and its number */
    size_t at;
    /* By SM, block and row: */
    uint32_t named[FIXTURE_SMS * FIXTURE_BLOCKS * EXEC_MAX_ROWS], again[FIXTURE_SMS * FIXTURE_BLOCKS * EXEC_MAX_ROWS];
    /* By thread, of those that are named; only where lanes matter. */
    const struct divergence_group *group_of[FIXTURE_SMS * FIXTURE_BLOCKS * EXEC_MAX_ROWS * EXEC_LANES];
};

struct fixture {
    struct ptx_module *module;
    struct exec_program *program;
    const struct divergence_ops *ops;
    void *options, *chip;
    struct config_machine machine;
    struct exec_grid grid;
    struct exec_memory memory;
    struct exec_allocation allocation[1];
    const struct ptx_variable *symbol[FIXTURE_SYMBOLS];
    uint64_t symbol_address[FIXTURE_SYMBOLS], next_address;
    uint64_t parameter[FIXTURE_PARAMETERS];
    uint32_t n_sms, n_slots, blocks_per_sm, next_block, n_finished;
    uint64_t cycle; /* one for every step */
    uint64_t n_changes;
    struct fixture_sm sm[FIXTURE_SMS];

    /* For tests to set after fixture_open(): */
    bool is_lane_aware; /* no group has two threads of one lane */
    bool checks_nothing;
    bool
        runs_ahead; /* groups continue while loads are in flight, as if no instruction read them; otherwise they wait */
    bool expects_fault; /* running ends at a fault instead of failing the test */
    uint64_t most_steps;
    uint64_t active_cycles, waiting_cycles; /* the result of activity() */
    const char *label;                      /* for messages; may be NULL */
    /* How many cycles each lane of a load or atomic waits; delay[] is zeroed: all hit. May be NULL. */
    void (*outcome)(void *user, const struct divergence_group *group, uint32_t pc, uint32_t mask,
                    uint32_t delay[EXEC_LANES]);
    /* Every bundle (mask: the lanes that execute), of groups with a row too. May be NULL. */
    void (*watch)(void *user, const struct divergence_group *group, const struct divergence_bundle *bundle);
    void *user;
    struct fixture_census census;
    _Alignas(64) unsigned char memory_bytes[FIXTURE_MEMORY_BYTES];
};

/* --- life --- */

/* `text` has a kernel `k`; `model` is the model's name with its options. Tests may change f->machine before
 * fixture_start(). */
struct fixture *fixture_open(const struct divergence_ops *ops, const char *model, const char *text,
                             const struct fixture_shape *shape);
/* Makes the model and starts the first blocks, one on each SM in turn. */
void fixture_start(struct fixture *f);
void fixture_close(struct fixture *f);

/* --- memory --- */

/* Bytes of device memory, zeroed; an address for kernel parameters. */
uint64_t fixture_alloc(struct fixture *f, uint64_t bytes);
/* The word at the address, and those after it. */
uint32_t *fixture_u32(struct fixture *f, uint64_t address);
/* Returns the address of a module's variable; 0: the kernel does not use it. */
uint64_t fixture_variable(const struct fixture *f, const char *name);
/* Kernel parameter number `index`, all of them .u64 (or .u32 with padding): at byte 8 * index. */
void fixture_parameter(struct fixture *f, uint32_t index, uint64_t value);

/* --- steps --- */

/* Whether a step of this slot would do something: an instruction, or resume(). */
bool fixture_can_step(const struct fixture_sm *sm, uint32_t s);
/* Executes one instruction (all its bundles) of the group in the slot, with those that issue together with it, or
 * resumes a group that drains. */
void fixture_step(struct fixture_sm *sm, uint32_t s);
/* Resumes every group that drains and can be, again and again; no instruction is executed. */
void fixture_resume_all(struct fixture *f);

/* --- time --- */

/* Ends the accesses whose time has come, and calls refill() where it was asked for. */
void fixture_catch_up(struct fixture *f);
/* No group can take a step: time passes until one can. */
void fixture_idle(struct fixture *f);
/* The grid has ended, or a thread has met a fault. */
bool fixture_is_done(const struct fixture *f);
/* Round robin over SMs and slots until the grid ends. */
void fixture_run(struct fixture *f);
/* Steps groups that can in random order until the grid ends; the same order for the same seed. */
void fixture_run_random(struct fixture *f, uint64_t seed);
/* The next of a sequence of random numbers. */
uint32_t fixture_random(uint64_t *seed);

/* --- one warp or a few, step by step, on SM 0 --- */

/* Opens and starts a model, named with its options, with 1024 bytes of memory as the kernel's parameter 0. */
struct fixture *fixture_begin(const char *model, const char *text, const struct fixture_shape *shape);
/* The group in the slot takes n steps. Accesses whose time comes end after each. */
void fixture_steps(struct fixture *f, uint32_t slot, uint32_t n);
/* The group in the slot takes steps until it is at the pc. */
void fixture_step_to(struct fixture *f, uint32_t slot, uint32_t pc);
/* The group in the slot runs at this pc, with these lanes. */
void fixture_expect(const struct fixture *f, uint32_t slot, uint32_t pc, uint32_t mask);
/* The same, and the model is to be told when it reaches notify_pc. */
void fixture_expect_until(const struct fixture *f, uint32_t slot, uint32_t pc, uint32_t mask, uint32_t notify_pc);
/* Runs the only block to its end, and closes the device. */
void fixture_finish(struct fixture *f);
/* Returns the pc of the program's instruction number `which` with this opcode. */
uint32_t fixture_pc_of(const struct fixture *f, enum ptx_opcode opcode, unsigned which);

/* --- looking at it --- */

/* Every live thread is in exactly one place, and no other is in any. */
void fixture_check(struct fixture *f);
/* Slots of an SM without a group. */
uint32_t fixture_free_slots(const void *handle);

/* The sum of a counter over all SMs. */
#define FIXTURE_COUNTER(f, name)                                                                                       \
    (f->sm[0].counters.name + f->sm[1].counters.name + f->sm[2].counters.name + f->sm[3].counters.name)
