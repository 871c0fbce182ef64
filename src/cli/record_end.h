/* record_end.h - the end of a recording: adds names to it, and prints where it is, its quality, and
 * what to do next. */
#ifndef CLI_RECORD_END_H
#define CLI_RECORD_END_H

#include "record/recording_audit.h"

struct record_ending {
	bool quiet;                    /* print only problems */
	bool warned;                   /* that it is measured from inside was said before */
	bool more;                     /* also print what the recording cost */
	bool names;                    /* add names to the file */
	const struct held_files *held; /* further files to take names from; NULL: none */
	const char *perf_data;         /* also write this file; NULL: none */
	/* Shows the file, instead of printing how to show it; NULL: print. */
	void (*look)(const char *path);
};

/* `path`: the file; NULL: there are several, or it went into a pipe. `shown`: its name in messages.
 * Returns false if a further requested file could not be written. */
bool record_end(const struct record_ending *e, struct record_audit *a, const char *path,
		const char *shown);

#endif
