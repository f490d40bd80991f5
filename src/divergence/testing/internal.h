/* Declarations for the files of the fixture only. */
#pragma once

#include "divergence/testing/fixture.h"

/* What a model calls (host.c). */
extern const struct divergence_host fixture_host;

struct fixture_slot *fixture_slot_of(struct fixture_sm *sm, const struct divergence_group *group);
/* Records the present state of the slot's group. */
void fixture_note(struct fixture_slot *slot);
void fixture_vacate(struct fixture_slot *slot);
/* Returns whether a lane of the row has a load in flight. */
bool fixture_awaits(const struct fixture_sm *sm, const struct exec_row *row, uint32_t mask);
/* Returns whether the model executes the instruction, in control(). */
bool fixture_is_control(const struct fixture *f, const struct exec_insn *insn);
/* Starts the grid's next block on this SM. Returns false if no block or no room is left. */
bool fixture_pull_block(void *handle, uint64_t cycle);
/* After every call of a hook: ended groups leave, blocks start, and the invariants are checked. `own` is the group
 * whose hook ran; NULL: none. */
void fixture_after(struct fixture_sm *sm, const struct divergence_group *own);
