/* record_end.h - what happens once a recording is there: names go into it, and a person is told
 * where it is, how far it is to be trusted, and what to type next. */
#ifndef CLI_RECORD_END_H
#define CLI_RECORD_END_H

#include "record/recording_audit.h"

struct record_ending {
	bool quiet;                    /* only what is wrong is said */
	bool more;                     /* and what it took */
	bool names;                    /* are kept in the file */
	const struct held_files *held; /* of which they are made, too; NULL: none */
	const char *perf_data;         /* written besides; NULL: none */
	/* Shows the file, in place of words on how to; NULL: the words. */
	void (*look)(const char *path);
};

/* `path`: the file; NULL: there are several, or it went into a pipe. `shown`: what to call it.
 * Returns false if what was asked for besides could not be written. */
bool record_end(const struct record_ending *e, struct record_audit *a, const char *path,
		const char *shown);

#endif
