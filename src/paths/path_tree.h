/* path_tree.h - the weighted tree of a profile's call paths; reports on stacks are sums over it.
 *
 * A path is a stack as a list of places, from the root to the leaf: for each frame the function and
 * those inlined there, or whatever a report uses as places. Paths share their common start: nodes
 * with equal caller and place are one. A caller's index is smaller than those of the nodes below
 * it, so a sum over all nodes below is one backward loop. Node 0 is the root, the empty path:
 * samples whose stack is not known end there. Reports that show no path: stack_groups.h. */
#ifndef PATHS_PATH_TREE_H
#define PATHS_PATH_TREE_H

#include "profile/profile.h"
#include "symbolize/program.h"

typedef uint32_t pathid; /* index into nodes[]; 0: the root */

/* ---- places of frames ---- */

struct path_frames {
	uint32_t *first; /* [n_frames + 1]: frame f has places[first[f]] .. places[first[f + 1]] */
	symid *places;   /* outermost first; a frame may have none */
};

/* For each frame its place, places[frame], then the functions inlined at it. If `no_inlines`,
 * inlined functions count as part of their function: neither they nor frames that the data marks as
 * inlined are on paths. */
struct path_frames path_frames_of_functions(struct program *g, const struct samples *s,
					    const symid *places, bool no_inlines);
void path_frames_free(struct path_frames *f);

/* ---- the tree ---- */

struct path_node {
	pathid caller; /* smaller than its own index; the root's is 0 */
	symid place;   /* NONE for the root; a place, or another key of the report */
	pathid first;  /* a node below it; 0: none */
	pathid next;   /* the next node below the same caller; 0: none */
};

struct path_tree {
	struct path_node *nodes; /* [n] */
	size_t n;
	pathid *ends; /* [n_stacks]: the path of a sample with that stack; NULL: the tree does not
			 have all stacks */
};

/* A tree of all stacks. `leaves`: places of a frame as the leaf, if they differ from those as a
 * caller; with none the sample counts for the caller. NULL: they are the same. */
struct path_tree *path_tree_new(const struct samples *s, const struct path_frames *frames,
				const struct path_frames *leaves);
void path_tree_free(struct path_tree *p); /* NULL is fine */

/* Sorts the nodes below each caller by the ranks of their places: ranks[place]. */
void path_tree_sort(struct path_tree *p, const uint32_t *ranks);

/* ---- a tree as a list ---- */

struct listed_path {
	pathid caller; /* as in path_node */
	symid place;
	pathid end; /* index of the next node that is not below this one */
};

/* The nodes in the order of a visit: the nodes below a node follow it, up to its end. */
struct listed_paths {
	struct listed_path *at; /* [n] */
	size_t n;
};

/* ---- weights ---- */

struct path_weight {
	double sum; /* in the event's unit */
	uint64_t count;
};

struct path_own {
	double sum;
};

struct path_weights {              /* weights for one event */
	struct path_own *own;      /* [n]: samples that end at the node */
	struct path_weight *below; /* [n]: samples that end at the node or below */
};

struct path_weights path_weights_of(const struct path_tree *p, const struct samples *s,
				    uint16_t event);
void path_weights_free(struct path_weights *w);

/* The event whose times are shown: among events on a CPU with samples, the first that counts time,
 * or else the first; if none has samples, the same among all events on a CPU; else the first
 * event. */
uint16_t samples_event(const struct samples *s);

/* ---- sums ---- */

/* Visits each node but the root once: enter() before the nodes below it, leave() after them. No
 * recursion. */
struct path_visitor {
	void (*enter)(pathid node, void *arg);
	void (*leave)(pathid node, void *arg);
	void *arg;
};
void path_tree_visit(const struct path_tree *p, const struct path_visitor *v);

/* Inclusive times of groups of places: a sample counts once for each group with a place on its
 * path. `group_of`: [places], below n_groups, or NONE. Returns [n_groups], to be freed. */
double *path_times(const struct path_tree *p, const struct path_weights *w,
		   const uint32_t *group_of, size_t n_groups);

#endif
