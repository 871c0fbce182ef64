#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "base/err.h"
#include "base/vec.h"
#include "export/folded.h"
#include "export/script.h"

/* ---- names for folded stacks ---- */

struct namer {
	const struct profile *p;
	struct program *g;
	bool full_names;
	VEC(char *) texts; /* of the last frame */
	VEC(struct folded_name) names;
};

/* Where the parameters begin that no flame graph has room for; those of "operator()", of
 * "(anonymous namespace)::" and of Go's "net/http.(*Client).Do" are none. */
static size_t without_parameters(const char *name)
{
	static const char operator[] = "operator()", anonymous[] = "(anonymous namespace)";
	for (const char *p = name; (p = strchr(p, '(')); p++) {
		size_t before = (size_t)(p - name), op = strlen(operator) - 2;
		if (before >= op && !memcmp(p - op, operator, strlen(operator)))
			p++;
		else if (!strncmp(p, anonymous, strlen(anonymous)))
			p += strlen(anonymous) - 1;
		else if (before && p[-1] != '.')
			return before;
	}
	return strlen(name);
}

static void add_name(struct namer *n, const char *name, uint32_t flags)
{
	size_t length = n->full_names ? strlen(name) : without_parameters(name);
	char *text = xprintf("%.*s", (int)length, name);
	vec_push(&n->texts, text);
	vec_push(&n->names, ((struct folded_name){ text, flags }));
}

/* What cannot be named is its object's: "[libfoo.so]". */
static void add_object(struct namer *n, objid object, uint32_t flags)
{
	const char *path = program_object_name(n->g, object), *slash = strrchr(path, '/');
	char *text =
		path[0] == '[' ? xprintf("%s", path) : xprintf("[%s]", slash ? slash + 1 : path);
	vec_push(&n->texts, text);
	vec_push(&n->names, ((struct folded_name){ text, flags }));
}

static void forget(struct namer *n)
{
	for (size_t i = 0; i < n->texts.n; i++)
		free(n->texts.at[i]);
	n->texts.n = n->names.n = 0;
}

static const struct folded_name *names_of(void *arg, frameid id, size_t *ret)
{
	struct namer *n = arg;
	const struct frame *f = &n->p->samples.frames[id];
	symid place = program_place(n->g, id);
	size_t inlined;
	const symid *list = program_inlines(n->g, id, &inlined);

	const char *name = program_name(n->g, place);

	forget(n);
	if (program_kind(n->g, place) == PLACE_UNKNOWN || !strcmp(name, "[unknown]"))
		add_object(n, f->object, f->flags);
	else
		add_name(n, name, f->flags);
	while (inlined)
		add_name(n, program_name(n->g, list[--inlined]), f->flags | FRAME_INLINED);
	*ret = n->names.n;
	return n->names.at;
}

static struct kin_error *write_folded(struct kin_profile *p, struct program *g,
				      const struct kin_script_opts *o,
				      const struct sample_filter *filter, FILE *out)
{
	struct namer n = { .p = p->data, .g = g, .full_names = o->full_names };
	struct kin_error *err = folded_write(out, p->data,
					     &(struct folded_opts){ .names = names_of,
								    .arg = &n,
								    .event = o->event,
								    .filter = filter,
								    .weights = !o->counts,
								    .no_comm = o->no_comm,
								    .pid = o->show_pid,
								    .tid = o->show_tid,
								    .annotate = o->annotate });
	forget(&n);
	vec_free(&n.texts);
	vec_free(&n.names);
	return err;
}

/* ---- all formats ---- */

static struct kin_error *write_samples(struct kin_profile *p, struct program *g,
				       const struct kin_script_opts *o, bool json,
				       const struct sample_filter *filter, FILE *out)
{
	struct script_opts opts = {
		.json = json, .nanoseconds = o->nanoseconds, .event = o->event, .filter = filter
	};
	struct kin_error *err = script_fields(o->fields, &opts.fields);
	return err ? err : script_write(out, p->data, g, &opts);
}

static struct kin_error *check_event(const struct profile *p, const char *event)
{
	for (size_t i = 0; i < p->samples.n_events; i++)
		if (!event || !strcmp(strtab_get(p->strings, p->samples.events[i].name), event))
			return NULL;
	return err_new(KIN_ERROR_USAGE, "there are no samples of an event '%.80s'", event);
}

static struct kin_error *check(const struct profile *p, const char *format,
			       const struct kin_script_opts *o)
{
	if (strcmp(format, "text") != 0 && strcmp(format, "json") != 0 &&
	    strcmp(format, "folded") != 0)
		return err_new(KIN_ERROR_USAGE, "no format '%s': there are text, json, folded",
			       format);
	if (!p->samples.n)
		return err_new(KIN_ERROR_UNSUPPORTED,
			       "there are no samples with stacks in the data, only counts");
	return check_event(p, o->event);
}

struct kin_error *kin_script(struct kin_profile *p, const char *format,
			     const struct kin_script_opts *opts, FILE *out)
{
	struct kin_script_opts o = { 0 };
	if (opts)
		memcpy(&o, opts, opts->size < sizeof(o) ? opts->size : sizeof(o));
	struct sample_filter *filter = NULL;
	struct kin_error *err = check(p->data, format, &o);
	if (!err)
		err = sample_filter_new(p->data,
				 &(struct sample_filter_texts){ .comms = o.comms,
							 .pids = o.pids,
							 .tids = o.tids,
							 .cpus = o.cpus,
							 .times = o.times },
				 &filter);
	if (err)
		return err;
	struct program_opts naming = p->naming;
	naming.no_inlines = !o.inlines;
	struct program *g = program_new(p->data, p->object, &naming);
	for (size_t i = 0; i < program_n_troubles(g) && !p->told_objects; i++)
		vec_push(&p->warnings, xprintf("%s", program_trouble_at(g, i)));
	p->told_objects = true;
	err = format[0] == 'f' ? write_folded(p, g, &o, filter, out)
			       : write_samples(p, g, &o, format[0] == 'j', filter, out);
	program_free(g);
	sample_filter_free(filter);
	return err;
}
