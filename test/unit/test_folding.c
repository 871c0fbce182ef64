/* A report says the same whether the samples of a recording were added up while it was read, by
 * function and without times, or all kept: recordings made up of this very program's code. */
#include "tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <kin/kin.h>

#include "lib/perf_data.h"

enum { DEPTH = 12, SAMPLES = 4000 };
static const uint64_t base = 0x400000;

static struct perf_made made;

static uint32_t pick(uint32_t n) { return perf_pick(&made, n); }

/* ---- a recording ---- */

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

/* Some frames of the previous sample, then others: in functions that come again and again, at
 * addresses many of which come once; some are in no function. */
static void put_sample(uint64_t *stack, size_t *depth, uint64_t size)
{
	uint64_t w[DEPTH + 16];
	size_t n = 0, keep = pick((uint32_t)*depth);
	uint32_t tid = MADE_PID + pick(3);

	*depth = keep + 1 + pick(DEPTH - (uint32_t)keep);
	for (size_t i = keep; i < *depth; i++) {
		uint64_t function = pick(20) * (size / 20);
		stack[i] = base + function + pick(pick(3) ? 64 : 4096);
		if (!pick(40))
			stack[i] = pick(4) ? base + 2 * size : (uint64_t)-4096 - pick(64);
	}
	made.now += pick(3) * 1000;
	w[n++] = stack[*depth - 1];
	w[n++] = perf_pair(MADE_PID, tid);
	w[n++] = made.now;
	w[n++] = tid & 1;
	w[n++] = 1000000 + pick(3);
	w[n++] = *depth + 1;
	w[n++] = (uint64_t)-512;
	for (size_t i = *depth; i--;)
		w[n++] = stack[i];
	perf_record(&made, PERF_SAMPLE, IN_USER, w, n);
}

static bool write_recording(const char *path, uint64_t seed)
{
	uint64_t offset, size, stack[DEPTH];
	char program[4096];
	size_t depth = 0;

	made = (struct perf_made){ .out = fopen(path, "wb"), .now = 1000000000, .random = seed };
	if (!made.out || !find_code(&offset, &size, program, sizeof(program)))
		return false;
	perf_header(&made);
	perf_comm(&made, MADE_PID, "program", 0);
	perf_mapping(&made, program, base, size, offset);
	perf_comm(&made, MADE_PID + 1, "worker", 0);
	perf_comm(&made, MADE_PID + 2, "worker", 0);
	for (size_t i = 0; i < SAMPLES; i++) {
		put_sample(stack, &depth, size);
		if (i % 500 == 499)
			perf_record(&made, PERF_ROUND, 0, NULL, 0);
		if (i == SAMPLES / 2)
			perf_comm(&made, MADE_PID + 2, "late", 0);
	}
	perf_record(&made, PERF_ROUND, 0, NULL, 0);
	rewind(made.out);
	perf_header(&made);
	return fclose(made.out) == 0;
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

/* Without callers nothing is said of tail calls that are missing on stacks. */
static void drop_tail_calls(char *text)
{
	char *at = strstr(text, "(tail calls)"), *end = at ? strchr(at, '\n') : NULL;
	while (at && at > text && at[-1] != '\n')
		at--;
	if (end)
		memmove(at, end + 1, strlen(end));
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
	drop_tail_calls(kept);
	drop_tail_calls(summed);
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
