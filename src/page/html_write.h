/* html_write.h - writes a profile, or the difference of two, as one self-contained HTML file.
 *
 * The file holds data and a page (html/, embedded at build time) that shows it. The data are JSON,
 * a NUL, and columns of numbers (html_columns.h), deflated (zlib, RFC 1950) and in base64. The JSON
 * has for each column the number of its values and its offset after the NUL:
 *
 *	{"title": ..., "tables": {"info": {"properties", "notes", "columns", "rows"}, ...},
 *	 "functions": {"name": [...], "object": [...], "kind": [...], "address": {index: ...}},
 *	 "objects": [...], "files": [...], "shown": {name of a function: its form for people},
 *	 "threads": [[name, pid, tid, run, start, end], ...], "events": [{"name", "unit", "kind"}],
 *	 "own": {"share", "folded", "begins", "lines": [[file, line, weight], ...]},
 *	 "columns": {"node_up": [n, offset], ...}, ...}
 *
 * Names cannot inject markup: base64 has no '<', and the page inserts names as text. A content
 * security policy in the file forbids everything that the page does not need. */
#ifndef PAGE_HTML_WRITE_H
#define PAGE_HTML_WRITE_H

#include <stdio.h>

#include "base/people_name.h"
#include "base/remarks.h"
#include "kin/table.h"
#include "page/html_paths.h"

enum { HTML_BYTES = 5000000 }; /* default size limit of the file */
/* Without a size limit, nodes below this share are dropped: a hundredth of a pixel on a screen of
 * 2,000 pixels. One sample of 200,000 is that wide. */
#define HTML_MIN_WIDTH (1 / 200000.0)

struct html_table {
	const char *key;
	char *json; /* html_table_json(); NULL: none */
};

/* A table as JSON, so that its sources are not needed when the page is written. To be freed. Its
 * names of functions are made known to `names`, which may be NULL. */
char *html_table_json(struct kin_table *t, struct people_names *names);

struct html_input {
	const char *title;
	const struct html_table *tables; /* ends with a NULL key */
	const struct remarks *remarks;   /* warnings, and hints at names; NULL: none */
	const struct remarks *findings;  /* notes on what stands out; NULL: none */
	struct own_shares own;           /* of the first event, if functions are told to be own */
	bool begins_with_own;            /* the page folds the code of others when it is opened */
	const char *source_url;          /* kin_html_opts.source_url */
	const struct own_code *own_code; /* its directories: {file} is relative to them; or NULL */
	struct people_names *names;      /* how functions are shown; NULL: by their whole names */
	const struct html_paths *paths;  /* NULL: no samples */
	uint64_t max_bytes; /* size limit of the file: narrow flame-graph nodes are dropped and
			       times get less precise; 0: no limit */
	double min_width;   /* nodes with a smaller share of every event are dropped */
};

/* Fails if `out` cannot be written. */
MUST_CHECK struct kin_error *html_write(FILE *out, const struct html_input *in);

#endif
