/* gprof's command line, which may come from a file: @FILE, the options, and the matches of its
 * SYMSPECs in a small program. The first byte says whether to match as GNU gprof does. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "gnu/argfile.h"
#include "gnu/gnu_options.h"
#include "gnu/rules.h"
#include "lib/elf_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
	if (!good)
		abort();
}

static int file_of(const void *data, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	expect(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* ---- a program without line information ---- */

static const char *const names[] = { "_start",      "main",      "helper", "work",
				     "work.part.0", "_ZN1a1bEi", "last" };

static struct object_file *make_object(void)
{
	static const uint8_t code[16 * ARRAY_LEN(names)];
	struct elf_build b = elf_new(64, false, EM_X86_64);
	struct object_file *o;
	char path[64];
	size_t n;

	elf_section(&b, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, code,
		    sizeof(code));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		elf_symbol(&b, names[i], 0x1000 + 16 * i, 16, i % 2 ? STB_GLOBAL : STB_LOCAL,
			   STT_FUNC, 1);
	uint8_t *file = elf_finish(&b, &n);
	int fd = file_of(file, n, path);
	expect(!object_open(path, &(struct object_opts){ .debug_dir = "/nonexistent" }, &o));
	close(fd);
	free(file);
	return o;
}

/* ---- */

static void ignore(const char *text, void *arg) { *(size_t *)arg += strlen(text); }

static void try_specs(const struct gprof_options *o, bool gnu)
{
	struct object_file *object = make_object();
	struct symbols_opts how = { .table = { .rules = gnu ? &gnu_symbol_rules : NULL },
				    .rules = gnu ? &gnu_place_rules : NULL,
				    .style = DEMANGLE_AUTO };
	struct symbols *s;
	struct symspec_calls calls = { 0 };
	struct selection sel;
	size_t said = 0;
	struct symspec_opts opts = { .gnu = gnu, .calls = &calls, .warn = ignore, .arg = &said };

	expect(!symbols_new(object, &how, &s));
	selection_init(&sel, s->n);
	symspec_select(s, o->specs.at, o->specs.n, &opts, &sel);
	for (size_t i = 0; i < calls.v.n; i++)
		expect(calls.v.at[i].from < s->n && calls.v.at[i].to < s->n);
	selection_done(&sel);
	vec_free(&calls.v);
	symbols_free(s);
	object_free(object);
}

static void try_words(int argc, char **argv, bool gnu)
{
	enum gprof_dialect dialect;
	struct gprof_options o;
	struct kin_error *err = gprof_dialect_of(argc, argv, &dialect);

	kin_error_free(err);
	err = gprof_options_parse(argc, argv, COMPAT_OUTPUT, "/a::/b", &o);
	if (!err && o.action == GPROF_RUN) {
		expect(o.executable && o.data.n > 0);
		try_specs(&o, gnu);
	}
	kin_error_free(err);
	gprof_options_done(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	char path[64], word[80], name[] = "gprof";
	char *list[] = { name, word, NULL }, **argv = list;
	int argc = 2;

	if (!size || memmem(data, size, "@/", 2)) /* files of this machine are no input */
		return 0;
	int fd = file_of(data + 1, size - 1, path);
	snprintf(word, sizeof(word), "@%s", path);
	struct kin_error *err = argfile_expand(&arena, &argc, &argv);
	if (!err) {
		expect(argc >= 1 && !argv[argc]);
		try_words(argc, argv, data[0] & 1);
	}
	kin_error_free(err);
	arena_release(&arena);
	close(fd);
	return 0;
}
