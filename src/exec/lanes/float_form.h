/* The modifiers of floating-point forms as a set, for the selectors. */
#pragma once

#include <stdbool.h>

#include "exec/lanes/lanes.h"

enum {
    FORM_RN = 1 << 0,
    FORM_RZ = 1 << 1,
    FORM_RM = 1 << 2,
    FORM_RP = 1 << 3,
    FORM_RNI = 1 << 4,
    FORM_RZI = 1 << 5,
    FORM_RMI = 1 << 6,
    FORM_RPI = 1 << 7,
    FORM_RNA = 1 << 8,
    FORM_FTZ = 1 << 9,
    FORM_SAT = 1 << 10,
    FORM_SATFINITE = 1 << 11,
    FORM_RELU = 1 << 12,
    FORM_NAN = 1 << 13,
    FORM_XORSIGN = 1 << 14,
    FORM_ABS = 1 << 15,
    FORM_APPROX = 1 << 16,
    FORM_FULL = 1 << 17,
    FORM_OOB = 1 << 18,
    FORM_OTHER = 1 << 19, /* any modifier not named above */

    FORM_ROUNDINGS = FORM_RN | FORM_RZ | FORM_RM | FORM_RP,
    FORM_INTEGRALS = FORM_RNI | FORM_RZI | FORM_RMI | FORM_RPI,
    FORM_XORSIGN_ABS = FORM_XORSIGN | FORM_ABS,
};

static inline unsigned form_modifiers(const struct ptx_instruction *insn) {
    static const struct {
        enum ptx_modifier modifier;
        unsigned bit;
    } known[] = {
        {PTX_MOD_RN, FORM_RN},     {PTX_MOD_RZ, FORM_RZ},         {PTX_MOD_RM, FORM_RM},
        {PTX_MOD_RP, FORM_RP},     {PTX_MOD_RNI, FORM_RNI},       {PTX_MOD_RZI, FORM_RZI},
        {PTX_MOD_RMI, FORM_RMI},   {PTX_MOD_RPI, FORM_RPI},       {PTX_MOD_RNA, FORM_RNA},
        {PTX_MOD_FTZ, FORM_FTZ},   {PTX_MOD_SAT, FORM_SAT},       {PTX_MOD_SATFINITE, FORM_SATFINITE},
        {PTX_MOD_RELU, FORM_RELU}, {PTX_MOD_NAN, FORM_NAN},       {PTX_MOD_XORSIGN, FORM_XORSIGN},
        {PTX_MOD_ABS, FORM_ABS},   {PTX_MOD_APPROX, FORM_APPROX}, {PTX_MOD_FULL, FORM_FULL},
        {PTX_MOD_OOB, FORM_OOB},
    };
    struct ptx_instruction rest = *insn;
    unsigned set = 0;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (ptx_has(insn, known[i].modifier)) {
            set |= known[i].bit;
            rest.modifiers[known[i].modifier / 64] &= ~(1ull << known[i].modifier % 64);
        }
    for (unsigned word = 0; word < PTX_MODIFIER_WORDS; word++)
        set |= rest.modifiers[word] ? FORM_OTHER : 0;
    return set;
}

/* Returns whether there is at most one of the modifiers in `choice` and none outside `choice` and `allowed`. */
static inline bool form_allows(unsigned modifiers, unsigned choice, unsigned allowed) {
    unsigned chosen = modifiers & choice;
    return (chosen & (chosen - 1)) == 0 && (modifiers & ~(choice | allowed)) == 0;
}

/* .xorsign.abs is one modifier in two words. */
static inline bool form_allows_extreme(unsigned modifiers, unsigned allowed) {
    unsigned pair = modifiers & FORM_XORSIGN_ABS;
    return (pair == 0 || pair == FORM_XORSIGN_ABS) && (modifiers & ~(FORM_XORSIGN_ABS | allowed)) == 0;
}
