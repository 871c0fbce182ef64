/* hist_key.h - the keys that rows of hists can be told apart by. */
#ifndef ANALYSIS_HIST_KEY_H
#define ANALYSIS_HIST_KEY_H

#include "analysis/hists.h"

enum hist_need { /* what of the data */
		 NEED_NOTHING,
		 NEED_DETAILS,
		 NEED_BRANCHES,
		 NEED_ACCESSES
};

struct hist_key_info {
	const char *name;   /* on command lines: "sym" */
	const char *alias;  /* another such name; NULL: none */
	const char *column; /* in tables: "symbol" */
	const char *title;  /* header: "Symbol" */
	const char *help;
	bool of_sample; /* else of a frame */
	bool number;    /* values are numbers, in that order; else the texts are ordered */
	bool wide;      /* values stand for numbers of 64 bits: hist_wide() */
	bool descending;
	enum hist_need need;
};

extern const struct hist_key_info hist_keys[N_HIST_KEYS];

#endif
