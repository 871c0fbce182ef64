/* counter_files.c - names of the files to which programs compiled with --coverage add their
 * counters. gcc and clang put them among the constant strings. */
#include <limits.h>
#include <string.h>

#include "object/object_private.h"

static const char ending[] = ".gcda";

/* The string that ends with the zero at text[end]; NULL: it is no absolute path. */
static const char *path_before(const char *text, size_t end)
{
	size_t start = end;

	while (start && text[start - 1] && end - start < PATH_MAX)
		start--;
	return text[start] == '/' ? text + start : NULL;
}

static void look_through(const char *text, size_t size, void (*see)(void *arg, const char *path),
			 void *arg)
{
	for (size_t at = 0; size - at >= sizeof(ending);) {
		const char *found = memmem(text + at, size - at, ending, sizeof(ending));
		if (!found)
			return;
		at = (size_t)(found - text) + sizeof(ending) - 1;
		const char *path = path_before(text, at);
		if (path)
			see(arg, path);
	}
}

void object_for_each_counter_file(struct object_file *o, void (*see)(void *arg, const char *path),
				  void *arg)
{
	const struct elf_file *f = o->main;
	/* Nobody asks for lines that are not known. Libraries of the system are not searched. */
	if (!f || !elf_file_section(f, ".debug_line"))
		return;
	for (size_t i = 1; i < f->n_sections; i++) {
		const struct elf_section *s = &f->sections[i];
		size_t size;
		if (s->type != SHT_PROGBITS || strncmp(s->name, ".rodata", 7) != 0)
			continue;
		const char *text = (const char *)elf_file_contents(f, s, &size);
		if (text)
			look_through(text, size, see, arg);
	}
}
