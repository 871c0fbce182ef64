/* URLs of stores, and texts on their way into SQL. */
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "fleet/store.h"
#include "formats/store_name.h"

enum { NOW = 1700000000 };

static const char *error_of(const char *text)
{
	static char message[400];
	struct store_url u;
	struct kin_error *err = store_url_parse(text, NOW, &u);
	if (!err) {
		store_url_done(&u);
		return "";
	}
	snprintf(message, sizeof(message), "%s", kin_error_message(err));
	kin_error_free(err);
	return message;
}

static void parts_of_a_url(void)
{
	struct store_url u;
	OK(store_url_parse("http://a,b:99,[::1]:5/db_1?service=a%27b%26+c&zone=x&from=-1h&to=now",
			   NOW, &u) == NULL);
	OK(u.shards.n == 3 && !strcmp(u.shards.at[0], "a:8123") &&
	   !strcmp(u.shards.at[1], "b:99") && !strcmp(u.shards.at[2], "[::1]:5"));
	OK(!strcmp(u.scheme, "http") && !strcmp(u.database, "db_1"));
	OK(u.filters.n == 2 && !strcmp(u.filters.at[0].value, "a'b& c") &&
	   !strcmp(u.filters.at[1].key, "zone"));
	OK(u.from_s == NOW - 3600 && u.to_s == NOW);
	store_url_done(&u);
	OK(store_url_parse("https://a/db/", NOW, &u) == NULL);
	OK(!strcmp(u.shards.at[0], "a:8443") && !strcmp(u.database, "db"));
	OK(u.from_s == 0 && u.to_s == UINT32_MAX);
	OK_STR(u.scheme, "https");
	OK(store_url_has_key("host=x", 4) && !store_url_has_key("hosts=x", 5));
	store_url_done(&u);
}

static void times_in_a_url(void)
{
	static const struct {
		const char *text;
		uint64_t from_s;
	} good[] = { { "-90", NOW - 90 },
		     { "-2d", NOW - 2 * 86400 },
		     { "1699999999", 1699999999 },
		     { "2023-11-14", 1699920000 },
		     { "2023-11-14T12:30:00Z", 1699965000 },
		     { "-99999999999w", 0 } };
	for (size_t i = 0; i + 1 < sizeof(good) / sizeof(*good); i++) {
		char *text = xprintf("http://a/db?from=%s", good[i].text);
		struct store_url u;
		OK(store_url_parse(text, NOW, &u) == NULL && u.from_s == good[i].from_s);
		store_url_done(&u);
		free(text);
	}
	OK(strstr(error_of("http://a/db?from=tomorrow"), "a time is"));
	OK(strstr(error_of("http://a/db?from=-99999999999w"), "a time is"));
	OK(strstr(error_of("http://a/db?from=2026-02-30"), "a time is"));
	OK(strstr(error_of("http://a/db?from=-1h&from=-2h"), "given once"));
	OK(strstr(error_of("http://a/db?from=-1h&to=-2h"), "ends before"));
}

static void what_is_no_url(void)
{
	OK(strstr(error_of("http:///db"), "no host"));
	OK(strstr(error_of("http://a/"), "name of a database"));
	OK(strstr(error_of("http://a/d;b"), "name of a database"));
	OK(strstr(error_of("http://a b/db"), "no host"));
	OK(strstr(error_of("http://a:0/db"), "no such port"));
	OK(strstr(error_of("http://b,a:65536/db"), "no such port"));
	OK(strstr(error_of("http://[::1]:x/db"), "no such port"));
	OK_STR(error_of("http://[::1]:65535/db"), "");
	OK(strstr(error_of("http://a,,b/db"), "host is missing"));
	OK(strstr(error_of("http://a,/db"), "host is missing"));
	OK(strstr(error_of("http://a,b,a:8123/db"), "named twice"));
	OK_STR(error_of("HTTP://a,a:1/db"), "");
	OK(strstr(error_of("http://a/db?x"), "KEY=VALUE"));
	OK(strstr(error_of("http://a/db?x=%0"), "hexadecimal"));
	OK(strstr(error_of("http://a/db?x=%00"), "hexadecimal"));
	const char *secret = error_of("http://u:secret@a/db");
	OK(strstr(secret, "environment") && !strstr(secret, "secret"));
	OK(store_is_named("https://x") && !store_is_named("profile.kin") &&
	   !store_is_named("ftp://x/y"));
}

static void texts_stay_texts(void)
{
	char *q = store_quoted("a'b\\c\n\xc3\xa9 OR 1=1 --");
	OK(!strcmp(q, "'a\\x27b\\x5cc\\x0a\\xc3\\xa9 OR 1\\x3d1 --'"));
	free(q);
}

int main(void)
{
	parts_of_a_url();
	times_in_a_url();
	what_is_no_url();
	texts_stay_texts();
	return DONE();
}
