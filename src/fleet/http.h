/* http.h - HTTP requests to one server, by libcurl, which is loaded at the first request.
 *
 * The connection is kept between requests. For one thread at a time. */
#ifndef FLEET_HTTP_H
#define FLEET_HTTP_H

#include "base/vec.h"

struct kin_error;

struct http_login { /* NULL: none. Never written anywhere */
	char *user, *password;
};

/* From the environment, the file that it names, or ~/.config/kin/store: doc/fleet.md. A file that
 * others may read is an error. */
MUST_CHECK struct kin_error *http_login_find(struct http_login *ret);
void http_login_done(struct http_login *l);

struct http;
/* Borrows the login. KIN_ERROR_UNSUPPORTED: kin was built without libcurl, or libcurl is missing.
 */
MUST_CHECK struct kin_error *http_new(const struct http_login *login, struct http **ret);
void http_free(struct http *h); /* NULL is fine */

struct http_bytes { /* a VEC */
	char *at;
	size_t n, cap;
};

struct http_part { /* part of a form: a file of bytes */
	const char *name;
	const void *bytes;
	size_t n;
};

struct http_request {
	const char *url;  /* complete, with its parameters */
	const void *body; /* or */
	size_t n;
	const struct http_part *part; /* a form of one part; NULL: send the body as it is */
	unsigned timeout_s;           /* 0: 300 */
};

struct http_answer {
	long status;             /* 200 */
	struct http_bytes bytes; /* to be freed, also after an error */
	bool timed_out;          /* after an error: it took longer than timeout_s */
};

/* Error: there is no complete answer. *sent: the request may have taken effect; otherwise it
 * certainly did not. An answer with any status is no error. */
MUST_CHECK struct kin_error *http_ask(struct http *h, const struct http_request *request,
				      struct http_answer *ret, bool *sent);

/* Escapes text for a part of a URL. */
char *http_escaped(const char *text); /* to be freed */

#endif
