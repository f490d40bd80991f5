/* A machine: every parameter of the simulated GPU, validated and immutable. Each option is one row in options.def with
 * its name, type, default, range, unit and help. The YAML files, --set, --dump-config and the docs come from these
 * rows. Times are in core cycles unless their name says otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_pipeline { CONFIG_PIPELINE_BARREL, CONFIG_PIPELINE_SCOREBOARD, CONFIG_PIPELINE_SWITCH_ON_ACCESS };
enum config_write { CONFIG_WRITE_THROUGH, CONFIG_WRITE_BACK };
enum config_dram_policy { CONFIG_DRAM_FCFS, CONFIG_DRAM_FCFS_BANK, CONFIG_DRAM_FR_FCFS };
enum config_dram_hash { CONFIG_DRAM_HASH_ROW, CONFIG_DRAM_HASH_FOLD };
enum config_units { CONFIG_UNITS_SHARED, CONFIG_UNITS_PARTITIONED };
enum config_coherence { CONFIG_COHERENCE_NONE, CONFIG_COHERENCE_MESI };

/* The most threads of a warp, and the most warps, groups that schedulers see, and schedulers of an SM. */
enum { CONFIG_MAX_WARP_SIZE = 32, CONFIG_MAX_WARPS = 128, CONFIG_MAX_SLOTS = 128, CONFIG_MAX_SCHEDULERS = 8 };

struct config_cache {
    bool is_present; /* if absent, every access goes to the next level */
    bool is_perfect; /* every access hits */
    uint32_t size_bytes, ways, line_bytes;
    uint32_t latency_cycles;
    uint32_t banks;              /* L1: banks, one access each per cycle; 1: a single port. L2: slices */
    uint32_t mshrs, mshr_merges; /* outstanding lines (L2: of all slices together), requests per line */
};

/* The write policy of a data cache. */
struct config_writes {
    enum config_write policy;
    bool allocates; /* a write that misses fetches its line */
};

struct config_dram {
    uint32_t channels, banks, row_bytes;
    uint32_t interleave_bytes; /* consecutive bytes of an L2 slice in one channel; 0: a line */
    uint32_t access_bytes;     /* bytes that one read brings into the L2; 0: a line */
    uint32_t row_hit_cycles, row_conflict_cycles;
    uint32_t row_cycle_cycles; /* from opening a row until its bank can open another; 0: until its accesses are done */
    uint32_t row_hold_cycles;  /* a row hint keeps its row open this long; 0: row_conflict_cycles - row_hit_cycles */
    double bytes_per_cycle;    /* of one channel's data bus */
    uint32_t queue_entries;
    enum config_dram_policy policy;
    char policy_file[512]; /* a shared object with another policy; empty: none */
    enum config_dram_hash bank_hash;
};

/* The energy of each event, in pJ unless its name says otherwise. If all are 0, no energy is reported. */
struct config_energy {
    double fetch, integer, floating, special, register_access, result, l1, l2, crossbar_byte;
    double dram_nj;
    double clock, leakage, l2_leakage; /* per cycle: SM, SM, chip */
};

struct config_machine {
    char name[64], description[160];
    double clock_ghz;
    uint32_t n_sms;
    uint32_t warp_size, simd_width; /* a warp occupies the lanes for warp_size / simd_width cycles */
    uint32_t threads_per_sm, blocks_per_sm, registers_per_sm, shared_bytes;
    uint32_t shared_reserved_bytes; /* for each block, in addition to its own */
    uint32_t threads_per_block;
    enum config_pipeline pipeline;
    uint32_t schedulers; /* warp schedulers per SM; each issues one instruction per cycle */
    unsigned target;     /* index in targets.def: the instructions that schedulers issue (isa/isa.h) */
    enum config_units units;
    uint32_t block_turn_cycles; /* from the end of a block to the start of its successor */
    uint32_t reconverge_cycles; /* added where the paths of a divergent branch meet */
    uint32_t diverge_cycles;    /* added where threads diverge, and where one path ends and the other begins */
    uint32_t fence_cycles;      /* wait at a fence for the device */
    uint32_t launch_cycles;     /* before the first block of a grid starts */
    uint32_t drain_cycles;      /* after its last block, if all SMs accessed memory */
    uint32_t constant_bytes, constant_miss_cycles, constant_busy_cycles; /* the cache for constants */
    uint32_t constant_far_cycles; /* of the first read from each 256 bytes by a launch on an SM; 0: as other misses */
    uint32_t constant_cycles;     /* of constants and parameters; 0: alu_cycles */
    double block_cycles;          /* between two block starts on the chip */
    uint32_t pipeline_stages;     /* barrel: cycles until a warp may be fetched again */
    uint32_t fetch_cycles,
        branch_cycles; /* scoreboard: after a sequential instruction / after a branch until the next can issue */
    uint32_t alu_cycles, fp32_cycles, fp64_cycles, sfu_cycles; /* result latencies */
    uint32_t prefix_cycles;                                    /* latency of the adders over a row's predicates */
    uint32_t sfu_width, ldst_width;                            /* lanes of these units */
    double fp64_width;                                         /* lanes; below 1, a lane takes several cycles */
    uint32_t multiply_width;                                   /* lanes of the multiplier; 0: the ALU lanes multiply */
    uint32_t matrix_rate, matrix_cycles;                       /* of each scheduler's matrix unit; 0: there is none */
    uint32_t register_banks;                                   /* 0: no bank conflicts */
    struct config_cache icache, texture, l1, l2;
    char l1_split[128];      /* sizes of shared memory in the memory of the L1; empty: the L1 is separate */
    uint32_t l1_tag_banks;   /* tag banks of an L1 that uses the banks of shared memory; 0: it has its own banks */
    bool l1_has_bank_queues; /* a bank conflict delays the lines that conflict, not those after them */
    bool l1_bypass;          /* loads such as .cg bypass the L1 */
    struct config_writes l1_writes, l2_writes;
    double l2_atomic_cycles;      /* of a slice for each atomic on one address; 0: one access for a line */
    bool l2_is_warm;              /* the host's copies go into the L2 */
    uint32_t l2_interleave_bytes; /* consecutive bytes of a slice; 0: a line */
    double l2_partial_cycles;     /* of a slice for a store of less than a line */
    bool l2_has_store_port;       /* a slice takes a store in addition to another access */
    uint32_t l2_combine;          /* loads of a line that a slice answers at once */
    uint32_t l2_far_cycles;       /* added to an atomic on a line of the chip's other half; 0: the L2 is not divided */
    uint32_t l2_far_read_cycles;  /* added to the first read of such a line since the other half wrote it */
    uint32_t l2_host_cycles;      /* added to the first read of a line since the host wrote it */
    uint32_t shared_banks, shared_cycles;
    uint32_t shared_retry_cycles, shared_retry_busy_cycles; /* of atomics that are compare-and-swap loops */
    uint32_t crossbar_cycles;                               /* one way */
    double crossbar_bytes_per_cycle;                        /* per SM and direction */
    uint32_t crossbar_credits;                              /* stores, atomics and uncached reads of an SM in flight */
    struct config_dram dram;
    bool memory_is_perfect; /* every global access takes l1.latency */
    enum config_coherence coherence;
    struct config_energy energy;
    char scheduler[512], divergence[512]; /* unless the command line names others; may be files */
    char rules[16];                       /* preset that replaces the policies' defaults; empty: none */
    uint64_t max_cycles;                  /* 0: none */
    uint64_t watchdog_cycles;             /* without progress before looking for a livelock; 0: never */
};
