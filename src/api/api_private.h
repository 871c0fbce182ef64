/* api_private.h - the representation of a profile behind the public interface: the data, its
 * program, and views made from them. */
#ifndef API_API_PRIVATE_H
#define API_API_PRIVATE_H

#include <string.h>

#include "analysis/callgraph.h"
#include "base/remarks.h"
#include "base/vec.h"
#include "findings/findings.h"
#include "input/input.h"
#include "report/reports.h"
#include "symbolize/own_fold.h"
#include "symbolize/program.h"

enum view_kind {
	VIEW_FUNCTIONS, /* linkage functions */
	VIEW_EXPANDED,  /* includes inlined functions */
	VIEW_LINES,
	VIEW_LINE_TIMES, /* VIEW_LINES for sampled stacks; times of lines are self times only */
	N_VIEWS
};

struct view { /* places and times; made at the first request */
	struct symbols *symbols;
	struct callgraph *graph;
	/* Only if the data has several objects, or stacks; otherwise NULL: */
	struct program *program; /* owned by the profile; owns symbols */
	struct profile *flat;    /* used by analyses instead of the data */
};

struct named_program { /* the names of all objects, with one set of options */
	struct program_opts opts;
	struct program *program;
};

/* Rules for making names and the call graph, for programs other than kin. Members that a view sets
 * itself are ignored. */
struct profile_rules {
	struct symbols_opts symbols; /* for data of a single program without stacks */
	struct callgraph_opts graph; /* `samples`, `program`, `consume` are ignored */
	bool consumes;               /* counts are released once a graph was made from them */
};

struct kin_profile {
	unsigned refs; /* one for the caller's handle, and one for each table made from it */
	struct profile *data;
	struct object_file *object; /* the profiled program; NULL: the data names it, is empty, or
				       was opened for writing without its program */
	struct program_opts naming;
	bool style_given; /* the style of names was chosen */
	struct profile_rules rules;
	struct input_target target;
	bool lines;
	bool told_trouble, has_hints, heard_builds, no_names, sum_ranks, one_by_one;
	bool sought_program; /* do not search for it again */
	bool is_foreign;     /* the data certainly belongs to another program than `object`, or to
				another build */
	bool is_live;        /* of a recording that goes on */
	bool is_its_program; /* nothing indicates that `object` is not the data's program */
	struct view views[N_VIEWS];
	struct own_code *own;        /* tells own code; NULL: not requested */
	struct findings findings;    /* with code judged as own or not; empty: not requested */
	struct own_rulings rulings;  /* for "info"; empty: not requested */
	struct program_files *files; /* shared by all programs; NULL: none opened yet */
	VEC(struct named_program) programs;
	bool is_folded; /* the code of others was folded into own code */
	struct remarks remarks;
	struct line_counts *line_counts; /* NULL: none */
	bool counts_of_other_runs;       /* line_counts are of other processes than the time */
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

/* The handle for internal interfaces; NULL: none. */
static inline struct debuginfod *debuginfod_of(const struct kin_debuginfod *d)
{
	return d ? d->servers : NULL;
}

/* Steps of kin_profile_open(), for callers with rules of their own (gnu/). profile_new() makes a
 * profile without data. */
struct kin_profile *profile_new(void);
/* Opens the profiled program, which also determines the format of its gmon.out. */
MUST_CHECK struct kin_error *profile_open_object(struct kin_profile *p, const char *path,
						 const struct object_opts *opts);
/* Like input_read(), for p's program: p->data is set if anything was read. */
MUST_CHECK struct kin_error *profile_read(struct kin_profile *p, const char *const *paths, size_t n,
					  const struct input_opts *opts);
/* Adds warnings and doubts about the data, by itself and in comparison with its program. */
void profile_check_data(struct kin_profile *p);
void profile_check_program(struct kin_profile *p);
/* Whether the code of others is folded, by what was asked for and by how much own code there is. */
bool profile_leads_with_own(enum kin_own requested, struct own_shares share);
/* Looks for what stands out, which the fold would hide, and folds the code of others: as `o` says
 * in `own`, `findings` and the directories. */
void profile_judge_code(struct kin_profile *p, const struct kin_open_opts *o);
/* Notes which files were not read because others of the same runs were. */
void profile_note_left_out(struct kin_profile *p);
/* Subtracts the time that counting calls added to samples; `noted`: and adds a note about it. */
void profile_take_off_hooks(struct kin_profile *p, bool noted);
/* Adds the counters that compilers put into the profile's programs: counts of lines, and of blocks
 * where these begin. */
void profile_read_counters(struct kin_profile *p);
/* The same (api_counters.c). `program`: the one that has all counts; NULL: the data names its
 * objects. */
void counters_of_profile(struct kin_profile *p, struct object_file *program);
/* Puts right who called whom on the stacks: interrupts were called by nobody, and functions that
 * ended in a jump to another one are put back. */
void profile_revise_stacks(struct kin_profile *p);
/* Whether the profile has counts of more than one program or library. */
bool profile_has_objects(const struct kin_profile *p);

/* Makes a profile of data that is not from a file. Takes ownership of `data`. */
struct kin_profile *profile_of_data(struct profile *data, const struct program_opts *naming);

void profile_ref(struct kin_profile *p);
void profile_unref(void *profile);

/* Returns a view: with symbols, and with the graph if requested. */
MUST_CHECK struct kin_error *profile_view(struct kin_profile *p, enum view_kind kind, bool graph,
					  struct view **ret);
/* The view that a report needs. */
MUST_CHECK struct kin_error *profile_view_for(struct kin_profile *p, const struct report *r,
					      struct view **ret);
/* profile_view_for() without the call graph, unless that exists already. */
MUST_CHECK struct kin_error *profile_names_for(struct kin_profile *p, const struct report *r,
					       struct view **ret);
/* Frees the call graphs that `next` does not need (NULL: all), unless a table of the profile
 * exists. They are made again on request. */
void profile_forget_graphs(struct kin_profile *p, const struct report *next);

/* The input for reports. */
struct report_input report_input_of(const struct kin_profile *p, const struct view *v);

/* Takes over the problems with objects' files found so far, each once: as warnings, and as doubts
 * if they make names less reliable; and hints for code without names. Call it again when a report
 * is done, because much is read only when needed. */
void profile_hear(struct kin_profile *p, struct program *g);

/* The program with these options: made once, owned by the profile. */
struct program *profile_program(struct kin_profile *p, const struct program_opts *opts);
/* profile_hear() for all programs of the profile. */
void profile_hear_all(struct kin_profile *p);

/* A note about a report that shows one event (samples_event): its name, and the names of other
 * events with samples. `what`: "times". To be freed; NULL: there are no others. */
char *profile_event_note(const struct profile *p, const char *what);

/* The error in reading the program (object_trouble), returned once. */
MUST_CHECK struct kin_error *profile_trouble(struct kin_profile *p);

#endif
