/* The parts that every policy (warp scheduler, divergence model, DRAM policy) has in common: its options, and how a
 * shared object offers it.
 *
 *     heddle new scheduler NAME      writes one to start from
 *     heddle run bfs -s ./NAME.so    uses it
 *     heddle check ./NAME.so         tests it
 *
 * docs/plug-ins.md explains the steps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Options ----------------------------------------------------------------------------------------------------- */

enum config_plugin_option_type { CONFIG_PLUGIN_UINT, CONFIG_PLUGIN_CHOICE, CONFIG_PLUGIN_SET };

/* One row per option. Values are stored as uint32_t at `offset` in the policy's options struct. A choice stores the
 * index of its word in `choices` (words separated by '|'). A set, written `this+that`, stores a bit for each of its
 * words. */
struct config_plugin_option {
    const char *name;
    enum config_plugin_option_type type;
    size_t offset;
    uint32_t default_value, least, most;
    const char *choices;
    const char *help;
};

/* A word that stands for several values: `revive` for "mem=revive,reconv=pc". Values that the user writes out win. */
struct config_preset {
    const char *name;
    const char *values;
    const char *help;
};

/* ---- Shared objects ---------------------------------------------------------------------------------------------- */

/* The version of the interface between Heddle and plug-ins. It grows by 1 with every change of these headers that a
 * compiled plug-in would notice, and objects of another version are refused (docs/plug-ins.md). */
#define HEDDLE_PLUGIN_ABI 4

enum heddle_plugin_kind { HEDDLE_PLUGIN_SCHEDULER = 1, HEDDLE_PLUGIN_DIVERGENCE, HEDDLE_PLUGIN_DRAM_POLICY };

/* A shared object exports one such structure, named heddle_plugin. The macros HEDDLE_SCHEDULER, HEDDLE_DIVERGENCE_MODEL
 * and HEDDLE_DRAM_POLICY define it. */
struct heddle_plugin {
    uint32_t abi, kind;
    uint64_t layout; /* a digest of the sizes of the structures that the policy shares with Heddle */
    const void *table;
};

#define HEDDLE_PLUGIN_DEFINE(plugin_kind, plugin_layout, plugin_table)                                                 \
    __attribute__((visibility("default")))                                                                             \
    const struct heddle_plugin heddle_plugin = {HEDDLE_PLUGIN_ABI, plugin_kind, plugin_layout, plugin_table}
