/* Names that are cached for a profile's files: for this program, with the functions below. */
#include "symbolize/learn.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "lib/program_bias.h"
#include "object/answered.h"
#include "object/object_private.h"
#include "tap.h"

static char cache[] = "/tmp/kin-learn.XXXXXX", *self;

/* ---- functions that were hit ---- */

static volatile int calls;
__attribute__((noinline)) static void hot(void) { calls += 1; }
__attribute__((noinline)) static void called(void) { calls += 2; }

/* As the file has it. */
static uint64_t address_of(void (*f)(void)) { return (uint64_t)(uintptr_t)f - program_bias(); }

static struct profile *make(void)
{
	struct profile_builder *b = profile_builder_new();
	objid us = profile_add_object(b, self, NULL);
	objid gone = profile_add_object(b, "/nowhere/gone", NULL);
	profile_add_object(b, "/bin/sh", NULL); /* nothing of it was hit */
	profile_add_frame(b, (struct frame){ .addr = 16, .object = gone });
	profile_add_frame(b, (struct frame){ .addr = 16 }); /* in no object */
	profile_add_frame(b, (struct frame){ .addr = address_of(hot), .object = us });
	profile_add_arc(b, (struct arc){ .from = address_of(hot) + 1,
					 .to = address_of(called),
					 .count = 1,
					 .from_object = us,
					 .to_object = us });
	return profile_finish(b);
}

/* ---- cached names ---- */

static size_t count_kept(void)
{
	char *folder = xprintf("%s/kin/names", cache);
	DIR *d = opendir(folder);
	size_t n = 0;
	for (struct dirent *e; d && (e = readdir(d));)
		n += *e->d_name != '.';
	if (d)
		closedir(d);
	free(folder);
	return n;
}

static bool is_known(struct object_file *o, void (*f)(void), const char *name)
{
	const struct answered *a = object_answered(o);
	uint64_t addr = address_of(f);
	struct symbol_table table;
	struct object_inline *inlines;
	struct srcloc line;
	size_t n;
	if (!a || !answered_symbols(a, &addr, 1, &table))
		return false;
	uint32_t at = symbol_covering(&table, addr);
	bool known = at != NONE && !strcmp(table.at[at].name, name);
	free(table.at);
	if (!object_has_dwarf(o)) /* without DWARF the rest is not cached */
		return known;
	known = known && answered_inlines(a, &addr, 1, &inlines, &n);
	if (known)
		free(inlines);
	return known && answered_line(a, addr, &line);
}

static void what_was_hit_is_known(const struct profile *p)
{
	const struct object_opts opts = { .remembers = true };
	struct object_file *o = NULL;
	names_learn(p, &(struct recorded_opts){ 0 });
	OK(count_kept() == 1); /* of this program alone */
	OK(!object_open(self, &opts, &o));
	OK(is_known(o, hot, "hot"));
	OK(is_known(o, called, "called"));
	object_free(o);
}

static void nothing_is_kept_where_nothing_may_be(const struct profile *p)
{
	setenv("KIN_CACHE", "off", 1);
	names_learn(p, &(struct recorded_opts){ 0 });
	OK(count_kept() == 0);
	unsetenv("KIN_CACHE");
}

static void an_empty_profile_teaches_nothing(void)
{
	struct profile *p = profile_finish(profile_builder_new());
	names_learn(p, &(struct recorded_opts){ 0 });
	OK(count_kept() == 0);
	profile_free(p);
}

int main(void)
{
	self = realpath("/proc/self/exe", NULL);
	if (!self || !mkdtemp(cache))
		return 1;
	setenv("XDG_CACHE_HOME", cache, 1);
	unsetenv("KIN_CACHE");
	hot();
	called();
	struct profile *p = make();
	nothing_is_kept_where_nothing_may_be(p);
	an_empty_profile_teaches_nothing();
	what_was_hit_is_known(p);
	profile_free(p);
	free(self);
	char *remove = xprintf("rm -rf '%s'", cache);
	OK(!system(remove));
	free(remove);
	return DONE();
}
