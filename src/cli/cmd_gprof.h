/* cmd_gprof.h - gprof's options in the form of opt.h, for the man page and completion. */
#ifndef CLI_CMD_GPROF_H
#define CLI_CMD_GPROF_H

#include "base/arena.h"
#include "options/opt.h"

const struct opt_group *const *gprof_groups(struct arena *a); /* NULL-terminated, in the arena */

#endif
