/* hist_key.h - the keys that distinguish rows of hists. */
#ifndef ANALYSIS_HIST_KEY_H
#define ANALYSIS_HIST_KEY_H

#include "analysis/hists.h"

enum hist_need { /* data that a key needs */
		 NEED_NOTHING,
		 NEED_DETAILS,
		 NEED_BRANCHES,
		 NEED_ACCESSES
};

struct hist_key_info {
	const char *name;   /* on command lines: "sym" */
	const char *alias;  /* another name on command lines; NULL: none */
	const char *column; /* in tables: "symbol" */
	const char *title;  /* header: "Symbol" */
	const char *help;
	bool of_sample; /* a key of samples; otherwise a key of frames */
	bool number;    /* values are numbers, sorted as numbers; otherwise sorted by text */
	bool wide;      /* values are ids of 64-bit numbers: hist_wide() */
	bool descending;
	enum hist_need need;
};

extern const struct hist_key_info hist_keys[N_HIST_KEYS];

#endif
