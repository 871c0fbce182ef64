/* page_paths.h - the samples of a page: functions, the tree of call paths, threads and events of
 * one profile, or of the profiles of two sides that are compared.
 *
 * Functions are the same on both sides if they have the same name in the same program or library;
 * the main programs of both sides are one. Paths that begin alike share nodes. A caller's index is
 * smaller than those of the nodes below it; node 0 is the root, where samples end whose stack is
 * not known. */
#ifndef PAGE_PAGE_PATHS_H
#define PAGE_PAGE_PATHS_H

#include "base/map64.h"
#include "base/vec.h"
#include "profile/profile.h"
#include "symbolize/program.h"

enum page_function_kind { /* bits */
			  PAGE_KERNEL = 1,
			  PAGE_INLINED = 2,
			  PAGE_JIT = 4,
};

struct page_function {
	strid name;   /* as a person reads it */
	strid object; /* its path, or what is known */
	uint32_t kind;
};

struct page_node {
	uint32_t caller, function; /* of the root: 0, NONE */
};

struct page_thread {
	strid name;
	uint32_t pid, tid, run;
	uint64_t start_ns, end_ns; /* on the clock of the samples; 0: not known */
};

struct page_event {
	strid name;
	enum event_unit unit;
	enum event_kind kind;
};

struct page_sample {
	uint32_t node, thread;
	uint16_t event, side;
	uint32_t count;
	uint64_t weight, time_ns; /* time 0: not known */
};

enum { PAGE_SIDES = 2 };

struct page_paths {
	struct strtab *strings;
	VEC(struct page_function) functions;
	VEC(struct page_node) nodes;
	VEC(struct page_thread) threads;
	VEC(struct page_event) events;
	VEC(struct page_sample) samples;
	uint32_t runs[PAGE_SIDES]; /* that each side's samples are of; 0: there is no such side */
	struct map64 function_of, node_of; /* of what was added so far */
};

struct page_paths *page_paths_new(void);
/* The samples of one side's profile, with the names that g gives. `no_inlines`: what was inlined is
 * part of where it is. Several profiles of a side are runs. */
void page_paths_add(struct page_paths *t, const struct profile *p, struct program *g, uint32_t side,
		    bool no_inlines);
void page_paths_free(struct page_paths *t); /* NULL is fine */

#endif
