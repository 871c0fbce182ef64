/* html.h - a profile as one HTML file that needs nothing else: no network, no other file.
 *
 * The file holds the reports as JSON, once, and a page (html/page.*, embedded when this is built)
 * that shows them: what was measured and how far it is to be trusted, functions, each with its
 * callers and callees, and a flame graph of each event.
 *
 * Whatever names hold cannot get out of where they are: in the JSON there is no '<', and the page
 * puts them on the screen as text. A policy in the file forbids everything that it does not need.
 */
#ifndef EXPORT_HTML_H
#define EXPORT_HTML_H

#include <stdio.h>

#include "export/folded.h"
#include "kin/table.h"

struct html_flame {
	const struct folded_tree *tree;
	const char *event;
	bool is_time; /* weights are nanoseconds */
};

struct html_input {
	const char *title;
	struct kin_table *info, *functions,
		*graph; /* reports "info", "flat", "graph"; NULL: none */
	const char *const *warnings;
	size_t n_warnings;
	const struct html_flame *flames; /* the first one is shown first */
	size_t n_flames;
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *html_write(FILE *out, const struct html_input *in);

#endif
