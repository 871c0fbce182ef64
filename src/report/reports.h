/* reports.h - reports turn analysis results into tables. One file per report. */
#ifndef REPORT_REPORTS_H
#define REPORT_REPORTS_H

#include "analysis/callgraph.h"
#include "profile/line_counts.h"
#include "symbolize/program.h"
#include "table/table_build.h"

struct kin_error;

struct block_rules;
struct blocks;

/* Which rows there are, for programs that have it otherwise. */
struct report_rules {
	bool no_cycles_by_line; /* graph: where places are lines, cycles have no entries */
	/* counts: */
	const struct block_rules *blocks;
	/* The order of rows, which need not be one: what comes of it is what a merge sort makes. */
	int (*by_place)(const struct symbols *s, symid l, symid r);
	/* How often a place was called; false if it has no row. */
	bool (*count_calls)(const struct callgraph *g, const struct blocks *blocks, symid id,
			    uint64_t *ret);
};

struct report_opts {
	const char *const *subjects;      /* NULL-terminated function or file names; NULL: all */
	double min_share;                 /* hide rows below this share of the total */
	const char *const *source_dirs;   /* NULL-terminated; NULL: none */
	const char *layout;               /* "order" only */
	const struct report_rules *rules; /* NULL: ours */
	bool bare_cycles; /* graph: as gprof of GNU and BSD, cycles have no callers and callees */
	bool zeroes;      /* gprof -z: also what was neither sampled nor called */
	bool callers;     /* flat: also what was not seen running, but its callees were */
	bool print_path;  /* gprof -L: file names with their folders */
	bool inline_file_names; /* file:line after each name */
	bool all_lines;         /* "annotate": counts are passed on to all lines */
	bool with_source;       /* "asm": source lines between instructions */
	bool intel;             /* "asm": x86 in Intel's syntax, not in that of AT&T */
	bool of_function;       /* "annotate", "asm": shares of the function, not of all */
	size_t max_threads;     /* "info" only; 0: all */
	bool every_row;         /* "imbalance": also what makes no difference */
	const struct kin_hists_opts *hists;    /* "hists" only; NULL: the default */
	const struct hists_style *hists_style; /* that too; NULL: kin's own */
	const struct selection *selection;     /* NULL: everything */
};

struct report_input {
	const struct profile *profile; /* as measured */
	const struct profile
		*flat; /* the same with addresses that the symbols have; NULL: as that */
	struct symbols *symbols;
	const struct callgraph *graph;
	const char *const *warnings; /* what is odd about the data; copied by who shows it */
	size_t n_warnings;
	const char *const *doubts; /* what makes it less than what it should be */
	size_t n_doubts;
	const struct line_counts *line_counts; /* of a coverage tool; NULL: none */
	struct program *program; /* places of several objects, and of stacks; NULL: one program's */
};

enum report_by {
	REPORT_BY_PART = 1,   /* threads, processes, events */
	REPORT_BY_OBJECT = 2, /* its rows have a column "object" */
};

struct report {
	const char *name; /* "flat", "graph", "lines", ... */
	const char *help;
	bool by_line;    /* wants symbols with a place per source line */
	bool by_program; /* is made of samples and a program alone, without a call graph */
	/* The table borrows from what `in` points to and from `o`: keep these alive (table_keep).
	 */
	MUST_CHECK struct kin_error *(*run)(const struct report_input *in,
					    const struct report_opts *o, struct kin_table **ret);
	unsigned by;  /* enum report_by: what its rows may be grouped by */
	bool inlines; /* functions inlined are functions, unless a person wants them folded */
};

/* The counts by addresses of the symbols. */
static inline const struct profile *report_flat(const struct report_input *in)
{
	return in->flat ? in->flat : in->profile;
}

/* The object file that a place is in, without folders; and whole. */
const char *report_object_name(const struct report_input *in, symid id);
const char *report_object_path(const struct report_input *in, symid id);
/* Whether places of more than one object are `seen`: [n_symbols] booleans. */
bool report_has_objects(const struct report_input *in,
			bool (*seen)(const struct callgraph *g, symid id));

extern const struct report asm_report, flat_report, latency_report, graph_report, imbalance_report,
	index_report, lines_report, annotate_report, counts_report, cycles_report, order_report,
	info_report, hists_report;

/* Behind names of functions where they were inlined. */
#define REPORT_INLINED " (inlined)"

/* As a person reads a symbol: "f", "f (inlined)", "f (file.c:12)" with inline_file_names, "f
 * (file.c:12 @ 4011d6)" for a line place. In the table's memory, or living as long as the symbols.
 * Costs a line lookup if the file is to be shown. */
const char *report_symbol_name(const struct report_input *in, const struct report_opts *o, symid id,
			       struct kin_table *t);

/* All that symbols_is_called(), in their order: *n of them, to be freed. As a rule only their names
 * are demangled, which takes seconds for those of a large program. */
symid *report_symbols_named(struct symbols *s, const char *name, size_t *n);

/* The functions that one of this name was inlined into where something was measured: *n places, to
 * be freed; none where the data is of one program and without samples. Decodes debug information.
 */
symid *report_inlined_into(const struct report_input *in, const char *name, size_t *n);
bool report_is_inlined(const struct report_input *in, const char *name); /* whether there are any */

/* Of each subject that has no place of its own, as it was inlined and its time is that of others or
 * is folded: a note that says into what. */
void report_note_subjects(const struct report_input *in, const struct report_opts *o,
			  struct kin_table *t);

/* Rate and the properties that all reports on time have: totals, unit, what is estimated. */
void report_describe(const struct report_input *in, struct kin_table *t);

/* Whether a person who wrote `name` means this file: its path, or the end of it from a slash on. */
bool report_file_is(const char *path, const char *name);

/* Whether a symbol, or the function it is a piece of, or its file, is among the subjects; true if
 * there are none. Its line must have been looked up (symbols_locate). */
bool report_is_subject(const struct report_input *in, const struct report_opts *o, symid id);

/* Errors for a name that does not exist, with a "did you mean" suggestion. Looks
 * at all names. `where`: "in the profile". */
struct kin_error *report_unknown_subject(const struct report_input *in, const char *name);
struct kin_error *report_no_function(const struct report_input *in, const char *name,
				     const char *where);
/* A note where no line is known: that there is no `what` ("lines") to be seen. */
void report_note_lines(const struct report_input *in, struct kin_table *t, const char *what);
/* An error for the first subject that is no function or file. Looks up the line of every symbol if
 * a subject is no function. */
MUST_CHECK struct kin_error *report_check_subjects(const struct report_input *in,
						   const struct report_opts *o);

/* The file name as options want it: whole, or without folders. */
const char *report_file_name(const struct report_opts *o, const char *path);

/* The text of a source file: what the recording keeps of it, else as source_open() finds it. */
struct source_text;
MUST_CHECK struct kin_error *report_source(const struct report_input *in,
					   const struct report_opts *o, const char *path,
					   struct source_text *ret);

const struct report *report_find(const char *name); /* NULL if none */

#endif
