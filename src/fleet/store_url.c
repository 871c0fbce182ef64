/* store_url.c - parses the URL of a store. */
#include "fleet/store_url.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/err.h"
#include "formats/store_name.h"

enum { MAX_SHARDS = 1000, MAX_DATABASE = 64 };

bool store_url_has_key(const char *key, size_t n)
{
	static const char *const keys[] = { "service", "version", "host", "from", "to" };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strlen(keys[i]) == n && !memcmp(keys[i], key, n))
			return true;
	return false;
}

static struct kin_error *bad(const char *text, const char *why)
{
	return err_new(KIN_ERROR_USAGE,
		       "%.200s: %s (http://HOST:PORT/DATABASE?service=NAME&from=-1h)", text, why);
}

/* ---- words ---- */

static const char *copy(struct store_url *u, const char *from, size_t n)
{
	return arena_printf(&u->arena, "%.*s", (int)n, from);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes %XX and +; NULL: malformed, or a NUL. */
static const char *decode(struct store_url *u, const char *from, size_t n)
{
	char *to = arena_alloc_bytes(&u->arena, n + 1), *p = to;
	for (size_t i = 0; i < n; i++) {
		char c = from[i];
		if (c == '%') {
			int high = i + 2 < n ? hex(from[i + 1]) : -1;
			int low = high < 0 ? -1 : hex(from[i + 2]);
			if (low < 0 || !(high << 4 | low))
				return NULL;
			c = (char)(high << 4 | low);
			i += 2;
		}
		*p++ = c == '+' && from[i] == '+' ? ' ' : c;
	}
	return to;
}

/* ---- times ---- */

/* "-90", "-1h", "1732350000", "2026-11-23", "2026-11-23T08:00:00": UTC. */
static bool take_time(const char *text, uint64_t now_s, uint64_t *ret)
{
	static const struct {
		const char *unit;
		uint64_t seconds;
	} units[] = { { "", 1 },     { "s", 1 },     { "m", 60 },
		      { "h", 3600 }, { "d", 86400 }, { "w", 604800 } };
	static const char *const dates[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					     "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	bool back = *text == '-';
	char *end;
	uint64_t n = isdigit((unsigned char)text[back]) ? strtoull(text + back, &end, 10) : 0;
	if (!isdigit((unsigned char)text[back]))
		return !strcmp(text, "now") && (*ret = now_s, true);
	for (size_t i = 0; i < ARRAY_LEN(units) && n <= UINT32_MAX; i++) {
		if (strcmp(end, units[i].unit) != 0 || (!back && i))
			continue;
		uint64_t seconds = n * units[i].seconds;
		*ret = !back ? n : seconds > now_s ? 0 : now_s - seconds;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(dates); i++) {
		struct tm t = { 0 };
		const char *stop = strptime(text, dates[i], &t);
		if (!stop || (*stop && strcmp(stop, "Z") != 0))
			continue;
		int day = t.tm_mday;
		time_t at = timegm(&t); /* turns the 30th of February into the 2nd of March */
		*ret = at < 0 ? 0 : (uint64_t)at;
		return at >= 0 && *ret <= UINT32_MAX && t.tm_mday == day;
	}
	return false;
}

/* ---- parts ---- */

/* Adds ClickHouse's port if there is none. */
static const char *with_port(struct store_url *u, const char *p, size_t n)
{
	const char *bracket = memchr(p, ']', n);
	const char *from = bracket ? bracket : p;
	bool has_port = memchr(from, ':', n - (size_t)(from - p));
	return arena_printf(&u->arena, "%.*s%s", (int)n, p,
			    has_port                      ? ""
			    : !strcmp(u->scheme, "https") ? ":8443"
							  : ":8123");
}

/* Whether the port is valid, or missing: "[::1]:8123", "host:8123", "host". */
static bool is_port_good(const char *p, size_t n)
{
	const char *bracket = memchr(p, ']', n);
	const char *from = bracket ? bracket : p, *end = p + n;
	const char *colon = memchr(from, ':', (size_t)(end - from));
	unsigned port = 0;
	for (const char *at = colon ? colon + 1 : end; at < end; at++) {
		if (!isdigit((unsigned char)*at) || port > UINT16_MAX)
			return false;
		port = port * 10 + (unsigned)(*at - '0');
	}
	return !colon || (port && port <= UINT16_MAX);
}

static struct kin_error *take_shards(const char *text, const char *p, size_t n, struct store_url *u)
{
	const char *end = p + n;
	if (memchr(p, '@', n))
		return bad("the store's URL",
			   "names and passwords do not belong there, where others see them: put "
			   "them into the environment or a file, see kin help push");
	while (p < end) {
		const char *comma = memchr(p, ',', (size_t)(end - p));
		size_t length = comma ? (size_t)(comma - p) : (size_t)(end - p);
		for (size_t i = 0; i < length; i++)
			if (!isalnum((unsigned char)p[i]) && !strchr(".-_:[]", p[i]))
				return bad(text, "that is no host");
		if (length && !is_port_good(p, length))
			return bad(text, "there is no such port");
		if (!length || u->shards.n == MAX_SHARDS)
			return bad(text, "a host is missing, or there are too many");
		const char *shard = with_port(u, p, length);
		for (size_t i = 0; i < u->shards.n; i++)
			if (!strcmp(u->shards.at[i], shard))
				return bad(text, "a host is named twice: its samples would count "
						 "twice");
		vec_push(&u->shards, shard);
		p += length + (comma != NULL);
		if (comma && p == end)
			return bad(text, "a host is missing after the last comma");
	}
	return u->shards.n ? NULL : bad(text, "there is no host");
}

static struct kin_error *take_database(const char *text, const char *p, size_t n,
				       struct store_url *u)
{
	if (n && p[n - 1] == '/')
		n--;
	bool good = n && n <= MAX_DATABASE && !isdigit((unsigned char)*p);
	for (size_t i = 0; i < n && good; i++)
		good = isalnum((unsigned char)p[i]) || p[i] == '_';
	if (!good)
		return bad(text, "after the host comes the name of a database: letters, digits "
				 "and underscores");
	u->database = copy(u, p, n);
	return NULL;
}

static struct kin_error *take_filter(const char *text, const char *p, size_t n, uint64_t now_s,
				     struct store_url *u)
{
	const char *equals = memchr(p, '=', n);
	if (!n)
		return NULL;
	if (!equals || equals == p)
		return bad(text, "after ? come KEY=VALUE, with & between them");
	struct store_filter f = { decode(u, p, (size_t)(equals - p)),
				  decode(u, equals + 1, n - (size_t)(equals - p) - 1) };
	if (!f.key || !f.value)
		return bad(text, "after % come two hexadecimal digits, not 00");
	bool from = !strcmp(f.key, "from"), to = !strcmp(f.key, "to");
	if (!from && !to) {
		vec_push(&u->filters, f);
		return NULL;
	}
	bool *given = from ? &u->has_from : &u->has_to;
	if (*given)
		return bad(text, "from and to are given once");
	*given = true;
	if (!take_time(f.value, now_s, from ? &u->from_s : &u->to_s))
		return bad(text, "a time is -90s, -30m, -1h, -7d, 2026-01-31, "
				 "2026-01-31T12:00:00, seconds since 1970, or now");
	return NULL;
}

static struct kin_error *parse(const char *text, uint64_t now_s, struct store_url *u)
{
	const char *p = strstr(text, "://");
	u->scheme = strncasecmp(text, "https", 5) ? "http" : "https";
	p += 3;
	struct kin_error *err = NULL;
	size_t n = strcspn(p, "/?");
	if ((err = take_shards(text, p, n, u)))
		return err;
	p += n + (p[n] == '/');
	n = strcspn(p, "?");
	if ((err = take_database(text, p, n, u)))
		return err;
	p += n;
	while (!err && *p) {
		p++;
		n = strcspn(p, "&");
		err = take_filter(text, p, n, now_s, u);
		p += n;
	}
	if (!err && u->from_s >= u->to_s)
		err = bad(text, "it ends before it begins");
	return err;
}

struct kin_error *store_url_parse(const char *text, uint64_t now_s, struct store_url *ret)
{
	struct store_url u = { .to_s = UINT32_MAX };
	if (!store_is_named(text))
		return bad(text, "that is no URL of a store");
	struct kin_error *err = parse(text, now_s, &u);
	if (err)
		store_url_done(&u);
	else
		*ret = u;
	return err;
}

void store_url_done(struct store_url *u)
{
	vec_free(&u->shards);
	vec_free(&u->filters);
	arena_release(&u->arena);
}
