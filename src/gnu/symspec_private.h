/* symspec_private.h - parsing and matching of symspecs, before they become a selection. */
#ifndef GNU_SYMSPEC_PRIVATE_H
#define GNU_SYMSPEC_PRIVATE_H

#include "base/map64.h"
#include "gnu/symspec.h"

struct pattern {          /* one side of a symspec */
	const char *file; /* not NUL-terminated: [n_file]; NULL: any */
	size_t n_file;
	uint32_t line;    /* 0: any */
	const char *name; /* [n_name]; NULL: any */
	size_t n_name;
	bool file_or_name; /* a word with a dot: a function if no such file exists */
	const char *known; /* gnu: the one source file it matches; NULL: none */
	uint32_t next;     /* next pattern whose name has the same hash */
	VEC(symid) found;  /* ascending; empty if the pattern matches everything */
};

struct matcher {
	struct symbols *symbols;
	const struct symspec *specs;
	size_t n;
	const struct symspec_opts *opts;
	struct pattern *left, *right; /* [n]; unused right sides are empty */
	bool *has_right;              /* [n] */
	struct map64 by_name;         /* hash of a name -> index into all[] */
	VEC(struct pattern *) all;
};

bool pattern_is_everything(const struct pattern *p);

/* Sets the members after `opts`: parses the specs and finds their matches. */
void matcher_match(struct matcher *m);
void matcher_done(struct matcher *m);

/* symspec_gnu.c: symspec_select() with opts->gnu. */
void symspec_select_gnu(struct symbols *s, const struct symspec *specs, size_t n,
			const struct symspec_opts *opts, struct selection *ret);

#endif
