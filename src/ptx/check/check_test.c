/* Tests of the instruction checks: valid PTX passes, invalid PTX is refused with the reason. The expectations match the
 * vendor's assembler, release 13.0. */
#include "ptx/fixture.h"

static void well_formed_instructions_pass(void **state) {
    (void)state;
    static const char *const bodies[] = {
        /* registers of the same size agree: bits with anything, integers with integers */
        "add.f32 %r1, %r2, %r3;",
        "add.f16 %h1, %h2, %h3;",
        "and.b32 %f1, %f2, %f3;",
        "mov.f32 %f1, %r1;",
        "selp.f32 %r1, %r2, %f3, %p1;",
        ".reg .u32 %u; .reg .s32 %s; mov.s32 %u, %s;",
        "mov.b64 %rd1, %fd1;",
        /* loads, stores and conversions take wider registers */
        "ld.global.u8 %r1, [cell];",
        "ld.global.u8 %h1, [cell];",
        "ld.global.b32 %fd1, [cell];",
        "ld.global.f32 %rd1, [cell];",
        "st.global.u8 [cell], %rd1;",
        "cvt.u8.u32 %rd1, %r2;",
        "cvt.u16.u32 %r1, %rd2;",
        "cvt.rn.f32.u32 %rd1, %r2;",
        "cvt.f32.f16 %f1, %r1;",
        "ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [cell];",
        /* constants */
        "add.f32 %f1, %f2, 1.5;",
        "add.f64 %fd1, %fd2, 0f3F800000;",
        "mov.b32 %r1, 0f3F800000;",
        "mov.b64 %rd1, 1.5;",
        "mov.u16 %h1, 70000;",
        "add.s32 %r1, %r2, 3+4*2;",
        "add.s32 %r1, %r2, WARP_SZ;",
        "cvt.rn.f32.s32 %f1, 3;",
        /* predicates may be negated wherever they are read, and constants too */
        "and.pred %p1, %p2, !%p3;",
        "mov.pred %p1, !%p2;",
        "xor.pred %p1, %p2, -1;",
        "selp.b32 %r1, 1, 0, 1;",
        "vote.sync.all.pred %p1, !%p2, -1;",
        "bar.red.popc.u32 %r1, 0, 64, !%p1;",
        "bar.red.and.pred %p1, 0, %p2;",
        /* addresses */
        "ld.shared.u32 %r1, [%r2];",
        "ld.const.u32 %r1, [fixed+4];",
        "mov.u32 %r1, common;",
        "mov.u64 %rd1, block;",
        "ld.param.u64 %rd1, [pointer+8];",
        "isspacep.global %p1, %rd1;",
        "prefetchu.L1 [%rd1];",
        /* packing */
        "mov.b64 %rd1, {%r1, %r2};",
        "mov.b64 {%h0, %h1, %h2, %h3}, %rd1;",
        "mov.b32 %r1, {%h1, 3};",
        "mov.b32 {%h1, _}, %r1;",
        /* one of each remaining shape */
        "mad.wide.u32 %rd1, %r2, %r3, %rd2;",
        "mul.wide.u16 %r1, %h1, %h2;",
        "popc.b64 %r1, %rd1;",
        "shl.b64 %rd1, %rd2, %r1;",
        "shr.s16 %h1, %h2, 3;",
        "bfi.b64 %rd1, %rd2, %rd3, 4, %r5;",
        "lop3.b32 %r1, %r2, %r3, %r4, 0x96;",
        "lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x96, !%p2;",
        "set.eq.and.u32.s32 %r1, %r2, %r3, !%p1;",
        "set.eq.u32.f16 %r1, %h2, %h3;",
        "slct.f32.s32 %f1, %f2, %f3, %r1;",
        "atom.global.add.u32 _, [cell], 1;",
        "atom.shared.cas.b64 %rd1, [%r1], %rd2, %rd3;",
        "red.global.add.f32 [cell], 1.0;",
        "atom.global.add.noftz.f16x2 %r1, [cell], %r2;",
        "atom.global.add.v2.f32 {%f1, %f2}, [cell], {%f3, %f4};",
        "red.global.max.noftz.v4.bf16x2 [cell], {%r1, %r2, %r3, %r4};",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [cell], [%r1], 16;",
        "cvt.pack.sat.u16.s32 %r1, %r2, %r3;",
        "cvt.pack.sat.s4.s32.b32 %r1, %r2, %r3, %r4;",
        "alloca.u64 %rd1, %rd2, 16;",
        "add.rz.ftz.f32x2 %rd1, %rd2, %rd3;",
        ".reg .b128 %q<2>; atom.exch.b128 %q0, [%rd1], %q1;",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f1, %f2}], {1, %r2};",
        "tex.level.2d.v2.f16x2.f32 {%r1, %r2}, [%rd1, {%f1, %f2}], %f3, {1, 2};",
        "ld.global.L1::evict_last.L2::cache_hint.u32 %r1, [cell], %rd1;",
        "bar.sync 0;",
        "bar.sync %r1, 64;",
        "bar.arrive 0, 64;",
        "bar.warp.sync -1;",
        "barrier.cta.sync.aligned 1, 32;",
        "barrier.cluster.arrive.release.aligned;",
        "shfl.sync.bfly.b32 %f1|%p1, %f2, 1, 31, -1;",
        "match.all.sync.b64 %r1|%p1, %rd2, -1;",
        "redux.sync.add.s32 %r1, %r2, -1;",
        "cvt.rn.bf16x2.f32 %r1, %f1, %f2;",
        "rcp.approx.ftz.f64 %fd1, %fd2;",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "nanosleep.u32 %r1;",
        "pmevent 3;",
        "trap;",
        "brkpt;",
        "exit;",
        "ret.uni;",
        "vset4.u32.u32.lt.add %r1, %r2, %r3, %r4;",
        "vshl.u32.u32.u32.clamp.add %r1, %r2, %r3, %r4;",
        "call (%r1), helper, (%f2);",
        "call (_), helper, (7);",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        ptx_module_free(fixture_body(bodies[i]));
}

static void types_and_modifiers_are_checked(void **state) {
    (void)state;
    fixture_rejects("add.u8 %r1, %r2, %r3;", 1, "add does not take .u8");
    fixture_rejects("neg.u32 %r1, %r2;", 1, "neg does not take .u32");
    fixture_rejects("and.f32 %f1, %f2, %f3;", 1, "and does not take .f32");
    fixture_rejects("add %r1, %r2, %r3;", 1, "add needs 1 type, got 0");
    fixture_rejects("cvt.s32 %r1, %r2;", 1, "cvt needs 2 types, got 1");
    fixture_rejects("add.s32.s32 %r1, %r2, %r3;", 1, "add takes 1 type, got 2");
    fixture_rejects("ret.s32;", 1, "ret takes 0 types, got 1");
    fixture_rejects("add.lo.s32 %r1, %r2, %r3;", 1, "'.lo' does not apply to add.s32");
    fixture_rejects("exit.uni;", 1, "'.uni' does not apply to exit");
    fixture_rejects("mul.s32 %r1, %r2, %r3;", 1, "mul.s32 needs one of .lo .hi .wide");
    fixture_rejects("fma.f32 %f1, %f2, %f3, %f1;", 1, "fma.f32 needs one of .rn .rz .rm .rp");
    fixture_rejects("sin.f32 %f1, %f2;", 1, "sin.f32 needs .approx");
    fixture_rejects("shf.l.b32 %r1, %r2, %r3, %r4;", 1, "shf.l.b32 needs one of .clamp .wrap");
    fixture_rejects("mul.wide.s64 %rd1, %rd2, %rd3;", 1, "mul.wide.s64 does not exist: .wide takes 16 and 32 bits");
    fixture_rejects("add.sat.u32 %r1, %r2, %r3;", 1,
                    "add.sat.u32 does not exist: .sat takes .s32, .f32 and half precision");
    fixture_rejects("add.ftz.f64 %fd1, %fd2, %fd3;", 1,
                    "add.ftz.f64 does not exist: .ftz is for .f32 and half precision");
    fixture_rejects("add.rn.s32 %r1, %r2, %r3;", 1,
                    "add.rn.s32 is an integer instruction: rounding and .ftz are for floating point");
    fixture_rejects("setp.lt.b32 %p1, %r1, %r2;", 1, "setp.lt.b32 does not exist: .b32 has no such comparison");
    fixture_rejects("setp.lo.s32 %p1, %r1, %r2;", 1, "setp.lo.s32 does not exist: .s32 has no such comparison");
    fixture_rejects("cvta.u64 %rd1, %rd2;", 1, "cvta.u64 needs a state space such as .global");
}

static void extensions_are_checked(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "cond_acc.shared.b32 %r1, [common], %p1, %f2;",
        "cond_acc.shared.b8 %r1, [%r2+4], !%p1, %h2;",
        "cond_acc.global.b16 %r1, [%rd1], %p1, %r2;",
        "@%p2 cond_acc.global.b64 %r1, [%rd1], %p1, 7;",
        "tree_traverse.u64 %rd1, %rd2, %p1, 128;",
        "tree_traverse.u32 %r1, %r2, !%p1, %r3;",
        "progress.u32 %r1;",
        "cond_acc.sync.shared.b32 %r1, [common], %p1, %r2, -1;",
        "tree_traverse.sync.u64 %rd1, %rd2, %p1, 128, %r3;",
        "progress.u32 7;",
        "ld.global.heddle::row.u32 %r1, [%rd1];",
        "ld.global.nc.heddle::row.v2.f32 {%f1, %f2}, [cell];",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        ptx_module_free(fixture_body(bodies[i]));
    fixture_rejects("cond_acc.b32 %r1, [%rd1], %p1, %r2;", 1, "cond_acc.b32 needs .global or .shared");
    fixture_rejects("cond_acc.sync.shared.b32 %r1, [common], %p1, %r2;", 1,
                    "cond_acc.sync.shared.b32 needs a mask of lanes as fifth operand");
    fixture_rejects("tree_traverse.u32 %r1, %r2, %p1, 4, -1;", 1, "tree_traverse.u32 with a fifth operand needs .sync");
    fixture_rejects("cond_acc.local.b32 %r1, [%rd1], %p1, %r2;", 1, "cond_acc.local.b32 needs .global or .shared");
    fixture_rejects("cond_acc.shared.u32 %r1, [common], %p1, %r2;", 1, "cond_acc does not take .u32");
    fixture_rejects("cond_acc.shared.b32 %rd1, [common], %p1, %r2;", 21,
                    "'%rd1' is .b64, but cond_acc.shared.b32 needs .u32 here");
    fixture_rejects("cond_acc.shared.b32 %r1, common, %p1, %r2;", 26,
                    "cond_acc.shared.b32 needs an address in brackets here, got a variable");
    fixture_rejects("tree_traverse.u32 %r1, %r2, %p1, 96;", 1,
                    "tree_traverse.u32 needs a node size that is a power of two");
    fixture_rejects("tree_traverse.u32 %r1, %r2, %p1, 0;", 1,
                    "tree_traverse.u32 needs a node size that is a power of two");
    fixture_rejects("tree_traverse.s32 %r1, %r2, %p1, 4;", 1, "tree_traverse does not take .s32");
    fixture_rejects("progress.u32 %rd1;", 14, "'%rd1' is .b64, but progress.u32 needs .u32 here");
    fixture_rejects("ld.shared.heddle::row.u32 %r1, [common];", 1,
                    "ld.shared.heddle::row.u32 hints at a row of .global memory; other spaces have none");
    fixture_rejects("st.global.heddle::row.u32 [%rd1], %r1;", 1, "'.heddle::row' does not apply to st.u32");
}

static void operand_counts_and_kinds_are_checked(void **state) {
    (void)state;
    fixture_rejects("add.s32 %r1, %r2;", 1, "add.s32 needs 3 operands, got 2");
    fixture_rejects("ld.global.u32 %r1;", 1, "ld.global.u32 needs 2 or 3 operands, got 1");
    fixture_rejects("exit %r1;", 1, "exit needs 0 operands, got 1");
    fixture_rejects("ld.global.u32 %r1, cell;", 20, "ld.global.u32 needs an address in brackets here, got a variable");
    fixture_rejects("st.global.u32 %r1, [cell];", 15,
                    "st.global.u32 needs an address in brackets here, got a register");
    fixture_rejects("add.s32 3, %r1, %r2;", 9, "add.s32 needs a destination register here, got an integer constant");
    fixture_rejects("add.s32 %r1, cell, %r2;", 14, "add.s32 needs a register or a constant here, got a variable");
    fixture_rejects("mov.u32 _, %r1;", 9, "mov.u32 needs a destination register here, got '_'");
    fixture_rejects("st.global.v2.u32 [cell], {%r1, _};", 32,
                    "st.global.v2.u32 needs a register or a constant here, got '_'");
    fixture_rejects("ld.global.v2.u32 {%r1, %r2, %r3}, [cell];", 18,
                    "ld.global.v2.u32 needs a vector of 2 here, got 3");
    fixture_rejects("ld.global.v2.u32 %r1, [cell];", 18, "ld.global.v2.u32 needs a vector of 2 here, got 1");
    fixture_rejects("lop3.b32 %r1, %r2, %r3, %r4, %r5;", 30, "lop3.b32 needs an integer constant here, got a register");
    fixture_rejects("add.s32 %r1, %tid.x, 3;", 14, "add.s32 cannot read the special register '%tid'; use mov");
    fixture_rejects("mov.u64 %rd1, %tid.x;", 15, "special register '%tid' has 32 bits, not .u64");
    fixture_rejects("mov.u32 %r1, %tid;", 14, "'%tid' needs a component such as .x");
    fixture_rejects("add.s32 %r1, %r2.b0, 3;", 14, "add.s32 takes no selector such as .b0");
    fixture_rejects("add.s32 %r1, -%r2, 3;", 14, "add.s32 cannot negate this operand");
    fixture_rejects("add.s32 %r1|%p1, %r2, 3;", 9, "add.s32 takes no pair of registers here");
    fixture_rejects("setp.eq.s32 %p1, %r1, %r2, %p3;", 1,
                    "setp.eq.s32 with a fourth operand needs one of .and .or .xor");
    fixture_rejects("setp.eq.and.s32 %p1, %r1, %r2;", 1, "setp.eq.and.s32 needs a predicate as fourth operand");
    fixture_rejects("bar.sync 16;", 10, "a block has barriers 0 to 15");
    fixture_rejects("bar.red.and.pred %p1, 16, %p2;", 23, "a block has barriers 0 to 15");
    fixture_rejects("bar.arrive 0;", 1, "bar.arrive needs 2 operands: the barrier and the number of threads");
    fixture_rejects("barrier.sync;", 1, "barrier.sync needs the number of a barrier");
    fixture_rejects("mov.b64 {%r1, %r2}, {%r3, %r4};", 9,
                    "mov.b64 cannot move a vector; packing needs a type such as .b64");
    fixture_rejects("mov.b64 %rd1, {%r1, %r2, %r3};", 15, "3 parts do not make up a .b64");
}

static void register_types_are_checked(void **state) {
    (void)state;
    fixture_rejects("add.s32 %r1, %f2, %r3;", 14, "'%f2' is .f32, but add.s32 needs .s32 here");
    fixture_rejects("add.f32 %f1, %fd2, %f3;", 14, "'%fd2' is .f64, but add.f32 needs .f32 here");
    fixture_rejects("add.s32 %h1, %r2, %r3;", 9, "'%h1' is .b16, but add.s32 needs .s32 here");
    fixture_rejects("ld.global.u32 %h1, [cell];", 15, "'%h1' is .b16, but ld.global.u32 needs .u32 here");
    fixture_rejects("ld.global.u8 %f1, [cell];", 14, "'%f1' is .f32, but ld.global.u8 needs .u8 here");
    fixture_rejects("ld.global.f32 %fd1, [cell];", 15, "'%fd1' is .f64, but ld.global.f32 needs .f32 here");
    fixture_rejects("shl.b64 %rd1, %rd2, %rd3;", 21, "'%rd3' is .b64, but shl.b64 needs .u32 here");
    fixture_rejects("popc.b64 %rd1, %rd2;", 10, "'%rd1' is .b64, but popc.b64 needs .u32 here");
    fixture_rejects("setp.eq.s32 %r1, %r2, %r3;", 13, "'%r1' is .b32, but setp.eq.s32 needs .pred here");
    fixture_rejects("selp.b32 %r1, %r2, %r3, %r4;", 25, "'%r4' is .b32, but selp.b32 needs .pred here");
    fixture_rejects("add.s32 %r1, %p1, %r3;", 14, "'%p1' is .pred, but add.s32 needs .s32 here");
    fixture_rejects("brx.idx %rd1, t; t: .branchtargets l; l: ret;", 9, "'%rd1' is .b64, but brx.idx needs .u32 here");
    fixture_rejects("add.f32 %f1, %f2, 1;", 19,
                    "an integer constant cannot be a .f32 operand of add.f32; write it with a point, as in 1.0");
    fixture_rejects("add.s32 %r1, %r2, 1.5;", 19, "a floating-point constant cannot be a .s32 operand of add.s32");
    fixture_rejects("mov.b32 %r1, 1.5;", 14, "a floating-point constant cannot be a .b32 operand of mov.b32");
}

static void conversions_need_a_rounding_mode(void **state) {
    (void)state;
    fixture_rejects("cvt.f32.u32 %f1, %r2;", 1, "cvt.f32.u32 needs one of .rn .rz .rm .rp");
    fixture_rejects("cvt.u32.f32 %r1, %f2;", 1, "cvt.u32.f32 needs one of .rni .rzi .rmi .rpi");
    fixture_rejects("cvt.f32.f64 %f1, %fd2;", 1, "cvt.f32.f64 needs one of .rn .rz .rm .rp");
    fixture_rejects("cvt.rn.f64.f32 %fd1, %f2;", 1, "cvt.rn.f64.f32 is exact: .rn .rz .rm .rp do not apply");
    fixture_rejects("cvt.rni.s32.u32 %r1, %r2;", 1,
                    "cvt.rni.s32.u32 does not round to an integer: .rni .rzi .rmi .rpi do not apply");
}

static void addresses_and_spaces_are_checked(void **state) {
    (void)state;
    fixture_rejects("ld.global.u32 %r1, [%r2];", 20,
                    "'%r2' is .b32; the address of ld.global.u32 needs a 64-bit integer");
    fixture_rejects("ld.shared.u32 %r1, [%f2];", 20,
                    "'%f2' is .f32; the address of ld.shared.u32 needs a 64-bit or 32-bit integer");
    fixture_rejects("ld.global.u32 %r1, [common];", 20, "'common' is in .shared, but ld.global.u32 accesses .global");
    fixture_rejects("ld.u32 %r1, [fixed];", 13, "'fixed' is in .const, but ld.u32 accesses a generic address");
    fixture_rejects("st.const.u32 [fixed], %r1;", 1, "st.const.u32 writes to read-only memory");
    fixture_rejects("st.param.u32 [block], %r1;", 14, "parameter 'block' cannot be written");
    fixture_rejects("mov.u32 %r1, cell;", 14, "the address of 'cell' needs a 64-bit integer, not .u32");
    fixture_rejects("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [cell, {%r1}];", 41,
                    "tex.1d.v4.f32.s32 needs a texture, sampler or surface here");
}

static void atomics_are_checked(void **state) {
    (void)state;
    fixture_rejects("atom.global.and.u32 %r1, [cell], 1;", 1, "atom.global.and.u32 needs a type such as .b32");
    fixture_rejects("atom.global.inc.s32 %r1, [cell], 3;", 1, "atom.global.inc.s32 needs .u32");
    fixture_rejects("atom.global.cas.b32 %r1, [cell], 3;", 1,
                    "atom.global.cas.b32 needs a value to compare with and a value to store");
    fixture_rejects("atom.global.add.u32 %r1, [cell], 3, 4;", 1, "atom.global.add.u32 needs one value");
    fixture_rejects("atom.local.add.u32 %r1, [%rd1], 1;", 1, "atom.local.add.u32 works on .global and .shared only");
    fixture_rejects("red.global.add.s64 [%rd1], 1;", 1, "red.global.add.s64 does not exist: 64-bit addition is .u64");
    fixture_rejects("red.shared.add.v2.f32 [%rd1], {%f1, %f2};", 1,
                    "red.shared.add.v2.f32 does not exist: vectors are in .global memory");
    fixture_rejects("red.global.add.v2.u32 [%rd1], {%r1, %r2};", 1,
                    "red.global.add.v2.u32 does not exist: vectors are of .f32 and half precision");
    fixture_rejects("atom.global.add.v2.f32 {%f1, %f2}, [%rd1], %f1;", 44,
                    "atom.global.add.v2.f32 needs a vector of 2 here, got 1");
    fixture_rejects("ld.global.v2.f32 {%f1, %f2}|%p1, [%rd1];", 18, "ld.global.v2.f32 takes no pair of registers here");
}

static void packing_of_integers_is_checked(void **state) {
    (void)state;
    fixture_rejects("cvt.pack.u16.s32 %r1, %r2, %r3;", 1, "cvt.pack.u16.s32 needs .sat");
    fixture_rejects("cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3;", 1, "cvt.pack.sat.u8.s32.b32 needs 4 operands");
    fixture_rejects("cvt.pack.sat.u8.s32 %r1, %r2, %r3, %r4;", 1,
                    "cvt.pack.sat.u8.s32 must be of .s32, and with a fourth operand of .s32.b32");
}

static void calls_are_checked_against_the_function(void **state) {
    (void)state;
    fixture_rejects("call helper;", 1, "the call has 0 results, but the function has 1");
    fixture_rejects("call (%r1), helper, (%r2, %r3);", 1, "the call has 2 arguments, but the function has 1");
    fixture_rejects("call (%r1), helper, (%rd1);", 22, "8 bytes are passed for 'a', which has 4");
    fixture_rejects("{ .param .b64 x; call (%r1), helper, (x); }", 39, "8 bytes are passed for 'a', which has 4");
    fixture_rejects("call (%r1), helper, (cell);", 22,
                    "'cell' is in .global; a call passes .param variables and registers");
    fixture_rejects("call kernel, (%rd1);", 6, "'kernel' is an .entry and cannot be called");
    fixture_rejects("call (%r1), %rd1, (%r2);", 1, "call through a register needs a .callprototype or .calltargets");
    fixture_rejects("p: .callprototype _ (); call %r1, p;", 30, "'%r1' is .b32; the address of a function has 64 bits");
}

static void constants_take_the_width_of_their_operand(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("add.f32 %f1, %f2, 0.1; add.f64 %fd1, %fd2, 0f3FC00000; cvt.f64.f32 %fd1, 2.0;\n"
                     "add.f64 %fd1, %fd2, 0.1;");
    const struct ptx_operand *single = &fixture_instruction(module, 0)->operand[2];
    const struct ptx_operand *wide = &fixture_instruction(module, 1)->operand[2];
    assert_int_equal(single->kind, PTX_OPERAND_FLOAT32);
    assert_int_equal(single->value, 0x3dcccccd);
    assert_int_equal(wide->kind, PTX_OPERAND_FLOAT64);
    assert_int_equal(wide->value, 0x3ff8000000000000);
    assert_int_equal(fixture_instruction(module, 2)->operand[1].kind, PTX_OPERAND_FLOAT32);
    assert_int_equal(fixture_instruction(module, 3)->operand[2].value, 0x3fb999999999999a);
    ptx_module_free(module);
}

static void a_generic_access_takes_the_space_of_a_named_variable(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("ld.u32 %r1, [common]; ld.u32 %r1, [cell]; atom.add.u32 %r1, [common], 1;\n"
                     "ld.u32 %r1, [%rd1];");
    assert_int_equal(fixture_instruction(module, 0)->space, PTX_SPACE_SHARED);
    assert_int_equal(fixture_instruction(module, 1)->space, PTX_SPACE_GLOBAL);
    assert_int_equal(fixture_instruction(module, 2)->space, PTX_SPACE_SHARED);
    assert_int_equal(fixture_instruction(module, 3)->space, PTX_SPACE_GENERIC);
    ptx_module_free(module);
}

static void negated_predicates_are_rewritten_where_an_instruction_cannot_read_them(void **state) {
    (void)state;
    struct ptx_module *module =
        fixture_body("selp.b32 %r1, %r2, 7, !%p1; mov.pred %p1, !%p2; not.pred %p1, !%p2; and.pred %p1, %p2, !%p3;\n"
                     "setp.eq.and.s32 %p1, %r1, %r2, !%p3; vote.sync.any.pred %p1, !%p2, -1;");
    const struct ptx_instruction *select = fixture_instruction(module, 0);
    assert_int_equal(select->operand[1].value, 7);
    assert_string_equal(fixture_register(module, select->operand[2].register_id), "%r2");
    assert_false(select->operand[3].is_negated);
    assert_int_equal(fixture_instruction(module, 1)->opcode, PTX_OP_NOT);
    assert_false(fixture_instruction(module, 1)->operand[1].is_negated);
    assert_int_equal(fixture_instruction(module, 2)->opcode, PTX_OP_MOV);
    assert_true(fixture_instruction(module, 3)->operand[2].is_negated);
    assert_true(fixture_instruction(module, 4)->operand[3].is_negated);
    assert_true(fixture_instruction(module, 5)->operand[1].is_negated);
    ptx_module_free(module);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_instructions_pass),
        cmocka_unit_test(types_and_modifiers_are_checked),
        cmocka_unit_test(extensions_are_checked),
        cmocka_unit_test(operand_counts_and_kinds_are_checked),
        cmocka_unit_test(register_types_are_checked),
        cmocka_unit_test(conversions_need_a_rounding_mode),
        cmocka_unit_test(addresses_and_spaces_are_checked),
        cmocka_unit_test(atomics_are_checked),
        cmocka_unit_test(packing_of_integers_is_checked),
        cmocka_unit_test(calls_are_checked_against_the_function),
        cmocka_unit_test(constants_take_the_width_of_their_operand),
        cmocka_unit_test(a_generic_access_takes_the_space_of_a_named_variable),
        cmocka_unit_test(negated_predicates_are_rewritten_where_an_instruction_cannot_read_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
