/* html_paths.h - the samples of a page: functions, call-path tree, threads and events of one
 * profile, or of both sides of a comparison.
 *
 * Functions are the same on both sides if they have the same name in the same program or library;
 * the main programs of both sides are one, if each has only one. Paths share the nodes of their
 * common start. A caller's index is smaller than those of the nodes below it; node 0 is the root,
 * where samples without a known stack end. */
#ifndef PAGE_HTML_PATHS_H
#define PAGE_HTML_PATHS_H

#include "base/map64.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "symbolize/own_fold.h"
#include "symbolize/program.h"

enum html_function_kind { /* bits */
			  HTML_KERNEL = 1,
			  HTML_INLINED = 2,
			  HTML_JIT = 4,
			  HTML_OWN = 8,   /* own code; with none of these three: others' */
			  HTML_NOTE = 16, /* a note about the stack, no function */
			  HTML_BARE = 32, /* named by the data, and of no file */
};

struct html_texts { /* interned strings, in order of first use */
	VEC(strid) at;
	struct map64 numbers;
};

struct html_function {
	strid name;      /* readable name */
	uint32_t object; /* index in objects */
	uint32_t kind;
	uint64_t address;  /* where its code starts, as in tables */
	bool is_ambiguous; /* another function of this object has the same name */
};

struct html_node {
	uint32_t caller, function; /* 0 and NONE for the root */
};

struct html_thread {
	strid name;
	uint32_t pid, tid, run;
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known */
};

struct html_event {
	strid name;
	enum event_unit unit;
	enum event_kind kind;
};

struct html_place {          /* an instruction with samples */
	uint32_t object;     /* index in objects */
	uint64_t address;    /* link-time address */
	uint32_t file, line; /* index in files, + 1; 0: not known */
};

struct html_own_line {       /* of own code, that pays for what it calls of others' */
	uint32_t file, line; /* index in files */
	uint64_t weight;     /* of the first event */
};

struct html_sample {
	uint32_t node, thread;
	uint16_t event, side;
	uint32_t count;
	uint32_t place;           /* index in places + 1; 0: not known */
	uint32_t object;          /* index in objects + 1, if the sample's node was dropped; else
				     0 */
	uint64_t weight, time_ns; /* time_ns 0: not known */
};

struct html_marker {
	strid name;
	uint64_t time_ns;
};

enum { HTML_SIDES = 2 };

struct html_paths {
	struct strtab *strings;
	struct html_texts objects; /* paths, or other names */
	struct html_texts files;   /* source files, as named in debug information */
	VEC(struct html_function) functions;
	VEC(struct html_node) nodes;
	VEC(struct html_thread) threads;
	VEC(struct html_event) events;
	VEC(struct html_place) places; /* only with one profile; those with most samples first */
	VEC(struct html_sample) samples;
	VEC(struct html_marker) markers;
	VEC(struct html_own_line) own_lines; /* those with most weight first */
	uint32_t runs[HTML_SIDES]; /* number of runs of each side; 0: there is no such side */
	bool apart;                /* see html_paths_new() */
	/* Indexes of what was added so far; nodes by (caller, function): */
	struct map64 function_of;
	struct pairs node_of;
};

/* `apart`: functions of one name in one object, such as static ones of several files, are apart, as
 * in other reports of a profile. Otherwise they are one: profiles have only names in common. */
struct html_paths *html_paths_new(bool apart);
/* Adds the samples of one side's profile, with names from g. `no_inlines`: charge inlined functions
 * to the function they are inlined into. Several profiles on a side are runs. `places`: this is the
 * only profile; keep the instructions of its samples. `own` tells own code; NULL: it is not told.
 */
void html_paths_add(struct html_paths *t, const struct profile *p, struct program *g, uint32_t side,
		    bool no_inlines, bool places, struct own_fold *own);
void html_paths_free(struct html_paths *t); /* NULL is fine */

#endif
