/* The tables of the commands; each is defined beside its code. */
#pragma once

#include "command/options.h"

extern const struct command cli_run_command;
extern const struct command cli_compare_command;
extern const struct command cli_characterize_command;
extern const struct command cli_ptx_command;
extern const struct command cli_list_command;
extern const struct command cli_paper_command;
extern const struct command cli_sweep_command;
extern const struct command cli_query_command;
extern const struct command cli_report_command;
extern const struct command cli_bench_command;
extern const struct command cli_validate_command;
extern const struct command cli_cost_command;
extern const struct command cli_championship_command;
extern const struct command cli_new_command;
extern const struct command cli_check_command;
extern const struct command cli_import_command;
extern const struct command cli_help_command;
