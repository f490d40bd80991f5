/* The machine that a program's settings name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "heddle/heddle.h"

/* Returns whether the settings ask for time: a machine, or a scheduler, a model or options for the default machine. */
bool api_is_timed(const struct heddle_settings *settings);
/* Loads and checks the machine. On failure returns false and fills `error`. */
bool api_load_machine(struct config_machine *machine, const struct heddle_settings *settings, char *error, size_t size);
