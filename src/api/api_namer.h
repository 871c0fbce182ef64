/* api_namer.h - names of frames for folded stacks. */
#ifndef API_API_NAMER_H
#define API_API_NAMER_H

#include "base/vec.h"
#include "export/folded.h"
#include "symbolize/program.h"

struct namer_texts { /* a VEC by id; NULL: not requested yet */
	char **at;
	size_t n, cap;
};

struct namer { /* the caller sets the first three members */
	const struct profile *p;
	struct program *g;
	bool full_names; /* with parameters */
	struct namer_texts places, objects;
	VEC(struct folded_name) names; /* result of the last call */
};

/* The function for folded_opts.names; its argument is the namer. */
const struct folded_name *namer_names(void *namer, frameid id, size_t *n);
void namer_done(struct namer *n);

#endif
