/* http.h - HTTP requests to one server, by libcurl.
 *
 * The connection is kept between requests. For one thread at a time. */
#ifndef FLEET_HTTP_H
#define FLEET_HTTP_H

#include "formats/rows/row_binary.h"

struct kin_error;

struct http_login { /* NULL: none. Never written anywhere */
	char *user, *password;
};

/* Reads the login from the environment, the file named there, or ~/.config/kin/store: doc/fleet.md.
 * A file that other users may read is an error. */
MUST_CHECK struct kin_error *http_login_find(struct http_login *ret);
void http_login_done(struct http_login *l);

struct http;
/* Borrows the login. */
MUST_CHECK struct kin_error *http_new(const struct http_login *login, struct http **ret);
void http_free(struct http *h); /* NULL is fine */

struct http_part { /* part of a form: a file of bytes */
	const char *name;
	const void *bytes;
	size_t n;
};

struct http_request {
	const char *url;  /* complete, including parameters */
	const void *body; /* the body, or else: */
	size_t n;
	const struct http_part *part; /* a form with one part; NULL: send `body` */
	unsigned timeout_s;           /* 0: 300 */
};

struct http_answer {
	long status;             /* 200 */
	struct row_buffer bytes; /* to be freed, also after an error */
	bool timed_out;          /* after an error: the request took longer than timeout_s */
};

/* Error: no complete answer came. *sent: the request may have had an effect; if false it certainly
 * had none. An answer with any status is no error. */
MUST_CHECK struct kin_error *http_ask(struct http *h, const struct http_request *request,
				      struct http_answer *ret, bool *sent);

/* Escapes text for use within a URL; to be freed. */
char *http_escaped(const char *text);

#endif
