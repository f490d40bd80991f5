/* DRAM policies: one file each, one line in dram_policies.def. heddle/dram_policy.h, which plug-ins include too,
 * defines their interface. */
#pragma once

#include "config/plugin.h"
#include "heddle/dram_policy.h"

/* dram_registry.c */
extern const struct config_policies mem_dram_policies;
/* Parses the text of dram.policy on a machine with these rules, as sched_parse_by() does. */
bool mem_parse_dram_policy(const char *rules, const char *text, const struct dram_policy **policy, void **options,
                           char *error, size_t error_size);
