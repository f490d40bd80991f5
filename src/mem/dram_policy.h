/* DRAM policies: one file each, one line in dram_policies.def. heddle/dram_policy.h defines their interface. */
#pragma once

#include "heddle/dram_policy.h"

#define DRAM_POLICY(name, config) extern const struct dram_policy dram_##name;
#include "mem/dram_policies.def"
#undef DRAM_POLICY

/* dram.c: returns the policy in a shared object, or NULL after one line in `error`. */
const struct dram_policy *mem_load_dram_policy(const char *path, char *error, size_t error_size);
