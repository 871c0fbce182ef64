/* rt_output.c - the name of the output file. */
#include "rt.h"

#include <time.h>

#include "base/job.h"

static void put_name(struct text *t, const char *template, size_t n)
{
	struct timespec now = { 0 };

	for (size_t i = 0; i < n; i++) {
		char c = template[i] == '%' && i + 1 < n ? template[++i] : 0;

		if (!c)
			text_bytes(t, template + i, 1);
		else if (c == 'p')
			text_number(t, rt.pid);
		else if (c == 'r')
			text_number(t, rt.rank ? rt.rank - 1 : 0);
		else if (c == 't') {
			SYS2(clock_gettime, CLOCK_REALTIME, &now);
			text_number(t, (uint64_t)now.tv_sec);
		} else if (c == 'e') {
			const char *base = rt.exe;

			for (const char *s = rt.exe; *s; s++)
				if (*s == '/')
					base = s + 1;
			text_add(t, base);
		} else if (c == 'c')
			text_add(t, ",");
		else
			text_bytes(t, &c, 1);
	}
}

static bool has(const char *template, size_t n, char what)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (template[i] == '%' && template[i + 1] == what)
			return true;
	return false;
}

/* Whether the rank must be added: the processes of a job are all given the same name. */
static bool needs_rank(const char *template, size_t n)
{
	size_t base = n;

	while (base && template[base - 1] != '/')
		base--;
	return rt.rank && rt_option_on(&rt.options, "rank", true) && !has(template, n, 'p') &&
	       !has(template, n, 'r') && !job_is_named(template + base, n - base, rt.rank - 1);
}

/* `attempt` 0: the requested name, with the rank; 1: plus the process id; 2 and more: plus the
 * time. */
void rt_output_path(int attempt)
{
	struct text t = { .at = rt.path, .size = sizeof(rt.path) };
	size_t n, tail = 0;
	const char *name = rt_option(&rt.options, "output", &n);

	if (!name || !n) {
		name = rt.rank ? "kin.%r.kin" : "kin.%p.kin";
		n = text_size(name);
	}
	if (name[0] != '/' && rt.cwd[0]) {
		text_add(&t, rt.cwd);
		text_add(&t, "/");
	}
	if (n > 4 && name[n - 4] == '.' && name[n - 3] == 'k' && name[n - 2] == 'i' &&
	    name[n - 1] == 'n')
		tail = 4;
	put_name(&t, name, n - tail);
	if (needs_rank(name, n - tail)) {
		text_add(&t, ".");
		text_number(&t, rt.rank - 1);
	}
	if (attempt && !has(name, n, 'p')) {
		text_add(&t, ".");
		text_number(&t, rt.pid);
	}
	if (attempt > 1 || (attempt && has(name, n, 'p'))) {
		text_add(&t, ".");
		text_number(&t, rt_now_ns(CLOCK_REALTIME) / 1000);
	}
	text_bytes(&t, ".kin", tail);
}
