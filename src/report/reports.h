/* reports.h - reports turn analysis results into tables. Each report is one file. */
#ifndef REPORT_REPORTS_H
#define REPORT_REPORTS_H

#include "analysis/callgraph.h"
#include "base/remarks.h"
#include "profile/line_counts.h"
#include "symbolize/own_fold.h"
#include "symbolize/program.h"
#include "table/table_build.h"

struct findings;
struct kin_error;

struct block_rules;
struct blocks;

/* Rules of programs whose rows differ from kin's. */
struct report_rules {
	bool no_cycles_by_line; /* graph: cycles have no entries if places are lines */
	/* counts: */
	const struct block_rules *blocks;
	/* Compares rows. It need not be a total order: the result is that of a particular merge
	 * sort. */
	int (*by_place)(const struct symbols *s, symid l, symid r);
	/* The number of calls of a place; false if it has no row. */
	bool (*count_calls)(const struct callgraph *g, const struct blocks *blocks,
			    const bool *on_stacks, symid id, uint64_t *ret);
};

struct report_opts {
	const char *const *subjects;      /* NULL-terminated function or file names; NULL: all */
	double min_share;                 /* hide rows below this share of the total, */
	double whole;                     /* which is this many ticks; 0: the graph's */
	const char *const *source_dirs;   /* NULL-terminated; NULL: none */
	const struct report_rules *rules; /* NULL: kin's own */
	bool bare_cycles;  /* graph: cycles have no callers and callees, as in GNU and BSD gprof */
	bool all_per_call; /* gprof: show times per call even of functions that were not counted in
			      all recordings */
	bool zeroes;       /* gprof -z: include functions that were neither sampled nor called */
	bool callers; /* flat: include functions without samples of their own if their callees have
			 samples */
	bool print_path;        /* gprof -L: file names with their folders */
	bool inline_file_names; /* file:line after each name */
	bool static_files;      /* flat: fill the column "file", which takes a look-up for each */
	bool all_lines;         /* "annotate": all lines get counts */
	bool with_source;       /* "asm": source lines between instructions */
	bool intel;             /* "asm": x86 in Intel syntax instead of AT&T */
	bool of_function;       /* "annotate", "asm": shares of the function, not of the total */
	size_t max_threads;     /* "info" only; 0: all */
	bool every_row;         /* "imbalance": include rows that make no difference */
	bool to_read; /* "graph": if neither min_share nor subjects are given, and calls were not
			 counted, hide rows that are too small for a person to read */
	const struct kin_hists_opts *hists;    /* "hists" only; NULL: the default */
	const struct hists_style *hists_style; /* "hists" only; NULL: kin's own */
	const struct selection *selection;     /* NULL: everything */
};

struct report_input {
	const struct profile *profile; /* as measured */
	const struct profile
		*flat; /* the same with the addresses of the symbols; NULL: as profile */
	struct symbols *symbols;
	const struct callgraph *graph;
	const struct remarks *remarks;         /* on the data; NULL: none */
	const struct line_counts *line_counts; /* from a coverage tool; NULL: none */
	bool counts_of_other_runs; /* line_counts are of other processes than the time, so that
				      there is no time per count */
	struct program
		*program; /* the objects and stacks that places belong to; NULL: a single program */
	const struct findings *findings;  /* NULL: not requested, or no samples */
	const struct own_ruling *rulings; /* what is own code, and why; NULL: not requested */
	size_t n_rulings;
};

enum report_by {
	REPORT_BY_PART = 1,   /* threads, processes, events */
	REPORT_BY_OBJECT = 2, /* its rows have a column "object" */
};

struct report {
	const char *name; /* "flat", "graph", "lines", ... */
	const char *help;
	/* Needs symbols with a place per source line. For a sampled profile its graph needs only
	 * the own time and the counted calls of each place. */
	bool by_line;
	bool by_program; /* made from samples and a program only, without a call graph */
	/* The table borrows from `o` and from what `in` points to: keep these alive (table_keep).
	 */
	MUST_CHECK struct kin_error *(*run)(const struct report_input *in,
					    const struct report_opts *o, struct kin_table **ret);
	unsigned by;  /* enum report_by: how its rows may be grouped */
	bool inlines; /* inlined functions are functions, unless the user folds them */
};

/* The whole that min_share refers to; `all`: the graph's ticks. */
static inline double report_whole(const struct report_opts *o, double all)
{
	return o->whole > 0 ? o->whole : all;
}

/* The counts with the addresses of the symbols. */
static inline const struct profile *report_flat(const struct report_input *in)
{
	return in->flat ? in->flat : in->profile;
}

/* Marks object files without times per call: only some recordings counted their calls, or only some
 * have their time in the rows. Returns [objects of the profile], to be freed; NULL: none. Adds a
 * note. */
bool *report_uncounted(const struct report_input *in, const struct report_opts *o,
		       struct kin_table *t);
static inline bool report_is_uncounted(const struct report_input *in, const bool *uncounted,
				       symid id)
{
	return uncounted && (!in->program || uncounted[program_object(in->program, id)]);
}
/* The source file of a static function, without folders: others may have its name. NULL: it is not
 * static, or not known. */
const char *report_static_file(const struct report_input *in, symid id);
/* The object file of a place: the first without folders, the second with them. */
const char *report_object_name(const struct report_input *in, symid id);
const char *report_object_path(const struct report_input *in, symid id);
/* The object file of a place; NULL: it is not opened. */
struct object_file *report_object_file(const struct report_input *in, symid id);
/* Whether places for which seen() is true are in more than one object. */
bool report_has_objects(const struct report_input *in,
			bool (*seen)(const struct callgraph *g, symid id));

extern const struct report asm_report, flat_report, latency_report, graph_report, imbalance_report,
	index_report, lines_report, annotate_report, counts_report, cycles_report, info_report,
	hists_report, findings_report, own_lines_report;

/* Appended to names of inlined functions. */
#define REPORT_INLINED " (inlined)"

/* The readable name of a symbol: "f", "f (inlined)", "f (file.c:12)" with inline_file_names, "f
 * (file.c:12 @ 4011d6)" for a line place. In the table's memory, or living as long as the symbols.
 * Costs a line lookup if the file is shown. */
const char *report_symbol_name(const struct report_input *in, const struct report_opts *o, symid id,
			       struct kin_table *t);

/* All symbols that match by symbols_is_called(), in order: *n of them, to be freed. Usually only
 * matching names are demangled; demangling all takes seconds for a large program. */
symid *report_symbols_named(struct symbols *s, const char *name, size_t *n);

/* The functions into which a function of this name was inlined, if something was measured there: *n
 * places, to be freed. Empty for a single program without samples. Decodes debug information. */
symid *report_inlined_into(const struct report_input *in, const char *name, size_t *n);
bool report_is_inlined(const struct report_input *in, const char *name); /* whether there are any */

/* Adds a note for each subject that has no place because it was inlined, and its time is charged to
 * other functions or folded: it names those functions. */
void report_note_subjects(const struct report_input *in, const struct report_opts *o,
			  struct kin_table *t);
/* Adds a note if that name is shown as another one of the same code. */
void report_note_alias(const struct report_input *in, const char *name, struct kin_table *t);

/* Why there are no samples, and what gives some: text to append to a note; "": not known. */
const char *report_why_no_samples(const struct profile *p);
/* Whether nothing was measured or selected. Adds a note if so, unless t is NULL. */
bool report_is_empty(const struct report_input *in, struct kin_table *t);
/* Sets the rate and the properties that all reports on time have: totals, unit, estimates. Adds a
 * note if there is nothing to report. */
void report_describe(const struct report_input *in, struct kin_table *t);
/* Adds a note if callees are known from inlined functions alone. */
void report_note_chainless(const struct report_input *in, struct kin_table *t);
/* Adds a note with the share of time in the hooks that count calls, if it is large. It cannot be
 * subtracted exactly: processors run hooks partly in parallel with the functions' own work. */
void report_note_hooks(const struct report_input *in, struct kin_table *t);
/* Notes time that is in no row, but is part of the whole that shares refer to. */
void report_note_outside(const struct report_input *in, struct kin_table *t);

/* Whether `name`, as typed by a user, means this file: its path, or the end of it after a slash.
 * Paths that lead back and forth ("build/../f.c") are the same as those that do not. */
bool report_file_is(const char *path, const char *name);

/* Whether a subject names the symbol, the function that it was split from, or its file; true if
 * there are no subjects. The symbol's line must have been looked up (symbols_locate). */
bool report_is_subject(const struct report_input *in, const struct report_opts *o, symid id);

/* An error for a name that does not exist, with a "did you mean" suggestion. Looks at all names.
 * `where`: "in the profile". */
struct kin_error *report_unknown_subject(const struct report_input *in, const char *name);
struct kin_error *report_no_function(const struct report_input *in, const char *name,
				     const char *where);
/* Adds a note that functions of scripts have no lines, if there are such functions. */
void report_note_scripts(const struct report_input *in, struct kin_table *t);
/* Adds a note that there are no `what` ("lines") to show, if no line is known. */
void report_note_lines(const struct report_input *in, struct kin_table *t, const char *what);
/* Fails for the first subject that is neither a function nor a file. If a subject is not a
 * function, the line of every symbol is looked up. */
MUST_CHECK struct kin_error *report_check_subjects(const struct report_input *in,
						   const struct report_opts *o);

/* The file name as the options require: with or without folders. */
const char *report_file_name(const struct report_opts *o, const char *path);

/* The text of a source file: from the recording, or else found by source_open(). */
struct source_text;
MUST_CHECK struct kin_error *report_source(const struct report_input *in,
					   const struct report_opts *o, const char *path,
					   struct source_text *ret);

const struct report *report_find(const char *name); /* NULL if none */

#endif
