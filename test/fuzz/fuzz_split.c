/* A program whose debug information is split: units have their other half in a second file. Both
 * files may be any bytes. The first byte selects the second file: 'w': x.dwo, which the program
 * names; 'p': a package. The next four are the size of the program. The program follows, then the
 * second file. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kin/kin.h"
#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool good)
{
	if (!good)
		abort();
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "wb");
	expect(f && fwrite(data, 1, size, f) == size && !fclose(f));
}

static void ask(struct object_file *o)
{
	size_t n, count;
	struct line_run *runs = object_line_runs(o, object_text(o), NULL, &n);
	uint64_t *addrs = calloc(n + 1, sizeof(*addrs));
	for (size_t i = 0; i < n; i++) {
		expect(runs[i].addr < runs[i].end && (!i || runs[i - 1].end <= runs[i].addr));
		expect(!runs[i].at.function || strlen(runs[i].at.function) < SIZE_MAX);
		addrs[i] = runs[i].addr;
	}
	struct object_inline *list = object_inlines(o, addrs, n, &count);
	for (size_t i = 0; i < count; i++)
		expect(list[i].address < n && strlen(list[i].name) < SIZE_MAX);
	free(list);
	free(addrs);
	free(runs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[32], program[64], dwo[64], package[64];
	uint32_t n;
	if (size < 5)
		return 0;
	memcpy(&n, data + 1, 4);
	if (n > size - 5)
		return 0;
	if (!*folder) {
		snprintf(folder, sizeof(folder), "/tmp/kin-fuzz-XXXXXX");
		expect(mkdtemp(folder));
		snprintf(program, sizeof(program), "%s/prog", folder);
		snprintf(dwo, sizeof(dwo), "%s/x.dwo", folder);
		snprintf(package, sizeof(package), "%s/prog.dwp", folder);
	}
	write_file(program, data + 5, n);
	write_file(data[0] == 'p' ? package : dwo, data + 5 + n, size - 5 - n);

	struct object_file *o;
	const struct object_opts opts = { .debug_dir = "/nonexistent" };
	struct kin_error *err = object_open(program, &opts, &o);
	if (!err) {
		ask(o);
		object_free(o);
	}
	kin_error_free(err);
	unlink(program);
	unlink(dwo);
	unlink(package);
	rmdir(folder);
	*folder = '\0';
	return 0;
}
