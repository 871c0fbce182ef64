/* library_inside.c - in place of base/library.c in kin-portable, which is linked statically: a C
 * library inside cannot load another one's libraries. */
#include <capstone/capstone.h>
#include <event-parse.h>
#include <lzma.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <trace-seq.h>

#include "base/library.h"

#define INSIDE(name)                                                                               \
	{                                                                                          \
#name, (void (*)(void))name                                                        \
	}

struct inside_function {
	const char *name;
	void (*function)(void);
};

static const struct inside_function lzma[] = {
	INSIDE(lzma_stream_decoder), INSIDE(lzma_code), INSIDE(lzma_end), { NULL, NULL }
};
static const struct inside_function capstone[] = { INSIDE(cs_option), INSIDE(cs_open),
						   INSIDE(cs_malloc), INSIDE(cs_disasm_iter),
						   INSIDE(cs_free),   INSIDE(cs_close),
						   { NULL, NULL } };
static const struct inside_function traceevent[] = {
	INSIDE(tep_parse_event),
	INSIDE(tep_find_event),
	INSIDE(tep_print_event),
	INSIDE(tep_register_print_string),
	INSIDE(tep_free),
	INSIDE(tep_alloc),
	INSIDE(tep_set_loglevel),
	INSIDE(tep_set_long_size),
	INSIDE(tep_set_file_bigendian),
	INSIDE(tep_set_function_resolver),
	INSIDE(trace_seq_init),
	INSIDE(trace_seq_reset),
	INSIDE(trace_seq_destroy),
	{ NULL, NULL },
};

static const struct {
	const char *name; /* up to the version */
	const struct inside_function *functions;
} libraries[] = {
	{ "liblzma.so.", lzma },
	{ "libcapstone.so.", capstone },
	{ "libtraceevent.so.", traceevent },
};

void *library_open(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
		if (!strncmp(name, libraries[i].name, strlen(libraries[i].name)))
			return UNCONST(void *, libraries[i].functions);
	return NULL;
}

void library_close(void *library) { (void)library; }

void *library_function(void *library, const char *name)
{
	const struct inside_function *f = library;
	while (f->name && strcmp(f->name, name) != 0)
		f++;
	return (void *)(uintptr_t)f->function;
}

const char *library_remedy(const char *install)
{
	(void)install;
	return "this kin is one file and loads none: take one that is installed";
}

/* The C library's own loads what /etc/nsswitch.conf names. */
struct passwd *getpwnam(const char *name)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd *user = NULL;
	while (f && (user = fgetpwent(f)) && strcmp(user->pw_name, name) != 0)
		;
	if (f)
		fclose(f);
	return user;
}
