/* path_tree.h - the weighted tree of a profile's call paths: what reports on stacks are sums over.
 *
 * A path is a stack seen as places, from the root to the leaf: a frame is the function that it is
 * in and those inlined there, or whatever else a report calls a place. Paths that begin alike share
 * nodes: equal caller and place are one node. A caller's index is smaller than those of the nodes
 * below it, so that a sum over all below is one loop backwards. Node 0 is the root, the empty path:
 * samples whose stack is not known end there. */
#ifndef PATHS_PATH_TREE_H
#define PATHS_PATH_TREE_H

#include "profile/profile.h"
#include "symbolize/program.h"

typedef uint32_t pathid; /* index into nodes[]; 0: the root */

/* ---- what frames are on paths ---- */

struct path_frames {
	uint32_t *first; /* [n_frames + 1]: of frame f places[first[f]] .. places[first[f + 1]] */
	symid *places;   /* outermost first; a frame may have none */
};

/* One place each; NONE: the frame is on no path. */
struct path_frames path_frames_of_places(const symid *places, size_t n_frames);
/* The place of each frame, places[frame], then the functions inlined at it. If `no_inlines`, these
 * are part of where they are: neither they nor frames that the data calls inlined are on paths. */
struct path_frames path_frames_of_functions(struct program *g, const struct samples *s,
					    const symid *places, bool no_inlines);
void path_frames_free(struct path_frames *f);

/* ---- the tree ---- */

struct path_node {
	pathid caller; /* smaller than its own index; of the root 0 */
	symid place;   /* of the root NONE; or what else a report tells paths apart by */
	pathid first;  /* a node below it; 0: none */
	pathid next;   /* the next node below the same caller; 0: none */
};

struct path_tree {
	struct path_node *nodes; /* [n] */
	size_t n;
	pathid *ends; /* [n_stacks]: the path of a sample that has the stack; NULL: not of one
		       * that has all stacks */
};

/* Of all stacks. `leaves`: what a frame is where a sample was in it, if that is something else than
 * where it is a caller; none: the sample counts as one of the caller. NULL: the same. */
struct path_tree *path_tree_new(const struct samples *s, const struct path_frames *frames,
				const struct path_frames *leaves);
void path_tree_free(struct path_tree *p); /* NULL is fine */

/* Numbers the nodes in the order in which they are visited: what is below one is next to it in
 * memory. Returns what their numbers were, [n], to be freed. Not of a tree with `ends`. */
pathid *path_tree_renumber(struct path_tree *p);

/* Nodes below one caller are visited in the order of the ranks of their places: ranks[place]. */
void path_tree_sort(struct path_tree *p, const uint32_t *ranks);

/* ---- weights ---- */

struct path_weight {
	double sum; /* in the event's unit */
	uint64_t count;
};

struct path_own {
	double sum;
};

struct path_weights {              /* of one event */
	struct path_own *own;      /* [n]: of samples that end at the node */
	struct path_weight *below; /* [n]: there, or further in */
};

struct path_weights path_weights_of(const struct path_tree *p, const struct samples *s,
				    uint16_t event);
void path_weights_free(struct path_weights *w);

/* The event that times are of: the first that counts time on a CPU, or the first. */
uint16_t samples_event(const struct samples *s);

/* ---- sums ---- */

/* Each node but the root once: entered before those below it, left after them. No recursion. */
struct path_visitor {
	void (*enter)(pathid node, void *arg);
	void (*leave)(pathid node, void *arg);
	void *arg;
};
void path_tree_visit(const struct path_tree *p, const struct path_visitor *v);

/* Inclusive times of groups of places: of the samples with a place of the group on their path, each
 * once, however often it is there. `group_of`: [places], below n_groups, or NONE. Returns
 * [n_groups], to be freed. */
double *path_times(const struct path_tree *p, const struct path_weights *w,
		   const uint32_t *group_of, size_t n_groups);

/* The same of stacks whose frames have one place each: [n_frames], or NONE. */
double *path_times_of_places(const struct samples *s, const symid *places, const uint32_t *group_of,
			     size_t n_groups);

#endif
