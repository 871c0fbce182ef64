/* kin/samples.h: a program that goes through a profile's samples. */
#include "tap.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/formats.h"
#include "kin/samples.h"

/* As perf script prints it: a return address, a leaf in a library, two events, a process. */
static const char script[] = "prog 10/11 [001] 1.500000: 1000 cycles:\n"
			     "\t1234 leaf+0x4 (/lib/none.so)\n"
			     "\t1100 main+0x10 (/bin/none)\n"
			     "\n"
			     "prog 10/11 [001] 2.500000: 7 faults:\n"
			     "\t1100 main+0x10 (/bin/none)\n"
			     "\n";
static const char folded[] = "main;b_[i];[cut] 2\n";

static char path[] = "/tmp/kin-samples.XXXXXX";

static struct kin_samples *samples_of(const char *text, bool no_inlines)
{
	struct kin_open_opts opts = { .size = sizeof(opts), .no_inlines = no_inlines };
	const char *const paths[] = { path };
	struct kin_profile *p = NULL;
	struct kin_samples *s = NULL;
	FILE *f = fopen(path, "w");
	OK(f && fputs(text, f) >= 0 && fclose(f) == 0);
	OK(kin_profile_open(paths, 1, &opts, &p) == NULL);
	OK(kin_samples_new(p, &s) == NULL);
	kin_profile_free(p);
	return s;
}

/* "leaf<main": the first name of each location, from the innermost outwards. */
static const char *stack_of(struct kin_samples *s, uint32_t at)
{
	static char text[200];
	size_t n, length = 0;
	text[0] = '\0';
	for (; at; at = kin_samples_stack(s, at)->caller) {
		const struct kin_line *lines =
			kin_samples_lines(s, kin_samples_stack(s, at)->location, &n);
		length += (size_t)snprintf(
			text + length, sizeof(text) - length, "%s%s", length ? "<" : "",
			n ? kin_samples_function(s, lines[0].function)->name : "?");
	}
	return text;
}

static void each_sample_says_what_it_is(void)
{
	struct kin_samples *s = samples_of(script, false);
	OK(kin_samples_n(s) == 2);
	const struct kin_sample *x = kin_samples_next(s);
	OK(x && x->weight == 1000 && x->count == 1 && x->cpu == 1 && x->time_ns == 1500000000);
	OK(!x->is_cut && !x->is_guessed);
	OK_STR(kin_samples_event(s, x->event)->name, "cycles");
	OK_STR(kin_samples_event(s, x->event)->unit, "");
	OK(kin_samples_event(s, x->event)->kind == KIN_EVENT_ON_CPU);
	OK(kin_samples_event(s, x->event)->counts_time);
	const struct kin_thread *t = kin_samples_thread(s, x->thread);
	OK_STR(t->name, "prog");
	OK(t->pid == 10 && t->tid == 11);
	OK_STR(stack_of(s, x->stack), "leaf<main");
	x = kin_samples_next(s);
	OK(x && x->weight == 7);
	OK_STR(kin_samples_event(s, x->event)->name, "faults");
	OK(!kin_samples_event(s, x->event)->counts_time);
	OK_STR(stack_of(s, x->stack), "main");
	OK(!kin_samples_next(s));
	kin_samples_rewind(s);
	x = kin_samples_next(s);
	OK(x && x->weight == 1000);
	OK(kin_samples_error(s) == NULL);
	kin_samples_free(s);
}

static void a_location_is_in_an_object(void)
{
	struct kin_samples *s = samples_of(script, false);
	const struct kin_sample *x = kin_samples_next(s);
	uint32_t leaf = kin_samples_stack(s, x->stack)->location;
	struct kin_location at = *kin_samples_location(s, leaf);
	const struct kin_object *o = kin_samples_object(s, at.object);
	OK(kin_samples_n_functions(s) == 0); /* nothing was looked up */
	OK(at.address == 0);                 /* named by the data */
	OK_STR(o->path, "/lib/none.so");
	OK(o->kind == KIN_OBJECT_FILE && !o->low && !o->high);
	size_t n;
	const struct kin_line *lines = kin_samples_lines(s, leaf, &n);
	OK(n == 1 && kin_samples_n_functions(s) == 1);
	OK(lines == kin_samples_lines(s, leaf, &n)); /* once */
	const struct kin_function *f = kin_samples_function(s, lines[0].function);
	OK_STR(f->name, "leaf");
	OK_STR(f->file, "");
	OK(f->object == at.object && !f->is_unnamed);
	kin_samples_free(s);
}

static void what_does_not_exist_is_nothing(void)
{
	struct kin_samples *s = samples_of(script, false);
	size_t n = 1;
	OK(!kin_samples_lines(s, 0, &n) && n == 0);
	OK(!kin_samples_lines(s, 1000000, &n) && n == 0);
	OK_STR(kin_samples_event(s, 1000000)->name, "");
	OK_STR(kin_samples_thread(s, 1000000)->name, "");
	OK_STR(kin_samples_function(s, 1000000)->name, "");
	OK(kin_samples_object(s, 1000000)->path != NULL);
	OK(kin_samples_stack(s, 1000000)->caller == 0);
	OK(kin_samples_location(s, 1000000)->address == 0);
	kin_samples_free(s);
	kin_samples_free(NULL);
}

static void marks_are_no_locations(void)
{
	struct kin_samples *s = samples_of(folded, false);
	const struct kin_sample *x = kin_samples_next(s);
	OK(x != NULL && x->count == 2);
	size_t n;
	const struct kin_line *lines =
		kin_samples_lines(s, kin_samples_stack(s, x->stack)->location, &n);
	OK(n == 1 && lines != NULL);
	kin_samples_free(s);
}

static void inlined_functions_are_folded_on_request(void)
{
	struct kin_samples *s = samples_of("main;b_[i] 2\n", true);
	OK_STR(stack_of(s, kin_samples_next(s)->stack), "main");
	kin_samples_free(s);
	s = samples_of("main;b_[i] 2\n", false);
	const struct kin_sample *x = kin_samples_next(s);
	OK_STR(stack_of(s, x->stack), "b<main");
	size_t n;
	OK(kin_samples_lines(s, kin_samples_stack(s, x->stack)->location, &n)->is_inlined);
	kin_samples_free(s);
}

/* In little memory: an error, and not the end of the program. */
static void no_memory_is_an_error(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	enum { LINES = 200000, LITTLE = 24 << 20 };
	const char *const paths[] = { path };
	struct rlimit before, little;
	struct kin_profile *p = NULL;
	FILE *f = fopen(path, "w");
	for (int i = 0; f && i < LINES; i++)
		fprintf(f, "main;a%d;b%d;c%d 1\n", i, i / 2, i / 3);
	OK(f && fclose(f) == 0);
	OK(getrlimit(RLIMIT_DATA, &before) == 0);
	little = (struct rlimit){ LITTLE, before.rlim_max };
	OK(setrlimit(RLIMIT_DATA, &little) == 0);
	struct kin_error *err = kin_profile_open(paths, 1, NULL, &p);
	OK(setrlimit(RLIMIT_DATA, &before) == 0);
	OK(err && kin_error_kind(err) == KIN_ERROR_OS && kin_error_errno(err) == ENOMEM);
	OK_STR(err ? kin_error_message(err) : "", "out of memory");
	kin_error_free(err);
	OK(!p);
	OK(kin_profile_open(paths, 1, NULL, &p) == NULL && p != NULL);
	kin_profile_free(p);
#endif
}

static void the_table_of_formats_says_what_they_can(void)
{
	const struct kin_format *f;
	size_t n = 0;
	for (; (f = kin_format_at(n)); n++) {
		const struct format *of = all_formats[n];
		/* a store has a name and is fetched, by kin-fleet alone */
		OK(f->is_read == (of->read && of->recognise));
		OK(f->is_written == (of->write != NULL));
		OK(*f->name && *f->what && format_find(f->name) == of);
	}
	OK(n > 10 && !kin_format_at(n + 5));
	OK_STR(kin_format_of("PERFILE2", 8)->name, "perf.data");
	OK(!kin_format_of("a;b 1\n", 6) && !kin_format_of("", 0));
	OK_STR(kin_format_guess("PERFILE2", 8)->name, "perf.data");
	OK_STR(kin_format_guess("a;b 1\n", 6)->name, "folded");
	OK(!kin_format_guess("int main;\n", 10) && !kin_format_guess("\377\1\2\3\4", 5));
}

int main(void)
{
	int fd = mkstemp(path);
	OK(fd >= 0);
	close(fd);
	each_sample_says_what_it_is();
	a_location_is_in_an_object();
	what_does_not_exist_is_nothing();
	marks_are_no_locations();
	inlined_functions_are_folded_on_request();
	the_table_of_formats_says_what_they_can();
	no_memory_is_an_error();
	unlink(path);
	return DONE();
}
