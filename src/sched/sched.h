/* Warp schedulers: which warp issues next. One file per policy, ending in its operations table; schedulers.def lists
 * them. heddle/scheduler.h, which plug-ins include too, defines their interface and the state that they see. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/machine.h"
#include "config/plugin.h"
#include "heddle/scheduler.h"

/* registry.c */
extern const struct config_policies sched_policies;
const struct sched_ops *const *sched_list(size_t *count);
const struct sched_ops *sched_find(const char *name);
/* Parses "name" or "name:key=value,...". Stores ops and a malloc'ed options struct (NULL if the policy has none). On a
 * mistake it returns false and writes one line to `error`, which names the mistake and the correction (nearest name,
 * allowed values). */
bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size);
/* The same on a machine with these rules (config_machine.rules): a preset of that name replaces the defaults. */
bool sched_parse_by(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                    size_t error_size);
/* Returns the table with missing hooks, which shared objects may leave out, replaced by ones that do nothing. Call
 * hooks only through such a table. */
struct sched_ops sched_complete(const struct sched_ops *table);
/* For a complete table: returns whether stall() and wake() do anything. Most policies use the view's sets instead. */
bool sched_sees_waits(const struct sched_ops *ops);
/* Counts the policy's storage on an SM of the machine by its own declaration, with the formula in words. Returns false
 * if it declares none. */
bool sched_count_bits(const struct sched_ops *ops, const void *options, const struct config_machine *machine,
                      uint64_t *bits, char *formula, size_t size);
/* Writes the text that sched_parse() reads as these options, with every option named:
 * `two-level:group=8,switch=empty,...`. */
void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size);
