/* places.h - functions and source lines that a file of another tool names, so that all reports know
 * them.
 *
 * Such files tell of lines, not of addresses. Each function gets a stretch of made-up addresses in
 * its object, one for each of its lines, and what they stand for is given to the profile as names
 * that came with the data (names/kept.h). The program itself is not asked. */
#ifndef FORMATS_PLACES_H
#define FORMATS_PLACES_H

#include "base/bytes.h"
#include "profile/profile.h"

struct places;

/* `all`: of the file, which tells its objects from those of other files. */
struct places *places_new(struct profile_builder *into, const struct bytes *all);
/* path: not "". */
uint32_t places_object(struct places *p, const char *path, bool is_main);
/* Equal ones have equal numbers, from 0. file "": not known. */
uint32_t places_function(struct places *p, uint32_t object, const char *name, const char *file);
size_t places_n_functions(const struct places *p);
/* line 0: not known. */
frameid places_frame(struct places *p, uint32_t function, const char *file, uint32_t line);
/* A call there, or of the function: for arcs. */
uint64_t places_address(struct places *p, uint32_t function, const char *file, uint32_t line,
			objid *object);
uint64_t places_entry(const struct places *p, uint32_t function, objid *object);
/* Gives the names to the profile, and frees p. */
void places_finish(struct places *p);

#endif
