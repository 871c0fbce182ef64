/* rank_file.h - the output file of a rank: ranks of a parallel job have the same command line, and
 * each needs its own file. */
#ifndef CLI_RANK_FILE_H
#define CLI_RANK_FILE_H

#include "options/opt.h"

/* The NAME of -o with the rank before ".kin": "profile.3.kin". Unchanged if this process is in no
 * job, or NAME has the rank already. `pattern`: NAME may contain %r, which is replaced by the rank,
 * and %p, which suffices. To be freed. */
char *rank_file(const char *name, bool pattern);

/* Only one rank prints messages, except for errors: whether this is another one. */
bool rank_is_silent(void);

#define OPTION_NO_RANK                                                                             \
	{                                                                                          \
		OPT_NO_RANK, 0, "no-rank", NULL,                                                   \
			"in a parallel job (MPI, Slurm): do not put the rank into FILE's name"     \
	}

#endif
