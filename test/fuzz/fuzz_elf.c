/* Any bytes as an object file: opened, and queried for everything that a profile may query. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gnu/rules.h"
#include "kin/kin.h"
#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
	if (!good)
		abort();
}

static void count_call(uint64_t site, uint64_t target, void *arg)
{
	uint64_t *last = arg;
	(void)target;
	expect(site >= *last);
	*last = site;
}

static void look_around(struct object_file *o, uint64_t addr, bool gnu)
{
	struct srcloc at;
	size_t n;
	const uint8_t *code = object_code(o, addr, &n);
	for (size_t i = 0; code && i < n && i < 64; i++)
		*(volatile uint8_t *)&(uint8_t){ code[i] };
	if (object_place(o, addr, gnu ? &gnu_line_rules : NULL, &at) && at.file)
		expect(strlen(at.file) < SIZE_MAX);
}

static void try_symbols(struct object_file *o, const struct symtab_opts *opts)
{
	struct symbol_table t = { 0 };
	struct kin_error *err = object_symbols(o, opts, &t);
	if (err) {
		kin_error_free(err);
		return;
	}
	for (size_t i = 0; i < t.n; i++) {
		const struct object_symbol *s = &t.at[i];
		expect(!i || t.at[i - 1].addr < s->addr);
		expect(s->end >= s->addr && (i + 1 == t.n || s->end <= t.at[i + 1].addr));
		expect(s->owner < t.n && t.at[s->owner].owner == s->owner);
		expect(strlen(s->name) < SIZE_MAX);
		if (i >= 64)
			continue;
		look_around(o, s->addr, opts->rules != NULL);
		free(demangle(s->name, (enum demangle_style)(i % (DEMANGLE_RUST + 1))));
	}
	free(t.at);
}

static void try_object(struct object_file *o)
{
	uint64_t last = 0;
	for (unsigned i = 0; i < 8; i++)
		try_symbols(o, &(struct symtab_opts){ .rules = i & 1 ? &gnu_symbol_rules : NULL,
						      .no_static = i & 2,
						      .functions_only = i & 4 });
	struct address_range text = object_text(o), all = object_profiled(o);
	expect(text.low <= text.high && all.low <= all.high);
	object_calls(o, 0, UINT64_MAX, NULL, count_call, &last);
	last = 0;
	object_calls(o, 0, UINT64_MAX, &gnu_call_rules, count_call, &last);
	if (text.high - text.low > 1 << 16)
		text.high = text.low + (1 << 16);
	for (int gnu = 0; gnu < 2; gnu++) {
		size_t n = 0;
		struct line_run *runs = object_line_runs(o, text, gnu ? &gnu_line_rules : NULL, &n);
		for (size_t i = 0; i < n; i++)
			expect(runs[i].addr < runs[i].end &&
			       (!i || runs[i - 1].end <= runs[i].addr));
		for (size_t i = 0; i < n && i < 256; i++)
			look_around(o, runs[i].addr, gnu);
		free(runs);
	}
	object_has_lines(o);
	kin_error_free(object_trouble(o));
	expect(object_machine(o) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	struct object_file *o;
	const struct object_opts opts = { .debug_dir = "/nonexistent" };
	int fd = memfd_create("elf", MFD_CLOEXEC);
	expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);

	struct kin_error *err = object_open(path, &opts, &o);
	if (!err) {
		try_object(o);
		object_free(o);
	}
	kin_error_free(err);
	close(fd);
	return 0;
}
