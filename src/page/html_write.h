/* html_write.h - a profile, or the difference of two, as one HTML file that needs nothing else: no
 * network, no other file.
 *
 * The file holds data and a page (html/, embedded when this is built) that shows them. The data are
 * JSON, a NUL, and columns of numbers (html_columns.h), deflated (zlib, RFC 1950) and in base64.
 * The JSON says of each column how many numbers it has and where it begins behind the NUL:
 *
 *	{"title": ..., "tables": {"info": {"properties", "notes", "columns", "rows"}, ...},
 *	 "functions": {"name": [...], "object": [...], "kind": [...]}, "objects": [...],
 *	 "files": [...],
 *	 "threads": [[name, pid, tid, run, start, end], ...], "events": [{"name", "unit", "kind"}],
 *	 "columns": {"node_up": [n, offset], ...}, ...}
 *
 * Whatever names hold cannot get out of where they are: in base64 there is no '<', and the page
 * puts them on the screen as text. A policy in the file forbids everything that it does not need.
 */
#ifndef PAGE_HTML_WRITE_H
#define PAGE_HTML_WRITE_H

#include <stdio.h>

#include "kin/table.h"
#include "page/html_paths.h"

enum { HTML_BYTES = 5000000 }; /* of a file, unless somebody says otherwise */

struct html_table {
	const char *key;
	char *json; /* html_table_json(); NULL: there is none */
};

/* A table as the page holds it: what it was made of need not be there when the page is written. To
 * be freed. */
char *html_table_json(struct kin_table *t);

struct html_input {
	const char *title;
	const struct html_table *tables; /* ends with a key that is NULL */
	const char *const *warnings;
	size_t n_warnings;
	const struct html_paths *paths; /* NULL: there are no samples */
	uint64_t max_bytes; /* of the file: what is narrow in flame graphs, and the precision of
			     * times, give way; 0: all is kept */
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *html_write(FILE *out, const struct html_input *in);

#endif
