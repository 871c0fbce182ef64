/* push_options.c - options that kin push and kin agent share. */
#include "fleet/push_options.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "cli/arg.h"

const struct opt_group push_options = {
	"What is said of the recordings",
	(const struct opt[]){
		{ PUSH_SERVICE, 0, "service", "NAME",
		  "what was recorded; otherwise the name of its program, of several that of the "
		  "command, or machine" },
		{ PUSH_VERSION, 0, "service-version", "TEXT", "which version of it" },
		{ PUSH_HOST, 0, "host", "NAME",
		  "where; otherwise the host that the recording names" },
		{ PUSH_LABEL, 0, "label", "KEY=VALUE",
		  "anything else to find them by: run=17, rank=3; repeatable" },
		{ PUSH_BUCKET, 0, "bucket", "TIME",
		  "sum up samples of that time: 60s (the default), 10m, 1h" },
		{ 0 },
	},
};

static bool set_bucket(struct settings *s, const char *arg, char error[512])
{
	enum { DAY_S = 86400 };
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S } };
	char *end;
	uint64_t n = *arg >= '0' && *arg <= '9' ? strtoull(arg, &end, 10) : 0;
	for (size_t i = 0; n && n <= DAY_S && i < ARRAY_LEN(units); i++)
		if ((end[0] == units[i].unit && !end[1]) || !*end) {
			s->push.bucket_s = (uint32_t)(n * units[i].seconds);
			if (DAY_S % s->push.bucket_s == 0)
				return true;
			break;
		}
	return arg_bad("--bucket", arg, "a time of which a day has a whole number: 60s, 10m, 1h",
		       error);
}

bool push_options_set(struct settings *s, int id, const char *arg, char error[512])
{
	const char *equals;
	switch (id) {
	case PUSH_SERVICE:
		s->push.service = arg;
		return true;
	case PUSH_VERSION:
		s->push.version = arg;
		return true;
	case PUSH_HOST:
		s->push.host = arg;
		return true;
	case PUSH_LABEL:
		equals = strchr(arg, '=');
		if (!equals || equals == arg)
			return arg_bad("--label", arg, "KEY=VALUE", error);
		if (store_url_has_key(arg, (size_t)(equals - arg))) {
			snprintf(error, 512,
				 "--label=%.100s: no report could ask for it, as the store's URL "
				 "has its own %.*s; likewise service, version, host, from and to",
				 arg, (int)(equals - arg), arg);
			return false;
		}
		string_list_add(&s->push.labels, arg);
		return true;
	case PUSH_BUCKET:
		return set_bucket(s, arg, error);
	}
	return true;
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct kin_error *push_options_take(struct settings *s, struct store_url *url,
				    struct push_opts *ret)
{
	struct kin_error *err = store_url_parse(s->data.at.at[0], (uint64_t)time(NULL), url);
	if (err)
		return err;
	if (url->filters.n || url->has_from || url->has_to) {
		store_url_done(url);
		return err_new(KIN_ERROR_USAGE,
			       "%s: what is after ? is for reading: say it by options",
			       s->data.at.at[0]);
	}
	struct string_list *labels = &s->push.labels;
	if (labels->at.n)
		qsort(labels->at.at, labels->at.n, sizeof(*labels->at.at), by_bytes);
	*ret = (struct push_opts){ .service = s->push.service,
				   .version = s->push.version,
				   .host = s->push.host,
				   .labels = string_list(labels),
				   .bucket_s = s->push.bucket_s,
				   .debug_dir = s->debug_dir,
				   .symfs = s->symfs };
	return NULL;
}
