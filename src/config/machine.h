/* A machine: every parameter of the simulated GPU, validated and immutable. There is one struct for each unit or
 * mechanism. options.def explains every field: each option is one row there with its name, type, default, range, unit
 * and help. The YAML files, --set, --dump-config and the docs come from these rows. Times are in core cycles unless
 * their name says otherwise. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_pipeline { CONFIG_PIPELINE_BARREL, CONFIG_PIPELINE_SCOREBOARD, CONFIG_PIPELINE_SWITCH_ON_ACCESS };
enum config_write { CONFIG_WRITE_THROUGH, CONFIG_WRITE_BACK };
enum config_dram_hash { CONFIG_DRAM_HASH_ROW, CONFIG_DRAM_HASH_FOLD };
enum config_units { CONFIG_UNITS_SHARED, CONFIG_UNITS_PARTITIONED };
enum config_coherence { CONFIG_COHERENCE_NONE, CONFIG_COHERENCE_MESI };

/* The most threads of a warp, and the most warps, groups that schedulers see, and schedulers of an SM. */
enum { CONFIG_MAX_WARP_SIZE = 32, CONFIG_MAX_WARPS = 128, CONFIG_MAX_SLOTS = 128, CONFIG_MAX_SCHEDULERS = 8 };

/* The warps, pipelines and execution units of an SM. */
struct config_sm {
    uint32_t count, warp_size, simd_width;
    uint32_t threads, blocks, threads_per_block, registers, register_unit;
    enum config_pipeline pipeline;
    uint32_t schedulers;
    enum config_units units;
    uint32_t stages, fetch_cycles, branch_cycles, untaken_cycles, barrier_cycles;
    uint32_t alu_cycles, fp16_cycles, fp32_cycles, fp64_cycles, sfu_cycles, constant_cycles, prefix_cycles;
    uint32_t guard_cycles, cross_cycles, far_cross_cycles, match_cycles, match_busy_cycles, access_cycles,
        special_cycles;
    uint32_t long_product_cycles, long_product_issue_cycles;
    uint32_t sfu_width, ldst_width, multiply_width, register_banks;
    double fp64_width;
};

/* Starting and ending grids and their blocks. */
struct config_launch {
    uint32_t start_cycles, turn_cycles, drain_cycles, drain_least_cycles;
    double block_cycles;
    uint32_t concurrent; /* kernels at the same time */
};

/* The machine instructions that PTX becomes: src/isa. */
struct config_lowering {
    unsigned target; /* index in targets.def */
    uint32_t diverge_cycles, reconverge_cycles, fence_cycles, fence_access_cycles, sleep_cycles, registers_cycles,
        call_cycles;
    uint32_t new_code_cycles, new_line_cycles, new_lines_ahead; /* of code that an SM executes for the first time */
};

/* An SM's cache for constants. */
struct config_constant_cache {
    bool is_present;
    uint32_t size_bytes, miss_cycles, far_cycles, busy_cycles;
};

/* The matrix unit of each scheduler. */
struct config_matrix {
    bool is_present;
    uint32_t rate, latency_cycles;
    uint32_t group_rate, group_latency_cycles, group_shared_cycles, group_least_cycles, group_fence_cycles;
};

/* Shared memory of an SM. */
struct config_shared {
    uint32_t size_bytes, reserved_bytes, banks, latency_cycles, pass_cycles;
    bool has_groups;
};

/* One memory for shared memory and the L1. */
struct config_unified {
    bool is_present;
    char shared_sizes[128];
    uint32_t reserved_bytes, tag_banks;
    uint32_t texture_lanes, texture_cycles;
};

/* Units that execute atomics on one address one by one. */
/* Clusters of several blocks. */
struct config_cluster {
    bool is_present;
    uint32_t size;  /* blocks */
    char gpcs[128]; /* SMs of each GPC: config_gpc() */
    uint32_t latency_cycles, pair_latency_cycles, signal_cycles, barrier_cycles;
    double bytes_per_cycle, port_bytes_per_cycle, line_cycles;
};

struct config_copies {
    bool is_present;
    uint32_t load_cycles, store_cycles;
    double load_bytes_per_cycle, sector_cycles, combined_cycles, piece_cycles, store_sector_cycles,
        reduce_sector_cycles;
};

struct config_serial_atomics {
    bool is_present;
    double slice_cycles, part_cycles, sum_cycles;
    double retry_busy_cycles;
    uint32_t retry_cycles, retry_least_cycles, retry_wide_cycles;
};

/* Any cache. */
struct config_cache {
    bool is_present, is_perfect;
    uint32_t size_bytes, ways, line_bytes, latency_cycles;
    uint32_t banks, mshrs, mshr_merges;
};

/* The write policy of a data cache. */
struct config_writes {
    enum config_write policy;
    bool allocates;
};

/* The data cache of an SM. */
struct config_l1 {
    struct config_cache cache;
    struct config_writes writes;
    bool has_bank_queues, bypass, is_hashed, is_random, keeps_local;
    uint32_t tag_bytes;
};

/* Ways of the L1 for lines of critical warps. */
struct config_cacp {
    bool is_present;
    uint32_t share;
};

/* The cache of the chip. */
struct config_l2 {
    struct config_cache cache;
    struct config_writes writes;
    bool is_warm;
};

/* A slice of the L2: its addresses, and its throughput. */
struct config_slice {
    uint32_t interleave_bytes, combine, spread_cycles;
    bool has_store_port;
    double partial_cycles, next_partial_cycles, sector_cycles;
    bool keeps_parts;
};

/* An L2 divided into two halves, each near half of the SMs. */
struct config_halves {
    bool is_present;
    uint32_t atomic_cycles, read_cycles, host_cycles;
    double fill_cycles, relay_cycles;
};

/* The network between the SMs and the L2. */
struct config_crossbar {
    uint32_t latency_cycles, credits, atomics, store_lines, store_wait_cycles;
    double bytes_per_cycle, sector_cycles;
};

struct config_dram {
    uint32_t channels, banks, row_bytes, interleave_bytes, access_bytes;
    uint32_t row_hit_cycles, row_conflict_cycles, row_cycle_cycles, row_hold_cycles;
    double bytes_per_cycle;
    uint32_t queue_entries;
    char policy[512];
    enum config_dram_hash bank_hash;
};

/* All levels of memory together. */
struct config_memory {
    bool is_perfect;
    enum config_coherence coherence;
};

/* The link to the host, and the engines that copy over it and within the device's memory. */
struct config_link {
    bool is_present;
    uint32_t latency_cycles;
    double bytes_per_cycle, local_bytes_per_cycle;
    uint32_t read_latency_cycles; /* of a kernel's own accesses to host memory, as the next two */
    double read_bytes_per_cycle, write_bytes_per_cycle, partial_write_cycles;
};

/* A function of CUDA that kernels call. One call of a warp is served after the other, anywhere on the chip. */
struct config_call {
    uint32_t cycles;      /* of a call by one thread */
    uint32_t lane_cycles; /* more for each further thread */
    uint32_t interval;    /* from one call to the next */
};

struct config_calls {
    bool is_present;
    struct config_call print, allocate, release;
};

/* The energy of each event, in pJ unless its name says otherwise. */
struct config_energy {
    double fetch, integer, floating, double_precision, special, matrix, register_access, result, l1, shared_pass;
    double l2, l2_request, crossbar_byte;
    double dram_nj;
    double clock, leakage, l2_leakage;
};

/* When a launch is ended early. */
struct config_limits {
    uint64_t max_cycles, watchdog_cycles;
};

/* The device's answers to programs that ask what it is. They have no effect on time. */
struct config_device {
    char name[256], capability[8];
    uint32_t l2_bytes, persisting_bytes, bus_bits;
    double memory_ghz;
};

struct config_machine {
    char name[64], description[160];
    double clock_ghz;
    char scheduler[512], divergence[512], rules[16];
    struct config_device device;
    struct config_sm sm;
    struct config_launch launch;
    struct config_lowering lowering;
    struct config_constant_cache constant_cache;
    struct config_matrix matrix;
    struct config_shared shared;
    struct config_unified unified;
    struct config_cluster cluster;
    struct config_copies copies;
    struct config_serial_atomics serial_atomics;
    struct config_cache icache, texture;
    struct config_l1 l1;
    struct config_cacp cacp;
    struct config_l2 l2;
    struct config_slice slice;
    struct config_halves halves;
    struct config_crossbar crossbar;
    struct config_dram dram;
    struct config_memory memory;
    struct config_link link;
    struct config_calls calls;
    struct config_energy energy;
    struct config_limits limits;
};
