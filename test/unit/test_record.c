/* Parts of the recorder that need no kernel's permission. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "object/kernel.h"
#include "record/audit.h"
#include "record/events.h"
#include "record/jit.h"
#include "tap.h"

static struct record_event event(const char *text)
{
	struct record_events list = { 0 };
	struct record_event e = { 0 };
	struct kin_error *err = record_events_parse(text, &list);
	if (!err && list.at.n == 1)
		e = list.at.at[0];
	kin_error_free(err);
	vec_free(&list.at);
	return e;
}

static size_t count(const char *text)
{
	struct record_events list = { 0 };
	struct kin_error *err = record_events_parse(text, &list);
	size_t n = err ? 0 : list.at.n;
	kin_error_free(err);
	vec_free(&list.at);
	return n;
}

static void test_events(void)
{
	struct record_event e = event("cycles:u");
	OK(e.type == PERF_TYPE_HARDWARE && e.config == PERF_COUNT_HW_CPU_CYCLES);
	OK(e.exclude_kernel && !e.exclude_user && !e.is_clock);
	OK_STR(e.name, "cycles:u");
	e = event("task-clock:k");
	OK(e.type == PERF_TYPE_SOFTWARE && e.is_clock && e.exclude_user && !e.exclude_kernel);
	e = event("instructions:uk");
	OK(!e.exclude_user && !e.exclude_kernel);
	OK(event("cycles:ppu").precise == 2);
	e = event("r01c4:u");
	OK(e.type == PERF_TYPE_RAW && e.config == 0x1c4 && e.exclude_kernel);
	e = event("L1-dcache-load-misses");
	OK(e.type == PERF_TYPE_HW_CACHE &&
	   e.config == (PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_RESULT_MISS << 16));
	OK(count("cycles,page-faults,cs") == 3);
	OK(!count("") && !count("cycles,") && !count("cycels") && !count("r"));
	OK(!count("../x:y") && !count("cycles:z"));
}

static void test_attributes(void)
{
	struct perf_event_attr a;
	struct record_event e = event("cpu-clock:u");
	e.frequency = 99;
	record_event_attr(&e, &a);
	OK(a.freq && a.sample_freq == 99 && a.exclude_kernel && a.exclude_hv);
	e.period = 1000;
	record_event_attr(&e, &a);
	OK(!a.freq && a.sample_period == 1000);
}

static void test_audit(void)
{
	struct record_audit a = { .samples = 10,
				  .duration_ns = 1000000000,
				  .cpu_ns = 20000000,
				  .sampled_ns = 10000000,
				  .is_clock = true,
				  .lost = 3,
				  .stacks = 10,
				  .complete = 9,
				  .cut = 1,
				  .frames = 40,
				  .processes = 1,
				  .threads = 2,
				  .file_size = 5000,
				  .own_cpu_ns = 1000000 };
	a.object[0].name = xprintf("lib\033x.so");
	a.object[0].failures = 1;
	char *text = record_audit_text(&a, "p.kin");
	OK_STR(text,
	       "10 samples in 1.0 s -> p.kin, 5.0 KB (500 B/sample)\n"
	       "  CPU time 0.020 s, sampled 0.010 s (50.0 %); 500 samples/s of it; 1 process, 2 "
	       "threads\n"
	       "  on a CPU for 2.0 % of the time: --wall shows what it waited for in the rest\n"
	       "  stacks: 90.0 % complete, 4.0 frames each; 1 cut\n"
	       "    1 ended in lib\\x1bx.so\n"
	       "  LOST 3 samples or records: the buffers were full\n"
	       "  the recorder itself: 0.001 s CPU (100.0 us/sample)\n");
	free(text);
	record_audit_done(&a);
}

static void test_jit_map(void)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	FILE *f = fopen(path, "w");
	fputs("1000 100 outer\n1040 10 inner\n2000 10 not en", f);
	fflush(f);
	struct jit *j = jit_new();
	OK_STR(jit_find(j, getpid(), 0x1000, 0), "outer");
	OK_STR(jit_find(j, getpid(), 0x1045, 0), "inner");
	OK_STR(jit_find(j, getpid(), 0x10ff, 0), "outer");
	OK(!jit_find(j, getpid(), 0x1100, 0));
	OK(!jit_find(j, getpid(), 0x2000, 0));
	fputs("ded\n1000 20 moved here\n", f);
	fclose(f);
	jit_update(j);
	OK_STR(jit_find(j, getpid(), 0x2000, 0), "not ended");
	OK_STR(jit_find(j, getpid(), 0x1000, 0), "moved here");
	jit_free(j);
	unlink(path);
}

/* One of the kernel's functions by its list: false if that says nothing to us. */
static bool known_function(uint64_t *addr, char name[128])
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[512];
	unsigned long long a = 0, before = 0;
	bool found = false;
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = sscanf(line, "%llx T %127s", &a, name) == 2 && a && a != before &&
			!strcmp(name, "schedule");
		before = a;
	}
	if (f)
		fclose(f);
	*addr = a;
	return found;
}

static bool names(uint64_t addr, const char *name)
{
	struct kernel_symbol s = { 0 };
	struct kernel *k = kernel_new();
	bool good = kernel_find(k, addr + 1, &s) && !strcmp(s.name, name) && s.addr == addr;
	uint64_t start, end;
	good &= kernel_range(k, &start, &end) && start <= addr && addr < end;
	good &= !kernel_find(k, 4096, &s) && !kernel_find(k, UINT64_MAX, &s);
	kernel_free(k);
	return good;
}

/* Read, kept, read from where it is kept; damaged there, and not to be kept at all. */
static void test_kernel(void)
{
	uint64_t addr;
	char name[128], folder[] = "/tmp/kin-test-XXXXXX", command[128];
	if (!known_function(&addr, name))
		return;
	OK(mkdtemp(folder) && !setenv("XDG_CACHE_HOME", folder, 1));
	OK(names(addr, name));
	snprintf(command, sizeof(command), "test $(ls %s/kin/kernel | wc -l) = 1", folder);
	OK(!system(command));
	OK(names(addr, name));
	snprintf(command, sizeof(command), "truncate -s 5000 %s/kin/kernel/*", folder);
	OK(!system(command));
	OK(names(addr, name));
	OK(names(addr, name));
	OK(!setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1));
	OK(names(addr, name));
	snprintf(command, sizeof(command), "rm -r %s", folder);
	OK(!system(command));
}

int main(void)
{
	test_kernel();
	test_events();
	test_attributes();
	test_audit();
	test_jit_map();
	return DONE();
}
