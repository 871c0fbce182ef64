/* api_private.h - the public interface's representation of a profile: data, program, and what was
 * made from them. */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

#include <string.h>

#include "analysis/callgraph.h"
#include "base/vec.h"
#include "input/input.h"
#include "report/reports.h"
#include "symbolize/program.h"

enum view_kind {
	VIEW_FUNCTIONS, /* linkage functions */
	VIEW_EXPANDED,  /* with inlined functions */
	VIEW_LINES,
	VIEW_LINE_TIMES, /* the same, of sampled stacks, with the own times of lines alone */
	N_VIEWS
};

struct view { /* places and times; made at the first request */
	struct symbols *symbols;
	struct callgraph *graph;
	/* If the data has several objects, or stacks; otherwise NULL. */
	struct program *program; /* owned by the profile; owns symbols */
	struct profile *flat;    /* used for analyses in place of the data */
};

struct named_program { /* the names of all objects, with one set of options */
	struct program_opts opts;
	struct program *program;
};

/* Rules for making names and the call graph, for programs that differ from our own. Members that a
 * view sets itself are ignored. */
struct profile_rules {
	struct symbols_opts symbols; /* for a single program without stacks */
	struct callgraph_opts graph; /* `samples`, `program`, `consume` are ignored */
	bool consumes;               /* counts are released once a graph was made from them */
};

struct kin_profile {
	unsigned refs; /* one for the caller's handle, and one for each table made from it */
	struct profile *data;
	struct object_file *object; /* NULL: the data names the profiled program, is empty, or was
				       opened without its program for writing only */
	struct program_opts naming;
	struct profile_rules rules;
	struct input_target target;
	bool lines;
	bool told_trouble, has_hints, heard_builds, no_names, sum_ranks, one_by_one;
	bool sought_program; /* do not search for it again */
	bool is_foreign;     /* the data is certainly of another program, or build, than `object` */
	bool is_its_program; /* nothing indicates that the data is of another program than `object`
			      */
	struct view views[N_VIEWS];
	struct program_files *files; /* shared by all programs; NULL: none opened yet */
	VEC(struct named_program) programs;
	/* notes: the doubts that each report must mention. */
	VEC(char *) warnings, doubts, notes, hints, gaps;
	char *origin; /* of names that are not from the files that ran; NULL: there are none */
	struct line_counts *line_counts; /* NULL: none */
};

/* Copies a caller's struct of options, which begins with its size, to one of the current `size`:
 * members that an older caller does not have, or all without a struct, are 0. */
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

/* The handle for the stages below; NULL: none. */
static inline struct debuginfod *debuginfod_of(const struct kin_debuginfod *d)
{
	return d ? d->servers : NULL;
}

/* The steps of opening a profile, for callers with rules of their own (gnu/); kin_profile_open()
 * takes the same steps. profile_new() makes a profile without any data. */
struct kin_profile *profile_new(void);
/* Opens the profiled program, which also determines the format of its gmon.out. */
MUST_CHECK struct kin_error *profile_open_object(struct kin_profile *p, const char *path,
						 const struct object_opts *opts);
/* As input_read(), for p's program: p->data is set if anything was read. */
MUST_CHECK struct kin_error *profile_read(struct kin_profile *p, const char *const *paths, size_t n,
					  const struct input_opts *opts);
/* Adds warnings and doubts about the data, by itself and in comparison with its program. */
void profile_check_data(struct kin_profile *p);
void profile_check_program(struct kin_profile *p);
/* Notes which files were not read because others of the same runs were. */
void profile_note_left_out(struct kin_profile *p);
/* Takes off what counting calls added to sampled times; `noted`: and notes it. */
void profile_take_off_hooks(struct kin_profile *p, bool noted);
/* Whether it has counts of more than one program or library. */
bool profile_has_objects(const struct kin_profile *p);

/* A profile of data that is not from a file. Takes ownership of `data`. */
struct kin_profile *profile_of_data(struct profile *data, const struct program_opts *naming);

void profile_ref(struct kin_profile *p);
void profile_unref(void *profile);

/* Returns a view: with symbols, and with the graph if requested. */
MUST_CHECK struct kin_error *profile_view(struct kin_profile *p, enum view_kind kind, bool graph,
					  struct view **ret);
/* The view that a report needs. */
MUST_CHECK struct kin_error *profile_view_for(struct kin_profile *p, const struct report *r,
					      struct view **ret);
/* The same without its call graph, unless that exists already. */
MUST_CHECK struct kin_error *profile_names_for(struct kin_profile *p, const struct report *r,
					       struct view **ret);
/* Frees the call graphs that `next` does not need (NULL: all), unless a table of the profile
 * exists. They are made again on request. */
void profile_forget_graphs(struct kin_profile *p, const struct report *next);

/* The input for reports. */
struct report_input report_input_of(const struct kin_profile *p, const struct view *v);

/* Takes over the problems with objects' files found so far, each once: as warnings, and as doubts
 * if they make names less reliable; and hints for code without names. Call it again when a report
 * is done, as much is read only when needed. */
void profile_hear(struct kin_profile *p, struct program *g);

/* The program with these options: made once, owned by the profile. */
struct program *profile_program(struct kin_profile *p, const struct program_opts *opts);
/* As profile_hear(), for all its programs. */
void profile_hear_all(struct kin_profile *p);

/* Takes the text, unless it is a note already. */
void profile_add_note(struct kin_profile *p, char *text);

/* Where only one event is shown (samples_event): its name, and those of the others with samples.
 * `what`: "times". To be freed; NULL: there are no others. */
char *profile_event_note(const struct profile *p, const char *what);

/* The error in reading the program (object_trouble), returned once. */
MUST_CHECK struct kin_error *profile_trouble(struct kin_profile *p);

#endif
