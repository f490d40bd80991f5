/* Caches for constants: lookups. */
#include "sm/constants.h"

#include <string.h>

void sm_constants_clear(struct sm_constants *constants) {
    memset(constants->tag, 0, sizeof constants->tag);
    memset(constants->far_tag, 0, sizeof constants->far_tag);
}

uint64_t sm_constants_place(const struct exec_program *program, uint64_t address) {
    for (uint32_t i = 0; i < program->n_const_variables; i++) {
        uint64_t offset = address - program->const_variable[i].address;
        if (offset < program->const_variable[i].bytes)
            return program->const_place[i] + offset;
    }
    return address;
}

/* Puts the line into a cache. Returns whether it was there already. */
static bool hits(uint64_t *tags, uint32_t n_lines, uint64_t line) {
    uint64_t *tag = &tags[line % n_lines];
    bool is_there = *tag == line + 1;
    *tag = line + 1;
    return is_there;
}

static uint64_t latency_of(struct sm_constants *constants, const struct config_constant_cache *options,
                           uint64_t address, uint32_t hit_cycles, uint64_t cycle) {
    uint32_t n_lines = options->size_bytes / SM_CONSTANT_LINE_BYTES;
    uint64_t line = address / SM_CONSTANT_LINE_BYTES, far_line = address / SM_FAR_CONSTANT_LINE_BYTES;
    uint64_t *arrives = &constants->arrives[line % n_lines], latency = options->miss_cycles;
    bool has_far = options->far_cycles;
    if (hits(constants->tag, n_lines, line)) {
        bool is_on_its_way = has_far && *arrives > cycle + hit_cycles;
        return is_on_its_way ? *arrives - cycle : hit_cycles;
    }
    if (has_far && !hits(constants->far_tag, SM_FAR_CONSTANT_LINES, far_line))
        latency = options->far_cycles;
    *arrives = cycle + latency;
    return latency;
}

uint64_t sm_constants_access(struct sm_constants *constants, const struct config_constant_cache *options,
                             const uint64_t address[EXEC_LANES], uint32_t lanes, uint32_t hit_cycles, uint64_t cycle,
                             uint32_t *n_addresses) {
    uint64_t latest = 0;
    uint32_t n = 0;
    for (uint32_t left = lanes; left; n++) {
        uint64_t first = address[__builtin_ctz(left)];
        uint64_t latency = latency_of(constants, options, first, hit_cycles, cycle);
        latest = latency > latest ? latency : latest;
        for (uint32_t others = left; others; others &= others - 1)
            if (address[__builtin_ctz(others)] == first)
                left &= ~(1u << __builtin_ctz(others));
    }
    *n_addresses = n;
    return latest;
}
