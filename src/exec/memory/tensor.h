/* Inside exec: operands of tensor copies. */
#pragma once

#include "exec/internal.h"

/* imm of a tensor copy: the rank in the low bits, and the modifier of its reduction from EXEC_TENSOR_REDUCTION_BIT on.
 */
enum {
    EXEC_TENSOR_LOAD = 8,
    EXEC_TENSOR_COLUMN = 16,
    EXEC_TENSOR_OFFSETS = 32,
    EXEC_TENSOR_MULTICAST = 64,
    EXEC_TENSOR_REDUCTION_BIT = 8
};

/* The field that tensormap.replace changes. */
enum exec_tensor_field {
    EXEC_FIELD_ADDRESS,
    EXEC_FIELD_RANK,
    EXEC_FIELD_BOX,
    EXEC_FIELD_DIM,
    EXEC_FIELD_STRIDE,
    EXEC_FIELD_STEP,
    EXEC_FIELD_TYPE,
    EXEC_FIELD_INTERLEAVE,
    EXEC_FIELD_SWIZZLE,
    EXEC_FIELD_FILL
};

exec_act_fn *exec_select_tensor_copy(const struct exec_form *form);
exec_act_fn *exec_select_tensor_map(const struct exec_form *form);
