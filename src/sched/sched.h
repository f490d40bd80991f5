/* Warp schedulers: which warp issues next. One file per policy, ending in its operations table; schedulers.def lists
 * them. What a scheduler is, and what it may look at, is in heddle/scheduler.h, which plug-ins include too. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/machine.h"
#include "config/plugin.h"
#include "heddle/scheduler.h"

/* registry.c */
const struct sched_ops *const *sched_list(size_t *count);
const struct sched_ops *sched_find(const char *name);
/* Parses "name" or "name:key=value,...". Stores ops and a malloc'ed options struct (NULL when the policy has none). On
 * a mistake it returns false and writes one line to `error`: what is wrong and what would be right (nearest name,
 * allowed values). */
bool sched_parse(const char *text, const struct sched_ops **ops, void **options, char *error, size_t error_size);
/* The same on a machine with these rules (config_machine.rules): a preset of that name stands in for the defaults. */
bool sched_parse_by(const char *rules, const char *text, const struct sched_ops **ops, void **options, char *error,
                    size_t error_size);
/* Returns the table with hooks that do nothing where it has none, as those of shared objects may; whoever calls hooks
 * calls these. */
struct sched_ops sched_complete(const struct sched_ops *table);
/* Of a complete table. Returns whether stall() and wake() do anything: most policies use the view's sets instead. */
bool sched_sees_waits(const struct sched_ops *ops);
/* Writes the text that sched_parse() reads as these options, with every option named:
 * `two-level:group=8,switch=empty,...`. */
void sched_describe(const struct sched_ops *ops, const void *options, char *text, size_t size);
