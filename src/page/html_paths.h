/* html_paths.h - the samples of a page: functions, the tree of call paths, threads and events of
 * one profile, or of the profiles of two sides that are compared.
 *
 * Functions are the same on both sides if they have the same name in the same program or library;
 * the main programs of both sides are one. Paths that begin alike share nodes. A caller's index is
 * smaller than those of the nodes below it; node 0 is the root, where samples end whose stack is
 * not known. */
#ifndef PAGE_HTML_PATHS_H
#define PAGE_HTML_PATHS_H

#include "base/map64.h"
#include "base/pairs.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "symbolize/program.h"

enum html_function_kind { /* bits */
			  HTML_KERNEL = 1,
			  HTML_INLINED = 2,
			  HTML_JIT = 4,
};

struct html_texts { /* each once, by number */
	VEC(strid) at;
	struct map64 numbers;
};

struct html_function {
	strid name;      /* as a person reads it */
	uint32_t object; /* of objects */
	uint32_t kind;
};

struct html_node {
	uint32_t caller, function; /* of the root: 0, NONE */
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

struct html_place {          /* an instruction that samples were taken at */
	uint32_t object;     /* of objects */
	uint64_t address;    /* as linked */
	uint32_t file, line; /* of files, + 1; 0: not known */
};

struct html_sample {
	uint32_t node, thread;
	uint16_t event, side;
	uint32_t count;
	uint32_t place;           /* + 1; 0: not known */
	uint32_t object;          /* + 1, that it was taken in, if its node is left out; else 0 */
	uint64_t weight, time_ns; /* time 0: not known */
};

struct html_marker {
	strid name;
	uint64_t time_ns;
};

enum { HTML_SIDES = 2 };

struct html_paths {
	struct strtab *strings;
	struct html_texts objects; /* paths, or what is known */
	struct html_texts files;   /* of source, as named in debug information */
	VEC(struct html_function) functions;
	VEC(struct html_node) nodes;
	VEC(struct html_thread) threads;
	VEC(struct html_event) events;
	VEC(struct html_place) places; /* of one profile; those of most samples first */
	VEC(struct html_sample) samples;
	VEC(struct html_marker) markers;
	uint32_t runs[HTML_SIDES]; /* that each side's samples are of; 0: there is no such side */
	/* Of what was added so far; of nodes by (caller, function): */
	struct map64 function_of;
	struct pairs node_of;
};

struct html_paths *html_paths_new(void);
/* The samples of one side's profile, with the names that g gives. `no_inlines`: what was inlined is
 * part of where it is. Several profiles of a side are runs. `places`: it is the only one, and which
 * instructions its samples were taken at is told. */
void html_paths_add(struct html_paths *t, const struct profile *p, struct program *g, uint32_t side,
		    bool no_inlines, bool places);
void html_paths_free(struct html_paths *t); /* NULL is fine */

#endif
