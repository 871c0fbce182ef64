/* hist_key.h - the keys that rows of hists can be told apart by. */
#ifndef ANALYSIS_HIST_KEY_H
#define ANALYSIS_HIST_KEY_H

#include "analysis/hists.h"

struct hist_key_info {
	const char *name;   /* on command lines: "sym" */
	const char *alias;  /* another such name; NULL: none */
	const char *column; /* in tables: "symbol" */
	const char *title;  /* header: "Symbol" */
	const char *help;
	bool of_sample; /* else of a frame */
	bool number;    /* values are numbers, in that order; else the texts are ordered */
};

extern const struct hist_key_info hist_keys[N_HIST_KEYS];

#endif
