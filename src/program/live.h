/* Serves the state of a run while it is simulated: `heddle run --live`. One thread answers browsers on 127.0.0.1 and on
 * no other address. It only reads the file that the driver writes (gpu/live.c). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct program_live;

/* Starts the server on this port, or on any free one for 0. Returns NULL after one line. */
struct program_live *program_live_start(uint64_t port, const char *title, struct base_arena *arena);
/* Returns the file that the driver has to write, and the address of the page. */
const char *program_live_file(const struct program_live *live);
const char *program_live_address(const struct program_live *live);
/* The run has ended: from now on the page is `page`, which must live on, and its state says so. */
void program_live_finish(struct program_live *live, const char *page);
/* Waits for an interrupt, such as Ctrl-C. */
void program_live_wait(void);
/* Ends the server. Does nothing for NULL. */
void program_live_stop(struct program_live *live, struct base_arena *arena);
