// The operations of ops.h on the device, a thread each.
#include "ops.h"

extern "C" __global__ void transformer_op(struct op o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < o.n)
        op_run(&o, i);
}
