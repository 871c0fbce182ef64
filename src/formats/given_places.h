/* given_places.h - functions and source lines that a file of another tool names, so that all
 * reports know them.
 *
 * Such files tell of lines, not of addresses. Each function gets a stretch of made-up addresses in
 * its object, one for each of its lines, and what they stand for is given to the profile as names
 * that came with the data (names/kept.h). The program itself is not asked. */
#ifndef FORMATS_GIVEN_PLACES_H
#define FORMATS_GIVEN_PLACES_H

#include "base/bytes.h"
#include "profile/profile.h"

struct given_places;

/* `all`: of the file, which tells its objects from those of other files. */
struct given_places *given_new(struct profile_builder *into, const struct bytes *all);
/* path: not "". */
uint32_t given_object(struct given_places *p, const char *path, bool is_main);
/* Equal ones have equal numbers, from 0. file "": not known. */
uint32_t given_function(struct given_places *p, uint32_t object, const char *name,
			const char *file);
size_t given_n_functions(const struct given_places *p);
/* line 0: not known. */
frameid given_frame(struct given_places *p, uint32_t function, const char *file, uint32_t line);
/* A call there, or of the function: for arcs. */
uint64_t given_address(struct given_places *p, uint32_t function, const char *file, uint32_t line,
		       objid *object);
uint64_t given_entry(const struct given_places *p, uint32_t function, objid *object);
/* Gives the names to the profile, and frees p. */
void given_finish(struct given_places *p);

#endif
