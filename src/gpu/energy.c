/* The energy of a launch: the number of events of each kind, times the machine's energy for one (Meng 2010, section
 * 3.3: dynamic energy is accumulated each time a unit is accessed, clock and leakage energy with time). Energy does not
 * affect timing. A lane that accesses the L1 uses one of its banks, whatever the other lanes do, so the L1's energy is
 * per lane, not per line. Left out: constants, textures and DRAM refresh. Shared memory counts with the L1, which is
 * the same memory on machines of today. */
#include "gpu/timed.h"

static uint64_t to_nj(double pj) { return (uint64_t)(pj / 1000 + 0.5); }

void gpu_count_energy(const struct config_energy *energy, struct stats_counters *counters) {
    double integer_lanes = (double)counters->integer_thread_instructions + (double)counters->memory_thread_instructions;
    double dram_accesses = (double)counters->dram_reads + (double)counters->dram_writes;
    counters->energy_fetch_nj = to_nj(energy->fetch * (double)counters->warp_instructions);
    counters->energy_integer_nj = to_nj(energy->integer * integer_lanes);
    double doubles = energy->double_precision > 0 ? (double)counters->fp64_thread_instructions : 0;
    counters->energy_float_nj = to_nj(energy->floating * ((double)counters->float_thread_instructions - doubles) +
                                      energy->double_precision * doubles);
    counters->energy_special_nj = to_nj(energy->special * (double)counters->special_thread_instructions);
    counters->energy_matrix_nj = to_nj(energy->matrix * (double)counters->matrix_products);
    counters->energy_register_nj = to_nj(energy->register_access * (double)counters->register_accesses);
    counters->energy_result_nj = to_nj(energy->result * (double)counters->register_writes);
    counters->energy_l1_nj = to_nj(energy->l1 * (double)counters->long_thread_instructions +
                                   energy->shared_pass * (double)counters->shared_passes);
    counters->energy_l2_nj =
        to_nj(energy->l2 * (double)counters->l2_accesses + energy->l2_request * (double)counters->l2_requests);
    counters->energy_crossbar_nj = to_nj(energy->crossbar_byte * (double)counters->crossbar_bytes);
    counters->energy_dram_nj = to_nj(1000 * energy->dram_nj * dram_accesses);
    counters->energy_clock_nj = to_nj(energy->clock * (double)counters->sm_cycles);
    counters->energy_leakage_nj =
        to_nj(energy->leakage * (double)counters->sm_cycles + energy->l2_leakage * (double)counters->cycles);
    counters->energy_nj = counters->energy_fetch_nj + counters->energy_integer_nj + counters->energy_float_nj +
                          counters->energy_special_nj + counters->energy_matrix_nj + counters->energy_register_nj +
                          counters->energy_result_nj + counters->energy_l1_nj + counters->energy_l2_nj +
                          counters->energy_crossbar_nj + counters->energy_dram_nj + counters->energy_clock_nj +
                          counters->energy_leakage_nj;
}
