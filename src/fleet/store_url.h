/* store_url.h - where a store of profiles is, and which of them are meant:
 *
 *	http://HOST[:PORT][,HOST[:PORT]].../DATABASE[?KEY=VALUE[&KEY=VALUE]...]
 *
 * Several hosts are shards: each holds what some of the recorded hosts sent. Keys are service,
 * version, host, from, to, or any other, which is that of a label. Values are taken literally,
 *after %XX; a key that is there twice means either value. */
#ifndef FLEET_STORE_URL_H
#define FLEET_STORE_URL_H

#include "base/arena.h"
#include "base/vec.h"

struct kin_error;

struct store_filter {
	const char *key, *value;
};

struct store_url {
	struct arena arena;               /* of all texts */
	const char *scheme;               /* "http", "https" */
	VEC(const char *) shards;         /* "HOST:PORT"; at least one */
	const char *database;             /* letters, digits and underscores */
	VEC(struct store_filter) filters; /* without from and to */
	uint64_t from_s, to_s;            /* since 1970: [from_s, to_s); 0 and UINT32_MAX: all */
};

/* Whether that is meant to be one, right or wrong. */
bool store_url_is(const char *text);

/* `now_s` is what "-1h" is counted from. KIN_ERROR_USAGE; a password in it is one, as others see
 * the command line. */
MUST_CHECK struct kin_error *store_url_parse(const char *text, uint64_t now_s,
					     struct store_url *ret);
void store_url_done(struct store_url *u);

#endif
