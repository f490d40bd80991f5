/* Functional units: questions about all of them. */
#include "sm/units.h"

void sm_units_init(struct sm_units *units, const struct config_machine *machine) {
    bool are_partitioned = machine->sm.units == CONFIG_UNITS_PARTITIONED;
    *units = (struct sm_units){.n_schedulers = machine->sm.schedulers};
    for (int unit = 0; unit < SM_N_UNITS; unit++) {
        bool is_own = unit == SM_UNIT_ALU || unit == SM_UNIT_MATRIX || (are_partitioned && unit != SM_UNIT_LDST);
        units->own[unit] = is_own ? UINT32_MAX : 0;
    }
}

uint64_t sm_units_all_free(const struct sm_units *units) {
    uint64_t all = 0;
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        for (uint32_t k = 0; k < units->n_schedulers; k++) {
            uint64_t one = sm_units_free_from(units, unit, k);
            all = one > all ? one : all;
        }
    return all;
}

uint32_t sm_units_free(const struct sm_units *units, uint32_t scheduler, uint64_t cycle) {
    uint32_t free = 0;
    for (int unit = 0; unit < SM_N_UNITS; unit++)
        free |= (uint32_t)(sm_units_free_from(units, unit, scheduler) <= cycle) << unit;
    return free;
}
