/* A report says the same whether the samples of a recording were added up while it was read, by
 * function and without times, or all kept: recordings made up of this very program's code. */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <kin/kin.h>

enum {
	PID = 500,
	DEPTH = 12,
	SAMPLES = 4000,
	TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8
};
enum { RECORD_SAMPLE = 9, RECORD_MMAP2 = 10, RECORD_COMM = 3, RECORD_ROUND = 68, USER = 2 };
static const uint64_t base = 0x400000;

static uint64_t state, now, written;
static FILE *out;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) * n >> 31);
}

/* ---- a recording ---- */

static void put(uint32_t type, uint16_t misc, const uint64_t *words, size_t n)
{
	uint64_t head = type | (uint64_t)misc << 32 | (uint64_t)(8 + n * 8) << 48;

	fwrite(&head, 8, 1, out);
	if (n)
		fwrite(words, 8, n, out);
	written += 8 + n * 8;
}

static uint64_t pair(uint32_t low, uint32_t high) { return low | (uint64_t)high << 32; }

static size_t put_text(uint64_t *w, const char *s)
{
	size_t n = strlen(s) / 8 + 1;

	memset(w, 0, n * 8);
	memcpy(w, s, strlen(s));
	return n;
}

/* What follows records that are no samples: task, time, processor. */
static size_t trailer(uint64_t *w, uint32_t tid)
{
	w[0] = pair(PID, tid);
	w[1] = now;
	w[2] = 0;
	return 3;
}

static void put_comm(uint32_t tid, const char *comm)
{
	uint64_t w[16] = { pair(PID, tid) };
	size_t n = 1 + put_text(w + 1, comm);

	put(RECORD_COMM, 0, w, n + trailer(w + n, tid));
}

/* The code of this program: where it is in the file. */
static bool find_code(uint64_t *offset, uint64_t *size, char *path, size_t room)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long low, high, at;
	char line[4096], rights[8];
	ssize_t n = readlink("/proc/self/exe", path, room - 1);
	bool found = false;

	if (!maps || n < 0)
		return false;
	path[n] = '\0';
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%llx-%llx %7s %llx", &low, &high, rights, &at) == 4 &&
			rights[2] == 'x' && strstr(line, path);
	fclose(maps);
	*offset = at;
	*size = high - low;
	return found;
}

static void put_mapping(const char *path, uint64_t offset, uint64_t size)
{
	uint64_t w[600] = { pair(PID, PID), base, size, offset, pair(8, 1), 1, 0, pair(5, 2) };
	size_t n = 8 + put_text(w + 8, path);

	put(RECORD_MMAP2, USER, w, n + trailer(w + n, PID));
}

static void put_header(void)
{
	struct {
		char magic[8];
		uint64_t size, attr_size, attrs_at, attrs_size, data_at, data_size, types[2];
		uint64_t features[4];
		uint32_t type, this_size;
		uint64_t config, frequency, sample_type, read_format, flags;
		uint8_t rest[128 - 48], ids[16];
	} h = { .size = 104,
		.attr_size = 144,
		.attrs_at = 104,
		.attrs_size = 144,
		.data_at = sizeof(h),
		.data_size = written,
		.type = 1,
		.this_size = 128,
		.frequency = 1000,
		.sample_type = TYPE,
		.flags = 1 << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 18 | 1 << 20 | 1 << 23 |
			 1 << 24 };

	memcpy(h.magic, "PERFILE2", 8);
	fwrite(&h, sizeof(h), 1, out);
}

/* Some of the frames of the one before, then other ones: within functions that are there again and
 * again, at addresses of which many are met once; some are of nothing. */
static void put_sample(uint64_t *stack, size_t *depth, uint64_t size)
{
	uint64_t w[DEPTH + 16];
	size_t n = 0, keep = pick((uint32_t)*depth);
	uint32_t tid = PID + pick(3);

	*depth = keep + 1 + pick(DEPTH - (uint32_t)keep);
	for (size_t i = keep; i < *depth; i++) {
		uint64_t function = pick(20) * (size / 20);
		stack[i] = base + function + pick(pick(3) ? 64 : 4096);
		if (!pick(40))
			stack[i] = pick(4) ? base + 2 * size : (uint64_t)-4096 - pick(64);
	}
	now += pick(3) * 1000;
	w[n++] = stack[*depth - 1];
	w[n++] = pair(PID, tid);
	w[n++] = now;
	w[n++] = tid & 1;
	w[n++] = 1000000 + pick(3);
	w[n++] = *depth + 1;
	w[n++] = (uint64_t)-512;
	for (size_t i = *depth; i--;)
		w[n++] = stack[i];
	put(RECORD_SAMPLE, USER, w, n);
}

static bool write_recording(const char *path, uint64_t seed)
{
	uint64_t offset, size, stack[DEPTH];
	char program[4096];
	size_t depth = 0;

	state = seed;
	now = 1000000000;
	written = 0;
	out = fopen(path, "wb");
	if (!out || !find_code(&offset, &size, program, sizeof(program)))
		return false;
	put_header();
	put_comm(PID, "program");
	put_mapping(program, offset, size);
	put_comm(PID + 1, "worker");
	put_comm(PID + 2, "worker");
	for (size_t i = 0; i < SAMPLES; i++) {
		put_sample(stack, &depth, size);
		if (i % 500 == 499)
			put(RECORD_ROUND, 0, NULL, 0);
		if (i == SAMPLES / 2)
			put_comm(PID + 2, "late");
	}
	put(RECORD_ROUND, 0, NULL, 0);
	rewind(out);
	put_header();
	return fclose(out) == 0;
}

/* ---- reports of it ---- */

static char *text_of(const char *path, const struct kin_open_opts *o,
		     const struct kin_hists_opts *hists)
{
	struct kin_profile *p = NULL;
	struct kin_table *t = NULL;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct kin_script_opts script = { .size = sizeof(script), .inlines = !o->no_inlines };
	struct kin_error *err = kin_profile_open(&path, 1, o, &p);

	if (!err && !hists)
		err = kin_script(p, "folded", &script, to);
	if (!err && hists)
		err = kin_report(p, "hists",
				 &(struct kin_report_opts){ .size = sizeof(struct kin_report_opts),
							    .hists = hists },
				 &t);
	if (!err && t)
		err = kin_render(t, "text", NULL, to);
	if (err)
		fprintf(to, "error: %s\n", kin_error_message(err));
	kin_error_free(err);
	kin_table_free(t);
	kin_profile_free(p);
	fclose(to);
	return text;
}

static void compare(const char *path, struct kin_hists_opts hists, const char *rules, bool inlines)
{
	struct kin_open_opts all = { .size = sizeof(all), .no_inlines = !inlines }, some = all;

	hists.size = sizeof(hists);
	hists.rules = rules;
	hists.inlines = inlines;
	some.no_callers = !kin_hists_need_callers(&hists);
	some.no_times = !kin_hists_need_times(&hists);
	some.by_function = !kin_hists_need_addresses(&hists);
	char *kept = text_of(path, &all, &hists), *summed = text_of(path, &some, &hists);
	printf("# %s, %s: %zu bytes\n", hists.sort ? hists.sort : "usual keys",
	       hists.call_graph ? hists.call_graph : "usual chains", strlen(kept));
	OK(strlen(kept) > 200 && strncmp(kept, "error", 5) != 0);
	OK(!strcmp(kept, summed));
	free(kept);
	free(summed);
}

static void compare_folded(const char *path, bool inlines)
{
	struct kin_open_opts all = { .size = sizeof(all), .no_inlines = !inlines }, some = all;

	some.no_times = some.by_function = true;
	char *kept = text_of(path, &all, NULL), *summed = text_of(path, &some, NULL);
	OK(strlen(kept) > 200 && !strcmp(kept, summed));
	free(kept);
	free(summed);
}

int main(void)
{
	static const struct kin_hists_opts asked[] = {
		{ .call_graph = "none", .no_children = true },
		{ .call_graph = "none" },
		{ .call_graph = "graph,0.2" },
		{ .call_graph = "callee", .no_children = true },
		{ .sort = "sym", .call_graph = "flat" },
		{ .sort = "dso", .call_graph = "caller" },
		{ .sort = "tid,sym", .call_graph = "none" },
		{ .sort = "sym", .call_graph = "address" },
		{ .sort = "symoff,sym", .call_graph = "none" },
		{ .call_graph = "none", .max_stack = 3 },
		{ .call_graph = "fractal", .hierarchy = true },
	};
	const char *folder = getenv("TMPDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/folding-XXXXXX", folder ? folder : "/tmp");
	int fd = mkstemp(path);
	OK(fd >= 0);
	for (uint64_t seed = 1; fd >= 0 && seed <= 2; seed++) {
		OK(write_recording(path, seed));
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
			compare(path, asked[i], i % 2 ? "perf" : NULL, seed == 1);
		compare_folded(path, seed == 1);
	}
	unlink(path);
	close(fd);
	return DONE();
}
