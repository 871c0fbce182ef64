/* A block of names after a recording, without compression and checksum, with which hardly any input
 * would be read; and all queries to the objects that it describes. */
#include "fuzz.h"
#include "kin/format.h"
#include "names/kept.h"
#include "object/object.h"

static uint64_t seen;

static void see_name(void *arg, const char *name, uint64_t addr)
{
	(void)arg;
	seen += strlen(name) + addr;
}

static void see_step(const struct object_step *step, void *arg)
{
	(void)arg;
	seen += step->target;
}

static void ask_at(struct object_file *o, uint64_t addr)
{
	struct srcloc at;
	size_t n;
	seen += object_place(o, addr, false, &at) && at.file ? strlen(at.file) : 0;
	seen += object_call_ends_at(o, addr);
	free(object_inlines(o, &addr, 1, &n));
}

static void ask(const struct kept_object *k)
{
	static const struct symtab_opts exact = { .exact = true };
	struct object_file *o = object_of_kept(k);
	struct symbol_table t = { 0 };
	size_t n = 0;

	kin_error_free(object_symbols(o, &exact, &t));
	for (size_t i = 0; i < t.n; i++) {
		if (t.at[i].owner >= t.n || t.at[i].addr >= t.at[i].end ||
		    (i && t.at[i].addr < t.at[i - 1].end))
			abort();
		ask_at(o, t.at[i].addr);
	}
	struct line_run *runs = object_line_runs(o, object_text(o), false, &n);
	for (size_t i = 0; i < n; i++)
		if (runs[i].addr >= runs[i].end || (i && runs[i].addr < runs[i - 1].end))
			abort();
	for (size_t i = 0; i < k->tail_calls.n; i++) {
		const struct kept_tail_call *c = &k->tail_calls.at[i];
		if (kept_n_jumps(c) > KEPT_JUMPS_MAX || (i && c[-1].addr > c->addr) ||
		    kept_tail_call_at(k, c->addr) > i)
			abort();
		seen += kept_function_at(k, c->to);
	}
	object_for_each_name(o, see_name, NULL);
	for (size_t i = 0; i < k->code.n && i < 4; i++)
		object_steps(o, k->code.at[i].addr, k->code.at[i].addr + k->code.at[i].size,
			     see_step, NULL);
	free(runs);
	free(t.at);
	object_free(o);
}

/* A recording of nothing, and the block. To be freed. */
static uint8_t *file_of(const uint8_t *data, size_t size, size_t *ret)
{
	size_t all = KINF_PAGE + sizeof(struct kinf_block) + (size + 7) / 8 * 8;
	struct kinf_header h = { .magic = KINF_MAGIC,
				 .version = 1,
				 .page = KINF_PAGE,
				 .writer = KINF_BY_RUNTIME, /* files of other writers are sealed */
				 .size = KINF_PAGE };
	struct kinf_block b = {
		.magic = KINF_BLOCK_MAGIC, .type = KINF_NAMES, .size = all - KINF_PAGE, .used = size
	};
	uint8_t *file = calloc(1, all);
	memcpy(file, &h, sizeof(h));
	memcpy(file + KINF_PAGE, &b, sizeof(b));
	if (size)
		memcpy(file + KINF_PAGE + sizeof(b), data, size);
	*ret = all;
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile_builder *b = profile_builder_new();
	struct input_opts o = { 0 };
	struct source source = { .kind = "kin" };
	size_t n;
	uint8_t *file = file_of(data, size, &n);

	kin_error_free(kinf_format.read(bytes_of("fuzz", file, n), &o, b, &source));
	free(file);
	profile_add_source(b, "fuzz", source);
	struct profile *p = profile_finish(b);
	for (size_t i = 0; p->kept && i < p->kept->objects.n; i++)
		ask(p->kept->objects.at[i]);
	profile_free(p);
	return 0;
}
