/* The table behind check.c, from the instruction descriptions of the PTX ISA manual. */
#include "ptx/check_rules.h"

#include <stddef.h>

#define T(type) (UINT32_C(1) << PTX_##type)

enum {
    NONE = T(NO_TYPE), /* the type may be missing */
    I16 = T(U16) | T(S16),
    I32 = T(U32) | T(S32),
    I64 = T(U64) | T(S64),
    INT = I16 | I32 | I64,
    I3264 = I32 | I64,
    X2 = T(U16X2) | T(S16X2),
    BITS = T(B16) | T(B32) | T(B64),
    B3264 = T(B32) | T(B64),
    HALF = T(F16) | T(F16X2) | T(BF16) | T(BF16X2),
    FLOAT = T(F32) | T(F64),
    SIGNED = T(S16) | T(S32) | T(S64),
    BYTES = T(U8) | T(S8),
    MEMORY = BYTES | INT | FLOAT | BITS | T(B8) | T(B128),
    CONVERT = BYTES | INT | FLOAT | HALF | T(TF32),
    ATOMIC = I3264 | FLOAT | HALF | T(B16) | B3264 | T(B128)
};

#define ROUND "rn rz rm rp"
#define COMPARE "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan"
#define ORDER "weak volatile relaxed acquire release acq_rel sc mmio cta cluster gpu sys"
#define EVICT                                                                                                          \
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::cache_hint "              \
    "L2::evict_first L2::evict_last L2::evict_normal L2::64B L2::128B L2::256B unified"
#define ATOMIC_OPERATIONS "and or xor cas exch add inc dec min max"
#define GEOMETRY "1d 2d 3d a1d a2d cube acube 2dms a2dms"
#define VIDEO_AFTER "sat add min max"

#define RULE(op, ...) [PTX_OP_##op] = {__VA_ARGS__}

static const struct ptx_rule rules[PTX_N_OPCODES] = {
    /* integer and floating-point arithmetic */
    RULE(ABS, {SIGNED | FLOAT | HALF}, "ds", .modifiers = "ftz"),
    RULE(NEG, {SIGNED | FLOAT | HALF}, "ds", .modifiers = "ftz"),
    RULE(ADD, {INT | X2 | FLOAT | HALF}, "dss", .modifiers = ROUND " ftz sat cc"),
    RULE(SUB, {INT | X2 | FLOAT | HALF}, "dss", .modifiers = ROUND " ftz sat cc"),
    RULE(ADDC, {I3264}, "dss", .modifiers = "cc"),
    RULE(SUBC, {I3264}, "dss", .modifiers = "cc"),
    RULE(MUL, {INT | FLOAT | HALF}, "dss", .needs_if_int = "lo hi wide", .modifiers = ROUND " ftz sat"),
    RULE(MAD, {INT | FLOAT}, "dsss", .needs_if_int = "lo hi wide", .needs_if_float = ROUND, .modifiers = "ftz sat cc"),
    RULE(MADC, {I3264}, "dsss", .needs = "lo hi", .modifiers = "cc"),
    RULE(MUL24, {I32}, "dss", .needs = "lo hi"),
    RULE(MAD24, {I32}, "dsss", .needs = "lo hi", .modifiers = "sat"),
    RULE(SAD, {INT}, "dsss"),
    RULE(DIV, {INT | FLOAT}, "dss", .needs_if_float = ROUND " approx full", .modifiers = "ftz"),
    RULE(REM, {INT}, "dss"),
    RULE(MIN, {INT | X2 | FLOAT | HALF}, "dss", .modifiers = "ftz NaN xorsign abs relu"),
    RULE(MAX, {INT | X2 | FLOAT | HALF}, "dss", .modifiers = "ftz NaN xorsign abs relu"),
    RULE(DP4A, {I32, I32}, "dsss"),
    RULE(DP2A, {I32, I32}, "dsss", .needs = "lo hi"),
    RULE(FMA, {FLOAT | HALF, NONE | T(F16) | T(BF16)}, "dsss", .needs = ROUND, .modifiers = "ftz sat relu oob"),
    RULE(RCP, {FLOAT}, "ds", .needs = ROUND " approx", .modifiers = "ftz"),
    RULE(SQRT, {FLOAT}, "ds", .needs = ROUND " approx", .modifiers = "ftz"),
    RULE(RSQRT, {FLOAT}, "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(SIN, {T(F32)}, "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(COS, {T(F32)}, "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(LG2, {T(F32)}, "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(EX2, {T(F32) | HALF}, "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(TANH, {T(F32) | HALF}, "ds", .needs = "approx"),
    RULE(COPYSIGN, {FLOAT}, "dss"),
    /* comparison and selection */
    RULE(TESTP, {FLOAT}, "Ps", .needs = "finite infinite number notanumber normal subnormal"),
    RULE(SET, {I32 | T(F32) | T(U16) | T(S16) | HALF, BITS | INT | FLOAT | HALF}, "dss|dssp", .needs = COMPARE,
         .modifiers = "and or xor ftz"),
    RULE(SETP, {BITS | INT | FLOAT | HALF}, "Pss|Pssp", .needs = COMPARE, .modifiers = "and or xor ftz"),
    RULE(SELP, {BITS | INT | FLOAT}, "dssp"),
    RULE(SLCT, {BITS | INT | FLOAT, T(S32) | T(F32)}, "dsss", .modifiers = "ftz"),
    /* bits */
    RULE(AND, {BITS | T(PRED)}, "dss"),
    RULE(OR, {BITS | T(PRED)}, "dss"),
    RULE(XOR, {BITS | T(PRED)}, "dss"),
    RULE(NOT, {BITS | T(PRED)}, "ds"),
    RULE(CNOT, {BITS}, "ds"),
    RULE(SHL, {BITS}, "dss"),
    RULE(SHR, {BITS | INT}, "dss"),
    RULE(SHF, {T(B32)}, "dsss", .needs = "l r", .modifiers = "clamp wrap"),
    RULE(BFE, {I3264}, "dsss"),
    RULE(BFI, {B3264}, "dssss"),
    RULE(BFIND, {I3264}, "ds", .modifiers = "shiftamt"),
    RULE(BMSK, {T(B32)}, "dss", .needs = "clamp wrap"),
    RULE(BREV, {B3264}, "ds"),
    RULE(CLZ, {B3264}, "ds"),
    RULE(POPC, {B3264}, "ds"),
    RULE(FNS, {T(B32)}, "dsss"),
    RULE(LOP3, {T(B32)}, "dsssi|Qsssip", .modifiers = "and or"),
    RULE(PRMT, {T(B32)}, "dsss", .modifiers = "f4e b4e rc8 ecl ecr rc16"),
    RULE(SZEXT, {I32}, "dss", .needs = "clamp wrap"),
    /* data movement */
    RULE(MOV, {BITS | INT | FLOAT | T(PRED) | T(B128)}, "MM"),
    RULE(CVT, {CONVERT | T(F16X2) | T(BF16X2), CONVERT}, "DS|DSS",
         .modifiers = ROUND " rna rni rzi rmi rpi ftz sat relu satfinite"),
    RULE(CVTA, {T(U32) | T(U64)}, "ds", .modifiers = "to"),
    RULE(LD, {MEMORY}, "Dm|Dmh", .modifiers = ORDER " " EVICT " ca cg cs lu cv nc"),
    RULE(LDU, {MEMORY}, "Dm"),
    RULE(ST, {MEMORY}, "mS|mSh", .modifiers = ORDER " " EVICT " wb cg cs wt async"),
    RULE(PREFETCH, {NONE}, "m", .needs = "L1 L2 L2::evict_last L2::evict_normal"),
    RULE(PREFETCHU, {NONE}, "m", .needs = "L1"),
    RULE(ISSPACEP, {NONE}, "PA"),
    RULE(MEMBAR, {NONE}, "", .needs = "cta gl sys gpu cluster proxy", .modifiers = "alias async"),
    RULE(FENCE, {NONE}, "", .modifiers = ORDER " proxy alias async"),
    RULE(ATOM, {ATOMIC}, "Dms|Dmss|Dmssh", .needs = ATOMIC_OPERATIONS, .modifiers = ORDER " noftz L2::cache_hint"),
    RULE(RED, {ATOMIC}, "mS|mSh", .needs = "and or xor add inc dec min max",
         .modifiers = ORDER " noftz async L2::cache_hint"),
    /* textures and surfaces */
    RULE(TEX, {I32 | T(F32) | T(F16X2), T(S32) | T(F32)}, "Vx|Vxs|Vxss|Vxsss|Vxssss", .needs = GEOMETRY,
         .modifiers = "base level grad"),
    RULE(TXQ, {B3264}, "dt|dts",
         .needs = "width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels "
                  "num_samples filter_mode addr_mode_0 addr_mode_1 addr_mode_2 force_unnormalized_coords",
         .modifiers = "level"),
    RULE(SULD, {T(B8) | BITS}, "Vx", .needs = GEOMETRY, .modifiers = "b ca cg cs cv trap clamp zero"),
    RULE(SUST, {T(B8) | BITS | I32 | T(F32)}, "xV", .needs = GEOMETRY, .modifiers = "b p wb cg cs wt trap clamp zero"),
    RULE(SUQ, {T(B32)}, "dt", .needs = "width height depth channel_data_type channel_order array_size memory_layout"),
    /* the warp together */
    RULE(ACTIVEMASK, {T(B32)}, "d"),
    RULE(MATCH, {B3264}, "Qsu", .needs = "any all", .modifiers = "sync"),
    RULE(VOTE, {T(B32) | T(PRED)}, "dp|dpu", .needs = "all any uni ballot", .modifiers = "sync"),
    RULE(SHFL, {T(B32)}, "Qsuu|Qsuuu", .needs = "up down bfly idx", .modifiers = "sync"),
    RULE(REDUX, {T(U32) | T(S32) | T(B32) | T(F32)}, "dsu", .needs = "add min max and or xor",
         .modifiers = "sync abs NaN"),
    /* control */
    RULE(BAR, {NONE | T(U32) | T(PRED)}, "u|uu|dup|duup", .needs = "sync arrive red",
         .modifiers = "warp cta popc and or"),
    RULE(BARRIER, {NONE | T(U32) | T(PRED)}, "|u|uu|dup|duup", .needs = "sync arrive red wait",
         .modifiers = "cta cluster popc and or aligned acquire release relaxed"),
    RULE(RET, {NONE}, "", .modifiers = "uni"),
    RULE(EXIT, {NONE}, ""),
    RULE(TRAP, {NONE}, ""),
    RULE(BRKPT, {NONE}, ""),
    RULE(NANOSLEEP, {T(U32)}, "s"),
    RULE(PMEVENT, {NONE}, "i", .modifiers = "mask"),
    /* video: dtype.atype.btype */
    RULE(VADD, {I32, I32, I32}, "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VSUB, {I32, I32, I32}, "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VABSDIFF, {I32, I32, I32}, "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VMIN, {I32, I32, I32}, "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VMAX, {I32, I32, I32}, "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VSHL, {I32, I32, T(U32)}, "dvv|dvvv", .needs = "clamp wrap", .modifiers = VIDEO_AFTER),
    RULE(VSHR, {I32, I32, T(U32)}, "dvv|dvvv", .needs = "clamp wrap", .modifiers = VIDEO_AFTER),
    RULE(VMAD, {I32, I32, I32}, "dvvv", .modifiers = "sat po shr7 shr15"),
    RULE(VSET, {I32, I32}, "dvv|dvvv", .needs = COMPARE, .modifiers = "add min max"),
    RULE(VADD2, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VSUB2, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VAVRG2, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VABSDIFF2, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VMIN2, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VMAX2, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VSET2, {I32, I32}, "dvvv", .needs = COMPARE, .modifiers = "add"),
    RULE(VADD4, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VSUB4, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VAVRG4, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VABSDIFF4, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VMIN4, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VMAX4, {I32, I32, I32}, "dvvv", .modifiers = "sat add"),
    RULE(VSET4, {I32, I32}, "dvvv", .needs = COMPARE, .modifiers = "add"),
};

const struct ptx_rule *ptx_rule_of(enum ptx_opcode opcode) { return rules[opcode].operands ? &rules[opcode] : NULL; }
