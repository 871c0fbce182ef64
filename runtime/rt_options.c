/* rt_options.c - the runtime's settings, read from the text of one environment variable. */
#include "rt.h"

static bool named(const char *at, const char *name, size_t *skip)
{
	size_t i = 0;

	while (name[i] && at[i] == name[i])
		i++;
	*skip = i;
	return !name[i] && (at[i] == '=' || at[i] == ',' || !at[i]);
}

const char *rt_option(const struct rt_options *o, const char *name, size_t *size)
{
	const char *at = o->text, *found = NULL;

	while (*at) { /* the last one of several counts */
		size_t skip, n = 0;
		bool mine = named(at, name, &skip);

		while (at[n] && at[n] != ',')
			n++;
		if (mine) {
			skip += at[skip] == '=';
			found = at + skip;
			*size = n - skip;
		}
		at += n + (at[n] == ',');
	}
	return found;
}

bool rt_option_on(const struct rt_options *o, const char *name, bool unless)
{
	size_t n;
	const char *value = rt_option(o, name, &n);

	if (!value)
		return unless;
	return !((n == 3 && value[0] == 'o' && value[1] == 'f' && value[2] == 'f') ||
		 (n == 2 && value[0] == 'n' && value[1] == 'o') || (n == 1 && value[0] == '0'));
}

void rt_options_read(struct rt_options *o, const char *text)
{
	struct text t = { .at = o->text, .size = sizeof(o->text) };

	text_add(&t, text ? text : "");
	o->arcs = rt_option_on(o, "arcs", true);
	o->gmon = rt_option_on(o, "gmon", true);
	o->latency = rt_option_on(o, "latency", false);
	o->verbose = rt_option_on(o, "verbose", false);
	o->start = rt_option_on(o, "start", true);
}
