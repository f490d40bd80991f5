/* Inside exec/check. */
#pragma once

#include "exec/check/check.h"
#include "exec/internal.h"

struct exec_check_block {
    struct exec_clocks clocks;
    struct exec_shadow shadow;
    uint32_t *moving; /* per thread: the last load that moved unwritten bytes, as in program->moves */
};

/* Returns program->moves. */
uint32_t *exec_check_find_moves(struct exec_program *program);

void exec_check_add(struct exec_check *check, enum exec_finding_kind kind, const struct exec_finding *finding);
