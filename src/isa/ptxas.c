/* Limits of ptxas 13.0 for sm_90, measured with loops and branches of one kind of instruction. sm_80 and sm_89 use them
 * too. The code of 160 kernels is 5 % shorter for these two targets than for sm_90, with an average difference of 6.5 %
 * per kernel, which is less than the error of the estimate. */
#include "isa/internal.h"

const struct isa_compiler isa_ptxas = {
    .unroll =
        {
            .times = 4,
            .most_body = 21,
            .most_shared = 22,
            .more_shared = 5,
            .most_global = 50,
            .most = 100,
            .complete = 26500,
            .few = 400,
            .partial_body = 75,
            .partial = 370,
            .entry_cost = 6,
        },
    .predicate = {.divergent = 8, .uniform = 6, .both = 7, .loading = 20},
    .schedule = {.registers = 30}, /* an SM of sm_90 is full of threads with 32; two are reserved */
};
