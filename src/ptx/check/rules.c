/* The table of check.c, from the instruction descriptions of the PTX ISA manual; Heddle's own instructions come from
 * docs/extensions.md. */
#include "ptx/check/rules.h"

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
    MEMORY = BYTES | INT | FLOAT | BITS | T(B8),
    FLOAT8 = T(E4M3X2) | T(E5M2X2),
    TEXELS = I32 | T(F32) | T(F16) | T(F16X2),
    CONVERT = BYTES | INT | FLOAT | HALF | T(TF32),
    ATOMIC = I3264 | FLOAT | HALF | T(B16) | B3264
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

#define TYPES(...)                                                                                                     \
    { __VA_ARGS__ }
#define RULE(op, type_sets, letters, ...) [PTX_OP_##op] = {.types = type_sets, .operands = letters, __VA_ARGS__}

static const struct ptx_rule rules[PTX_N_OPCODES] = {
    /* integer and floating-point arithmetic */
    RULE(ABS, TYPES(SIGNED | FLOAT | HALF), "ds", .modifiers = "ftz"),
    RULE(NEG, TYPES(SIGNED | FLOAT | HALF), "ds", .modifiers = "ftz"),
    RULE(ADD, TYPES(INT | X2 | FLOAT | HALF | T(F32X2)), "dss", .modifiers = ROUND " ftz sat cc"),
    RULE(SUB, TYPES(INT | X2 | FLOAT | HALF | T(F32X2)), "dss", .modifiers = ROUND " ftz sat cc"),
    RULE(ADDC, TYPES(I3264), "dss", .modifiers = "cc"),
    RULE(SUBC, TYPES(I3264), "dss", .modifiers = "cc"),
    RULE(MUL, TYPES(INT | FLOAT | HALF | T(F32X2)), "dss", .needs_if_int = "lo hi wide", .modifiers = ROUND " ftz sat"),
    RULE(MAD, TYPES(INT | FLOAT), "dsss", .needs_if_int = "lo hi wide", .needs_if_float = ROUND,
         .modifiers = "ftz sat cc"),
    RULE(MADC, TYPES(I3264), "dsss", .needs = "lo hi", .modifiers = "cc"),
    RULE(MUL24, TYPES(I32), "dss", .needs = "lo hi"),
    RULE(MAD24, TYPES(I32), "dsss", .needs = "lo hi", .modifiers = "sat"),
    RULE(SAD, TYPES(INT), "dsss"),
    RULE(DIV, TYPES(INT | FLOAT), "dss", .needs_if_float = ROUND " approx full", .modifiers = "ftz"),
    RULE(REM, TYPES(INT), "dss"),
    RULE(MIN, TYPES(INT | X2 | FLOAT | HALF), "dss", .modifiers = "ftz NaN xorsign abs relu"),
    RULE(MAX, TYPES(INT | X2 | FLOAT | HALF), "dss", .modifiers = "ftz NaN xorsign abs relu"),
    RULE(DP4A, TYPES(I32, I32), "dsss"),
    RULE(DP2A, TYPES(I32, I32), "dsss", .needs = "lo hi"),
    RULE(FMA, TYPES(FLOAT | HALF | T(F32X2), NONE | T(F16) | T(BF16)), "dsss", .needs = ROUND,
         .modifiers = "ftz sat relu oob"),
    RULE(RCP, TYPES(FLOAT), "ds", .needs = ROUND " approx", .modifiers = "ftz"),
    RULE(SQRT, TYPES(FLOAT), "ds", .needs = ROUND " approx", .modifiers = "ftz"),
    RULE(RSQRT, TYPES(FLOAT), "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(SIN, TYPES(T(F32)), "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(COS, TYPES(T(F32)), "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(LG2, TYPES(T(F32)), "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(EX2, TYPES(T(F32) | HALF), "ds", .needs = "approx", .modifiers = "ftz"),
    RULE(TANH, TYPES(T(F32) | HALF), "ds", .needs = "approx"),
    RULE(COPYSIGN, TYPES(FLOAT), "dss"),
    /* comparison and selection */
    RULE(TESTP, TYPES(FLOAT), "Ps", .needs = "finite infinite number notanumber normal subnormal"),
    RULE(SET, TYPES(I32 | T(F32) | T(U16) | T(S16) | HALF, BITS | INT | FLOAT | HALF), "dss|dssp", .needs = COMPARE,
         .modifiers = "and or xor ftz"),
    RULE(SETP, TYPES(BITS | INT | FLOAT | HALF), "Pss|Pssp", .needs = COMPARE, .modifiers = "and or xor ftz"),
    RULE(SELP, TYPES(BITS | INT | FLOAT), "dssp"),
    RULE(SLCT, TYPES(BITS | INT | FLOAT, T(S32) | T(F32)), "dsss", .modifiers = "ftz"),
    /* bits */
    RULE(AND, TYPES(BITS | T(PRED)), "dss"),
    RULE(OR, TYPES(BITS | T(PRED)), "dss"),
    RULE(XOR, TYPES(BITS | T(PRED)), "dss"),
    RULE(NOT, TYPES(BITS | T(PRED)), "ds"),
    RULE(CNOT, TYPES(BITS), "ds"),
    RULE(SHL, TYPES(BITS), "dss"),
    RULE(SHR, TYPES(BITS | INT), "dss"),
    RULE(SHF, TYPES(T(B32)), "dsss", .needs = "l r", .modifiers = "clamp wrap"),
    RULE(BFE, TYPES(I3264), "dsss"),
    RULE(BFI, TYPES(B3264), "dssss"),
    RULE(BFIND, TYPES(I3264), "ds", .modifiers = "shiftamt"),
    RULE(BMSK, TYPES(T(B32)), "dss", .needs = "clamp wrap"),
    RULE(BREV, TYPES(B3264), "ds"),
    RULE(CLZ, TYPES(B3264), "ds"),
    RULE(POPC, TYPES(B3264), "ds"),
    RULE(FNS, TYPES(T(B32)), "dsss"),
    RULE(LOP3, TYPES(T(B32)), "dsssi|Qsssip", .modifiers = "and or"),
    RULE(PRMT, TYPES(T(B32)), "dsss", .modifiers = "f4e b4e rc8 ecl ecr rc16"),
    RULE(SZEXT, TYPES(I32), "dss", .needs = "clamp wrap"),
    /* data movement */
    RULE(MOV, TYPES(BITS | INT | FLOAT | T(PRED)), "MM"),
    RULE(CVT, TYPES(CONVERT | T(F16X2) | T(BF16X2) | FLOAT8, CONVERT | T(F16X2) | FLOAT8), "DS|DSS",
         .modifiers = ROUND " rna rni rzi rmi rpi ftz sat relu satfinite"),
    RULE(CVTA, TYPES(T(U32) | T(U64)), "ds", .modifiers = "to"),
    RULE(LD, TYPES(MEMORY), "Dm|Dmh", .modifiers = ORDER " " EVICT " ca cg cs lu cv nc heddle::row"),
    RULE(LDU, TYPES(MEMORY), "Dm"),
    RULE(ST, TYPES(MEMORY), "mS|mSh", .modifiers = ORDER " " EVICT " wb cg cs wt"),
    RULE(PREFETCH, TYPES(NONE), "m", .needs = "L1 L2 L2::evict_last L2::evict_normal tensormap"),
    RULE(PREFETCHU, TYPES(NONE), "m", .needs = "L1"),
    RULE(APPLYPRIORITY, TYPES(NONE), "mi", .needs = "L2::evict_normal"),
    RULE(DISCARD, TYPES(NONE), "mi", .needs = "L2"),
    RULE(ISSPACEP, TYPES(NONE), "PA"),
    RULE(MEMBAR, TYPES(NONE), "", .needs = "cta gl sys gpu cluster proxy", .modifiers = "alias async"),
    RULE(ALLOCA, TYPES(T(U32) | T(U64)), "ds|dsi"),
    RULE(STACKSAVE, TYPES(T(U32) | T(U64)), "d"),
    RULE(STACKRESTORE, TYPES(T(U32) | T(U64)), "s"),
    RULE(FENCE, TYPES(NONE), "",
         .modifiers = ORDER " proxy alias async async::generic mbarrier_init sync_restrict::shared::cta "
                            "sync_restrict::shared::cluster"),
    RULE(ATOM, TYPES(ATOMIC), "DmE|DmEE", .needs = ATOMIC_OPERATIONS, .modifiers = ORDER " noftz"),
    RULE(RED, TYPES(ATOMIC), "mS|mSh", .needs = "and or xor add inc dec min max",
         .modifiers = ORDER " noftz L2::cache_hint"),
    /* clusters */
    RULE(MAPA, TYPES(T(U32) | T(U64)), "dsu"),
    RULE(GETCTARANK, TYPES(T(U32) | T(U64)), "ds"),
    /* textures and surfaces */
    RULE(TEX, TYPES(TEXELS, T(S32) | T(F32)), "Vx|Vxo|Vxos", .needs = GEOMETRY, .modifiers = "base"),
    RULE(TLD4, TYPES(TEXELS, T(F32)), "Vx|Vxo|Vxos", .needs = "r g b a", .modifiers = GEOMETRY),
    RULE(TXQ, TYPES(B3264), "dt|dts",
         .needs = "width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels "
                  "num_samples filter_mode addr_mode_0 addr_mode_1 addr_mode_2 force_unnormalized_coords",
         .modifiers = "level"),
    RULE(SULD, TYPES(T(B8) | BITS), "Vx", .needs = GEOMETRY, .modifiers = "b ca cg cs cv trap clamp zero"),
    RULE(SUST, TYPES(T(B8) | BITS | I32 | T(F32)), "xV", .needs = GEOMETRY,
         .modifiers = "b p wb cg cs wt trap clamp zero"),
    RULE(SURED, TYPES(T(B32) | I32 | I64), "xs", .needs = "add min max and or",
         .modifiers = GEOMETRY " b p trap clamp zero"),
    RULE(SUQ, TYPES(T(B32)), "dt",
         .needs = "width height depth channel_data_type channel_order array_size memory_layout"),
    /* warp-wide */
    RULE(ACTIVEMASK, TYPES(T(B32)), "d"),
    RULE(MATCH, TYPES(B3264), "Qsu", .needs = "any all", .modifiers = "sync"),
    RULE(VOTE, TYPES(T(B32) | T(PRED)), "dp|dpu", .needs = "all any uni ballot", .modifiers = "sync"),
    RULE(SHFL, TYPES(T(B32)), "Qsuu|Qsuuu", .needs = "up down bfly idx", .modifiers = "sync"),
    RULE(ELECT, TYPES(NONE), "Qu", .needs = "sync"),
    RULE(REDUX, TYPES(T(U32) | T(S32) | T(B32) | T(F32)), "dsu", .needs = "add min max and or xor",
         .modifiers = "sync abs NaN"),
    /* control */
    RULE(BAR, TYPES(NONE | T(U32) | T(PRED)), "u|uu|dup|duup", .needs = "sync arrive red",
         .modifiers = "warp cta popc and or"),
    RULE(BARRIER, TYPES(NONE | T(U32) | T(PRED)), "|u|uu|dup|duup", .needs = "sync arrive red wait",
         .modifiers = "cta cluster popc and or aligned acquire release relaxed"),
    RULE(RET, TYPES(NONE), "", .modifiers = "uni"),
    RULE(EXIT, TYPES(NONE), ""),
    RULE(TRAP, TYPES(NONE), ""),
    RULE(BRKPT, TYPES(NONE), ""),
    RULE(NANOSLEEP, TYPES(T(U32)), "s"),
    RULE(PMEVENT, TYPES(NONE), "i", .modifiers = "mask"),
    RULE(GRIDDEPCONTROL, TYPES(NONE), "", .needs = "launch_dependents wait"),
    RULE(SETMAXNREG, TYPES(T(U32)), "i", .needs = "inc dec", .modifiers = "sync aligned"),
    /* video: dtype.atype.btype */
    RULE(VADD, TYPES(I32, I32, I32), "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VSUB, TYPES(I32, I32, I32), "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VABSDIFF, TYPES(I32, I32, I32), "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VMIN, TYPES(I32, I32, I32), "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VMAX, TYPES(I32, I32, I32), "dvv|dvvv", .modifiers = VIDEO_AFTER),
    RULE(VSHL, TYPES(I32, I32, T(U32)), "dvv|dvvv", .needs = "clamp wrap", .modifiers = VIDEO_AFTER),
    RULE(VSHR, TYPES(I32, I32, T(U32)), "dvv|dvvv", .needs = "clamp wrap", .modifiers = VIDEO_AFTER),
    RULE(VMAD, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat po shr7 shr15"),
    RULE(VSET, TYPES(I32, I32), "dvv|dvvv", .needs = COMPARE, .modifiers = "add min max"),
    RULE(VADD2, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VSUB2, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VAVRG2, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VABSDIFF2, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VMIN2, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VMAX2, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VSET2, TYPES(I32, I32), "dvvv", .needs = COMPARE, .modifiers = "add"),
    RULE(VADD4, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VSUB4, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VAVRG4, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VABSDIFF4, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VMIN4, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VMAX4, TYPES(I32, I32, I32), "dvvv", .modifiers = "sat add"),
    RULE(VSET4, TYPES(I32, I32), "dvvv", .needs = COMPARE, .modifiers = "add"),
    /* Heddle's own instructions */
    RULE(COND_ACC, TYPES(T(B8) | BITS), "dmpS|dmpSu", .modifiers = "sync"),
    RULE(TREE_TRAVERSE, TYPES(T(U32) | T(U64)), "dspu|dspuu", .modifiers = "sync"),
    RULE(PROGRESS, TYPES(T(U32)), "u"),
};

/* Opcodes whose operands depend on one modifier or on two. The first row whose modifiers are all present applies; a row
 * without any comes last. */
#define NO_MODIFIER PTX_N_MODIFIERS
#define VARIANT(op, first, second, type_sets, letters, ...)                                                            \
    {                                                                                                                  \
        PTX_OP_##op, {first, second}, { .types = type_sets, .operands = letters, __VA_ARGS__ }                         \
    }
#define IF(op, first, ...) VARIANT(op, PTX_MOD_##first, NO_MODIFIER, __VA_ARGS__)
#define IF_BOTH(op, first, second, ...) VARIANT(op, PTX_MOD_##first, PTX_MOD_##second, __VA_ARGS__)
#define DIMENSIONS "1d 2d 3d 4d 5d"
#define SCOPE "acquire release relaxed cta cluster"
#define EVICT_L2 "L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged"

static const struct {
    enum ptx_opcode opcode;
    enum ptx_modifier modifier[2];
    struct ptx_rule rule;
} variants[] = {
    IF(ATOM, L2_CACHE_HINT, TYPES(ATOMIC), "DmEh|DmEEh", .needs = ATOMIC_OPERATIONS,
       .modifiers = ORDER " noftz L2::cache_hint"),
    IF(ST, ASYNC, TYPES(I3264 | B3264 | FLOAT), "mSa", .needs = "mbarrier::complete_tx::bytes",
       .modifiers = "async weak"),
    IF(ST, BULK, TYPES(NONE), "msi", .needs = "bulk", .modifiers = "weak"), /* valid PTX, but not supported */
    IF(RED, ASYNC, TYPES(T(U32) | T(S32) | T(U64) | T(B32)), "msa", .needs = "mbarrier::complete_tx::bytes",
       .modifiers = "async and or xor add inc dec min max relaxed cluster"),
    VARIANT(TEX, PTX_MOD_LEVEL, NO_MODIFIER, TYPES(TEXELS, T(S32) | T(F32)), "Vxs|Vxso|Vxsos", .needs = GEOMETRY,
            .modifiers = "level"),
    VARIANT(TEX, PTX_MOD_GRAD, NO_MODIFIER, TYPES(TEXELS, T(S32) | T(F32)), "Vxgg|Vxggo|Vxggos", .needs = GEOMETRY,
            .modifiers = "grad"),
    /* cvt.pack: .u2 .s2 .u4 .s4 are modifiers, because nothing else has such types */
    VARIANT(CVT, PTX_MOD_PACK, NO_MODIFIER,
            TYPES(T(U8) | T(S8) | T(U16) | T(S16) | T(S32), T(S32) | T(B32), NONE | T(B32)), "dss|dsss",
            .needs = "pack", .modifiers = "sat u2 s2 u4 s4"),
    /* tensor maps */
    IF_BOTH(CP, TENSOR, MBARRIER_COMPLETE_TX, TYPES(NONE), "1Ta|1TaO|1TaOO|1TaOOO", .needs = DIMENSIONS,
            .modifiers =
                "async bulk tensor tile im2col mbarrier::complete_tx::bytes multicast::cluster L2::cache_hint"),
    IF_BOTH(CP, TENSOR, PREFETCH, TYPES(NONE), "T|TO|TOO", .needs = DIMENSIONS,
            .modifiers = "async bulk tensor prefetch L2 tile im2col L2::cache_hint"),
    IF(CP, TENSOR, TYPES(NONE), "T2|T2O", .needs = DIMENSIONS,
       .modifiers =
           "reduce async bulk tensor tile im2col_no_offs bulk_group and or xor add inc dec min max L2::cache_hint"),
    IF(TENSORMAP, REPLACE, TYPES(T(B32) | T(B64)), "ms|mis",
       .needs = "global_address rank box_dim global_dim global_stride element_stride elemtype interleave_layout "
                "swizzle_mode "
                "fill_mode",
       .modifiers = "replace tile b1024"),
    VARIANT(TENSORMAP, NO_MODIFIER, NO_MODIFIER, TYPES(NONE), "12i", .needs = "cp_fenceproxy",
            .modifiers = "tensormap::generic release cta cluster gpu sys sync aligned"),
    IF_BOTH(FENCE, TENSORMAP_GENERIC, ACQUIRE, TYPES(NONE), "mi", .needs = "proxy",
            .modifiers = "tensormap::generic acquire cta cluster gpu sys"),
    IF(FENCE, TENSORMAP_GENERIC, TYPES(NONE), "", .needs = "proxy",
       .modifiers = "tensormap::generic release cta cluster gpu sys"),
    /* cp */
    IF_BOTH(CP, REDUCE, MBARRIER_COMPLETE_TX, TYPES(I3264 | B3264), "12ua", .needs = "and or xor add inc dec min max",
            .modifiers = "reduce async bulk mbarrier::complete_tx::bytes"),
    IF(CP, REDUCE, TYPES(I3264 | B3264 | FLOAT | T(F16) | T(BF16)), "12u|12uh", .needs = "bulk_group",
       .modifiers = "reduce async bulk noftz and or xor add inc dec min max L2::cache_hint"),
    IF(CP, COMMIT_GROUP, TYPES(NONE), "", .needs = "async", .modifiers = "bulk commit_group"),
    IF(CP, WAIT_GROUP, TYPES(NONE), "i", .needs = "async", .modifiers = "bulk wait_group read"),
    IF(CP, WAIT_ALL, TYPES(NONE), "", .needs = "async", .modifiers = "wait_all"),
    IF(CP, MBARRIER, TYPES(T(B64)), "m", .needs = "arrive", .modifiers = "async mbarrier noinc"),
    IF_BOTH(CP, BULK, PREFETCH, TYPES(NONE), "1u|1uh", .needs = "L2",
            .modifiers = "async bulk prefetch L2::cache_hint"),
    IF_BOTH(CP, BULK, MULTICAST, TYPES(NONE), "12uaO|12uaOh", .needs = "mbarrier::complete_tx::bytes",
            .modifiers = "async bulk multicast::cluster L2::cache_hint"),
    IF_BOTH(CP, BULK, MBARRIER_COMPLETE_TX, TYPES(NONE), "12ua|12uah", .needs = "async",
            .modifiers = "bulk mbarrier::complete_tx::bytes L2::cache_hint"),
    IF(CP, BULK, TYPES(NONE), "12u|12uh", .needs = "bulk_group", .modifiers = "async bulk L2::cache_hint"),
    IF(CP, L2_CACHE_HINT, TYPES(NONE), "12ih|12ieh", .needs = "ca cg",
       .modifiers = "async L2::cache_hint L2::64B L2::128B L2::256B"),
    VARIANT(CP, NO_MODIFIER, NO_MODIFIER, TYPES(NONE), "12i|12ie", .needs = "ca cg",
            .modifiers = "async L2::64B L2::128B L2::256B"),
    /* mbarrier */
    IF(MBARRIER, INIT, TYPES(T(B64)), "mu", .needs = "init"),
    IF(MBARRIER, INVAL, TYPES(T(B64)), "m", .needs = "inval"),
    IF_BOTH(MBARRIER, ARRIVE, EXPECT_TX, TYPES(T(B64)), "Dmu", .needs = "arrive", .modifiers = "expect_tx " SCOPE),
    IF_BOTH(MBARRIER, ARRIVE_DROP, EXPECT_TX, TYPES(T(B64)), "Dmu", .needs = "arrive_drop",
            .modifiers = "expect_tx " SCOPE),
    IF(MBARRIER, ARRIVE, TYPES(T(B64)), "Dm|Dmu", .needs = "arrive", .modifiers = "noComplete " SCOPE),
    IF(MBARRIER, ARRIVE_DROP, TYPES(T(B64)), "Dm|Dmu", .needs = "arrive_drop", .modifiers = "noComplete " SCOPE),
    IF(MBARRIER, EXPECT_TX, TYPES(T(B64)), "mu", .needs = "expect_tx", .modifiers = SCOPE),
    IF(MBARRIER, COMPLETE_TX, TYPES(T(B64)), "mu", .needs = "complete_tx", .modifiers = SCOPE),
    IF(MBARRIER, TEST_WAIT, TYPES(T(B64)), "dms", .needs = "test_wait", .modifiers = "parity " SCOPE),
    IF(MBARRIER, TRY_WAIT, TYPES(T(B64)), "dms|dmsu", .needs = "try_wait", .modifiers = "parity " SCOPE),
    VARIANT(MBARRIER, NO_MODIFIER, NO_MODIFIER, TYPES(T(B64)), "ds",
            .needs = "pending_count init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait"),
    /* createpolicy */
    IF(CREATEPOLICY, FRACTIONAL, TYPES(T(B64)), "d|ds", .needs = EVICT_L2, .modifiers = "fractional"),
    IF(CREATEPOLICY, RANGE, TYPES(T(B64)), "dmuu", .needs = EVICT_L2, .modifiers = "range"),
    VARIANT(CREATEPOLICY, NO_MODIFIER, NO_MODIFIER, TYPES(T(B64)), "ds", .needs = "cvt fractional range",
            .modifiers = "L2"),
};

static bool has(const struct ptx_instruction *instruction, enum ptx_modifier modifier) {
    return modifier == NO_MODIFIER || ptx_has(instruction, modifier);
}

const struct ptx_rule *ptx_rule_of(const struct ptx_instruction *instruction) {
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        if (variants[i].opcode == instruction->opcode && has(instruction, variants[i].modifier[0]) &&
            has(instruction, variants[i].modifier[1]))
            return &variants[i].rule;
    return rules[instruction->opcode].operands ? &rules[instruction->opcode] : NULL;
}
