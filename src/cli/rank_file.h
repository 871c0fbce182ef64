/* rank_file.h - the output file of a rank: all ranks of a parallel job have the same command line,
 * but each needs a file of its own. */
#ifndef CLI_RANK_FILE_H
#define CLI_RANK_FILE_H

#include "options/opt.h"

/* The NAME of -o with the rank before ".kin": "profile.3.kin". Unchanged if this process belongs to
 * no job, or NAME contains the rank already. `pattern`: NAME may contain %r, which stands for the
 * rank, or %p, which makes it unique, too. To be freed. */
char *rank_file(const char *name, bool pattern);

/* Whether this rank prints only errors: one rank prints messages for all. */
bool rank_is_silent(void);

#define OPTION_NO_RANK                                                                             \
	{                                                                                          \
		OPT_NO_RANK, 0, "no-rank", NULL,                                                   \
			"in a parallel job (MPI, Slurm): do not put the rank into FILE's name"     \
	}

#endif
