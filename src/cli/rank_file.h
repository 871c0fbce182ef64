/* rank_file.h - the file of a rank: ranks of a parallel job are started with the same command line,
 * and each has a file of its own. */
#ifndef CLI_RANK_FILE_H
#define CLI_RANK_FILE_H

#include "options/opt.h"

/* -o's NAME with the rank in it, before ".kin": "profile.3.kin". As it is if this process is of no
 * job, or NAME has the rank already. `pattern`: NAME may have %r, which becomes the rank, and %p,
 * which is enough. To be freed. */
char *rank_file(const char *name, bool pattern);

/* One rank speaks for all, unless something is wrong: whether this is another one. */
bool rank_is_silent(void);

#define OPTION_NO_RANK                                                                             \
	{                                                                                          \
		OPT_NO_RANK, 0, "no-rank", NULL,                                                   \
			"in a parallel job (MPI, Slurm): do not put the rank into FILE's name"     \
	}

#endif
