/* api_private.h - a profile as the public interface holds it: data, program, and what was made of
 * them.
 */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

#include <string.h>

#include "analysis/callgraph.h"
#include "base/vec.h"
#include "input/input.h"
#include "report/reports.h"
#include "symbolize/program.h"

enum view_kind {
	VIEW_FUNCTIONS, /* as the linker sees them */
	VIEW_EXPANDED,  /* with those that were inlined */
	VIEW_LINES,
	N_VIEWS
};

struct view { /* places and times; made when first asked for */
	struct symbols *symbols;
	struct callgraph *graph;
	/* Where the data is of several objects, or has stacks; else NULL. */
	struct program *program; /* the profile's; owns symbols */
	struct profile *flat;    /* what analyses are made of, instead of the data itself */
};

struct named_program { /* the names of all objects, as one way of naming has them */
	struct program_opts opts;
	struct program *program;
};

/* How names and the call graph are made, for programs that have it otherwise than we do. What a
 * view decides itself is set there. */
struct profile_rules {
	struct symbols_opts symbols; /* where there is one program, and no stacks */
	struct callgraph_opts graph; /* its `samples`, `program`, `consume` are not looked at */
	bool consumes;               /* counts are released as soon as a graph is made of them */
};

struct kin_profile {
	unsigned refs; /* the caller's handle, and each table made from it */
	struct profile *data;
	struct object_file *object; /* NULL: the data says what was profiled, is empty, or was
				     * opened without its program: for writing only */
	struct program_opts naming;
	struct profile_rules rules;
	struct input_target target;
	bool lines;
	bool told_trouble, has_hints, heard_builds, no_names, sum_ranks, one_by_one;
	bool sought_program; /* so there is no use in seeking it again */
	bool is_its_program; /* nothing tells that the data is of another one than `object` */
	struct view views[N_VIEWS];
	struct program_files *files; /* of all programs; NULL: none was opened yet */
	VEC(struct named_program) programs;
	/* notes: those of the doubts that each report of it has to say. */
	VEC(char *) warnings, doubts, notes, hints;
	char *origin; /* of names that are not out of the files that ran; NULL: there are none */
	struct line_counts *line_counts; /* NULL: none */
};

/* A caller's struct of options, which begins with its size, as the one of `size` bytes that there
 * is now: what an older caller does not know, and all if there is no struct, is as if not given. */
static inline void opts_copy(void *to, size_t size, const void *given)
{
	size_t known = given ? *(const size_t *)given : 0;
	memset(to, 0, size);
	if (given)
		memcpy(to, given, known < size ? known : size);
}

struct kin_debuginfod {
	struct debuginfod *servers;
};

/* What of it the stages below take; NULL: none. */
static inline struct debuginfod *debuginfod_of(const struct kin_debuginfod *d)
{
	return d ? d->servers : NULL;
}

/* Opening, step by step, for those who have rules of their own (gnu/); kin_profile_open() takes the
 * same steps. One that has no data yet, not even an empty one. */
struct kin_profile *profile_new(void);
/* The program that was profiled, which also says what its gmon.out looks like. */
MUST_CHECK struct kin_error *profile_open_object(struct kin_profile *p, const char *path,
						 const struct object_opts *opts);
/* As input_read(), of what p's program is: p->data is set if anything was read. */
MUST_CHECK struct kin_error *profile_read(struct kin_profile *p, const char *const *paths, size_t n,
					  const struct input_opts *opts);
/* Adds warnings and doubts about the data: by itself, and beside its program. */
void profile_check_data(struct kin_profile *p);
void profile_check_program(struct kin_profile *p);
/* Whether it is of more than one program that is profiled by counts. */
bool profile_has_objects(const struct kin_profile *p);

/* One of data that is no file's. Takes over `data`. */
struct kin_profile *profile_of_data(struct profile *data, const struct program_opts *naming);

void profile_ref(struct kin_profile *p);
void profile_unref(void *profile);

/* Symbols at once, the graph too if asked for. */
MUST_CHECK struct kin_error *profile_view(struct kin_profile *p, enum view_kind kind, bool graph,
					  struct view **ret);
/* What the report is made of. */
MUST_CHECK struct kin_error *profile_view_for(struct kin_profile *p, const struct report *r,
					      struct view **ret);
/* The same without its call graph, unless that is there. */
MUST_CHECK struct kin_error *profile_names_for(struct kin_profile *p, const struct report *r,
					       struct view **ret);
/* Frees the call graphs that `next` is not made of (NULL: all), unless somebody has a table of the
 * profile. They are made anew where they are asked for. */
void profile_forget_graphs(struct kin_profile *p, const struct report *next);

/* What reports are made of. */
struct report_input report_input_of(const struct kin_profile *p, const struct view *v);

/* Takes over what has been found to be amiss with the files of objects by now, each thing once:
 * warnings, and doubts where it makes the names less than what they should be; and what would give
 * names to what has none. To be asked again
 * when a report is through, as much is read only when it is needed. */
void profile_hear(struct kin_profile *p, struct program *g);

/* The program with these names: made once, and the profile's. */
struct program *profile_program(struct kin_profile *p, const struct program_opts *opts);
/* As profile_hear(), of all its programs. */
void profile_hear_all(struct kin_profile *p);

/* What could not be read of the program (object_trouble), told once. */
MUST_CHECK struct kin_error *profile_trouble(struct kin_profile *p);

#endif
