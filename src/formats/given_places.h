/* given_places.h - functions and source lines named by another tool's file, made available to all
 * reports.
 *
 * Such files have lines but no addresses. Each function gets a range of made-up addresses in its
 * object, one for each of its lines, and the profile gets their names as names that came with the
 * data (names/kept.h). The program itself is not opened. */
#ifndef FORMATS_GIVEN_PLACES_H
#define FORMATS_GIVEN_PLACES_H

#include "base/bytes.h"
#include "base/strtab.h"
#include "profile/profile.h"

struct given_places;

/* `all`: the file's contents, which distinguish its objects from those of other files. */
struct given_places *given_new(struct profile_builder *into, const struct bytes *all);
/* Paths and names are strings of this table, so that a long one costs once, however often a file
 * refers to it. Lives until given_finish(). */
struct strtab *given_strings(struct given_places *p);
/* path: must not be "". */
uint32_t given_object(struct given_places *p, strid path, bool is_main);
/* Equal functions have equal numbers, from 0. file 0: not known. */
uint32_t given_function(struct given_places *p, uint32_t object, strid name, strid file);
size_t given_n_functions(const struct given_places *p);
/* line 0: not known. */
frameid given_frame(struct given_places *p, uint32_t function, strid file, uint32_t line);
/* Addresses for arcs: of a call at that line, and of a function's beginning. */
uint64_t given_address(struct given_places *p, uint32_t function, strid file, uint32_t line,
		       objid *object);
uint64_t given_entry(const struct given_places *p, uint32_t function, objid *object);
/* Adds the names to the profile, and frees p. */
void given_finish(struct given_places *p);

#endif
