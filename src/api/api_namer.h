/* api_namer.h - names of frames as folded stacks have them. */
#ifndef API_API_NAMER_H
#define API_API_NAMER_H

#include "base/vec.h"
#include "export/folded.h"
#include "symbolize/program.h"

struct namer { /* begins with these three */
	const struct profile *p;
	struct program *g;
	bool full_names;   /* with parameters */
	VEC(char *) texts; /* of the last frame */
	VEC(struct folded_name) names;
};

/* What folded_opts.names wants; the argument is the namer. */
const struct folded_name *namer_names(void *namer, frameid id, size_t *n);
void namer_done(struct namer *n);

#endif
