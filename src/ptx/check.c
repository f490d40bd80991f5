#include "ptx/internal.h"
void ptx_check_function(struct ptx_parser *parser, const struct ptx_function *function) { (void)parser; (void)function; }
