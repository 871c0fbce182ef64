/* store_url.h - URLs that locate a store of profiles and select some of them:
 *
 *	http://HOST[:PORT][,HOST[:PORT]].../DATABASE[?KEY=VALUE[&KEY=VALUE]...]
 *
 * Several hosts are shards: each holds the recordings of some hosts. Keys are service, version,
 * host, from, to; any other key is a label's. Values are literal, after decoding %XX; a repeated
 * key means either value. */
#ifndef FLEET_STORE_URL_H
#define FLEET_STORE_URL_H

#include "base/arena.h"
#include "base/vec.h"

struct kin_error;

struct store_filter {
	const char *key, *value;
};

struct store_url {
	struct arena arena;               /* memory of all strings */
	const char *scheme;               /* "http", "https" */
	VEC(const char *) shards;         /* "HOST:PORT"; at least one */
	const char *database;             /* letters, digits and underscores */
	VEC(struct store_filter) filters; /* without from and to */
	uint64_t from_s, to_s; /* since 1970: [from_s, to_s); 0 and UINT32_MAX: no limit */
	bool has_from, has_to; /* whether the URL names them */
};

/* Whether the key, of n bytes, has a meaning of its own: any other key is a label. */
bool store_url_has_key(const char *key, size_t n);

/* `now_s`: the time that "-1h" is relative to. KIN_ERROR_USAGE also for a password in the URL,
 * because others can see the command line. */
MUST_CHECK struct kin_error *store_url_parse(const char *text, uint64_t now_s,
					     struct store_url *ret);
void store_url_done(struct store_url *u);

#endif
