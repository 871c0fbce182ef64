/* sides.h - the two sides of a comparison: for kin diff, kin compare and kin check.
 *
 *	struct sides sides;
 *	sides_init(&sides, s);
 *	sides_take(&sides, SIDE_BEFORE, "before/");
 *	sides_take(&sides, SIDE_AFTER, "after/");
 *	status = sides_show(&sides, s);
 *	sides_done(&sides); */
#ifndef CLI_SIDES_H
#define CLI_SIDES_H

#include "cli/settings.h"

struct kin_error;
struct kin_profile;
struct kin_table;

enum { SIDE_BEFORE, SIDE_AFTER, N_SIDES };
enum { EXIT_SLOWER = 1, EXIT_INCOMPARABLE = 3 };

struct sides {
	struct string_list of[N_SIDES]; /* paths: one for each recording */
	const char *program[N_SIDES];   /* NULL: search for it */
	struct arena words;             /* memory of the lists, and of `origin` */
	const char *origin;             /* the last note on where names come from; NULL: none */
	const char *remedy; /* the option with which recordings of different events could be
			       compared; NULL: none */
	bool foreign;       /* some recording belongs to another program than the names do */
	mode_t mode; /* widest permissions for a file made from the recordings compared so far */
};

/* Options of all comparing commands; a command's own begin at OPT_OF_SIDES. */
enum {
	OPT_INCLUSIVE = OPT_OWN,
	OPT_SHARES,
	OPT_ALL,
	OPT_PAIRED,
	OPT_LINES,
	OPT_DETECT,
	OPT_LIMIT,
	OPT_OF_SIDES,
};
#define OPTIONS_OF_SHOWING                                                                         \
	{ OPT_INCLUSIVE, 0, "inclusive", NULL,                                                     \
	  "compare times with callees, of sampled stacks; otherwise own times" },                  \
		{ OPT_ALL, 0, "all", NULL, "show what differs by no more than chance, too" },      \
		{ OPT_LINES, 0, "lines", NULL,                                                     \
		  "compare source lines instead of functions: file and number are the name, so "   \
		  "lines that were moved are others" },                                            \
	{                                                                                          \
		OPT_DETECT, 0, "detect", "PERCENT",                                                \
			"say how many runs of each it takes to find a change by so much, four "    \
			"times in five; of each function in the column runs"                       \
	}
#define OPTION_OF_LIMIT                                                                            \
	{                                                                                          \
		OPT_LIMIT, 0, "fail-above", "PERCENT",                                             \
			"exit with 1 if the total has grown by more than this, by the lower end "  \
			"of its interval where there is one"                                       \
	}
#define OPTIONS_OF_SIDES                                                                           \
	OPTIONS_OF_SHOWING,                                                                        \
		{ OPT_SHARES, 0, "shares", NULL,                                                   \
		  "compare shares of the totals: for recordings of unequal length" },              \
	{                                                                                          \
		OPT_PAIRED, 0, "paired", NULL,                                                     \
			"the nth recordings of two directories were made one after the other, in " \
			"turns: the first pair BEFORE first, the second pair AFTER first. "        \
			"Without "                                                                 \
			"it the recordings' own times say so, where they have any"                 \
	}

/* Sides without recordings, of the programs that were named. */
void sides_init(struct sides *sides, const struct settings *s);
void sides_done(struct sides *sides);

/* Adds the recording at `path`; for a folder without gmon.out files each recording in it, by name.
 */
void sides_take(struct sides *sides, int side, const char *path);
/* Adds one recording; the path is copied. */
void sides_add(struct sides *sides, int side, const char *path);

/* Sets one of the options above. False: error[] is set. */
bool sides_set(struct settings *s, int id, const char *arg, char error[512]);

/* The settings to open one recording; `data` becomes its list of one. */
struct settings sides_settings(const struct sides *sides, const struct settings *s, int side,
			       size_t i, const char *data[2]);

/* Compares by s->diff, with the columns of s. *ret is NULL if that failed, which was reported.
 * Returns the exit status for the data. */
int sides_compare(struct sides *sides, const struct settings *s, struct kin_table **ret);

/* Checks that the requested columns exist, before anything is recorded. Returns the exit status. */
int sides_check(const struct settings *s);

/* Compares and renders by s. Returns the exit status: EXIT_SLOWER, EXIT_INCOMPARABLE ... */
int sides_show(struct sides *sides, const struct settings *s);

#endif
