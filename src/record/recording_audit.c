/* recording_audit.c - the lines that kin record prints at its end. */
#include "record/recording_audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

static double seconds(uint64_t ns) { return (double)ns / 1e9; }

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_size(FILE *f, uint64_t n)
{
	static const char *const units[] = { "B", "KB", "MB", "GB" };
	double v = (double)n;
	size_t u = 0;
	for (; v >= 1000 && u + 1 < ARRAY_LEN(units); u++)
		v /= 1000;
	fprintf(f, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

static void put_trust(FILE *f, const struct record_audit *a)
{
	const char *between = "  ";
	if (a->cpu_ns) {
		fprintf(f, "%sCPU time %.3f s", between, seconds(a->cpu_ns));
		between = ", ";
	}
	if (a->is_clock && a->cpu_ns)
		fprintf(f, ", sampled %.3f s (%.1f %%)", seconds(a->sampled_ns),
			percent(a->sampled_ns, a->cpu_ns));
	if (a->user_only) {
		fprintf(f, "%suser mode alone", between);
		between = ", ";
	}
	if (a->stacks && (a->complete || !a->guessed)) {
		fprintf(f, "%sstacks: %.1f %% complete", a->cpu_ns || a->user_only ? "; " : between,
			percent(a->complete, a->stacks));
		between = "; ";
	}
	if (between[0] != ' ')
		fputc('\n', f);
}

/* Each task's clock starts with a whole period on each CPU, so the time after the task's last
 * sample on a CPU is in no sample. */
static void put_short_tasks(FILE *f, const struct record_audit *a)
{
	if (a->is_clock && a->cpu_ns && !a->user_only && a->threads > 8 && !a->lost &&
	    percent(a->sampled_ns, a->cpu_ns) < 95)
		fprintf(f,
			"  the time of a thread after its last sample is not seen, which is all "
			"of one shorter than a sampling period%s\n",
			a->inside ? ""
				  : ": a higher -F sees more of it, and root, or "
				    "kernel.perf_event_paranoid=0, all");
}

/* The kernel checks a program's timers only at its tick, so fewer samples come than requested.
 * Their weights are right all the same. */
static void put_rate(FILE *f, const struct record_audit *a)
{
	enum { ENOUGH = 50 };
	double asked = a->asked_hz * seconds(a->cpu_ns);
	if (a->samples >= ENOUGH && (double)a->samples < 0.7 * asked)
		fprintf(f,
			"  %u samples/s were asked for: the kernel looks at a program's timers "
			"with "
			"its own tick; each sample stands for the time since the one before\n",
			a->asked_hz);
}

static void put_none(FILE *f, const struct record_audit *a)
{
	if (!a->samples && a->is_clock && !a->unseen_ns && !a->lost && !*a->trouble &&
	    !a->has_switches)
		fprintf(f,
			"  no samples: too little CPU time was used for one; a higher -F takes "
			"more "
			"of them%s\n",
			a->inside ? "" : ", --wall records waiting, too");
}

/* Most of the time that was recorded the program was not on a CPU. */
static void put_idle(FILE *f, const struct record_audit *a)
{
	enum { TENTH_OF_A_SECOND = 100000000 };
	if (a->samples && a->is_clock && !a->has_switches && !a->inside && a->cpu_ns &&
	    a->on_ns > TENTH_OF_A_SECOND && a->cpu_ns < a->on_ns / 2)
		fprintf(f,
			"  on a CPU for %.1f %% of the time: --wall shows what it waited for in "
			"the rest\n",
			percent(a->cpu_ns, a->on_ns));
}

/* Prints how many stacks may differ from what the program did. */
static void put_bad_stacks(FILE *f, const struct record_audit *a)
{
	if (a->guesses)
		fprintf(f, "  %llu stack%s with callers that are a guess\n",
			(unsigned long long)a->guesses, a->guesses == 1 ? "" : "s");
	if (a->cut)
		fprintf(f, "  %llu stack%s cut\n", (unsigned long long)a->cut,
			a->cut == 1 ? "" : "s");
	if (a->beyond > a->stacks / 100)
		fprintf(f,
			"    %llu of them go beyond what the kernel copies of a stack, 64 KiB at "
			"most: "
			"kin run, which starts the program, walks them in place\n",
			(unsigned long long)a->beyond);
	if (a->by_pointers && a->cut > a->stacks / 10)
		fputs("    without -g fp stacks need no frame pointers; programs have them if "
		      "compiled with -fno-omit-frame-pointer\n",
		      f);
	for (size_t i = 0; i < AUDIT_OBJECTS && a->object[i].failures; i++) {
		char *name = escape_copy(a->object[i].name);
		fprintf(f, "    %llu ended in %s\n", (unsigned long long)a->object[i].failures,
			name);
		free(name);
	}
}

static void put_check(FILE *f, const struct record_audit *a)
{
	if (a->checked)
		fprintf(f, "  %llu stack%s walked in two ways: %llu contradict%s\n",
			(unsigned long long)a->checked, a->checked == 1 ? "" : "s",
			(unsigned long long)a->contradicted, a->contradicted == 1 ? "s" : "");
	else if (a->check)
		fprintf(f, "  no stack was walked in two ways: %s\n",
			a->inside ? "the runtime walks in one" : "there were no frame pointers");
}

static void put_losses(FILE *f, const struct record_audit *a)
{
	if (a->lost)
		fprintf(f, "  LOST %llu samples or records: the buffers were full\n",
			(unsigned long long)a->lost);
	if (a->unseen_ns)
		fprintf(f,
			"  not seen: %.3f s of CPU time, of programs that %s, and of the kernel as "
			"it begins and ends processes\n",
			seconds(a->unseen_ns),
			a->inside ? "do not load the runtime (linked statically, setuid)"
				  : "have more rights (setuid) than the recorder");
	if (a->outside)
		fprintf(f,
			"  %llu sample%s of processes outside of this PID namespace: they are "
			"[unknown], because the kernel does not tell them apart here\n",
			(unsigned long long)a->outside, a->outside == 1 ? "" : "s");
	if (*a->trouble) {
		char *trouble = escape_copy(a->trouble);
		fprintf(f, "  while it was recorded: %s\n", trouble);
		free(trouble);
	}
	if (a->throttled)
		fprintf(f, "  the kernel held sampling back %llu times\n",
			(unsigned long long)a->throttled);
}

static void put_own(FILE *f, const struct record_audit *a)
{
	uint64_t fixed = a->own_fixed_ns < a->own_cpu_ns ? a->own_fixed_ns : a->own_cpu_ns;
	fprintf(f, "  the recorder itself: %.3f s CPU", seconds(a->own_cpu_ns));
	if (a->samples)
		fprintf(f, ", %.3f s of it to begin and to end; the rest is %.1f us/sample",
			seconds(fixed), (double)(a->own_cpu_ns - fixed) / 1e3 / (double)a->samples);
	fputc('\n', f);
}

/* Prints the costs of the recording, which say nothing about its quality. */
static void put_more(FILE *f, const struct record_audit *a)
{
	if (a->samples && a->file_fixed <= a->file_size) {
		fputs("  file: ", f);
		put_size(f, a->file_fixed);
		fprintf(f, " and %.0f B/sample\n",
			(double)(a->file_size - a->file_fixed) / (double)a->samples);
	}
	if (a->cpu_ns)
		fprintf(f, "  %.0f samples/s of CPU time\n",
			(double)a->samples / seconds(a->cpu_ns));
	if (a->stacks) {
		fprintf(f, "  stacks: %.1f frames each", (double)a->frames / (double)a->stacks);
		if (a->guessed)
			fprintf(f, ", %.1f %% of them by frame pointers",
				percent(a->guessed, a->frames));
		fputc('\n', f);
	}
	if (!a->has_switches && a->preemptions)
		fprintf(f, "  preempted %llu time%s\n", (unsigned long long)a->preemptions,
			a->preemptions == 1 ? "" : "s");
	if (!a->inside)
		put_own(f, a);
}

uint64_t record_audit_unseen(uint64_t used_ns, uint64_t measured_ns)
{
	enum { LEAST = 20000000 };
	bool clearly = used_ns > measured_ns + measured_ns / 10 + LEAST;
	return clearly ? used_ns - measured_ns : 0;
}

bool record_audit_is_bad(const struct record_audit *a)
{
	return a->lost || *a->trouble || (a->unseen_ns && !a->samples);
}

char *record_audit_losses(const struct record_audit *a)
{
	char *text = NULL;
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	put_losses(f, a);
	xclose_memstream(f, &text);
	return text;
}

char *record_audit_text(const struct record_audit *a, const char *output, bool more)
{
	char *text = NULL, *name = escape_copy(output);
	size_t size;
	FILE *f = xopen_memstream(&text, &size);
	uint64_t samples = a->all_samples ? a->all_samples : a->samples;
	if (a->all_samples)
		fprintf(f, "%llu of ", (unsigned long long)a->written);
	fprintf(f, "%llu sample%s in %.1f s -> %s", (unsigned long long)samples,
		samples == 1 ? "" : "s", seconds(a->duration_ns), name);
	if (a->file_size) {
		fputs(", ", f);
		put_size(f, a->file_size + a->names_size);
	}
	fprintf(f, "; %llu process%s, %llu thread%s\n", (unsigned long long)a->processes,
		a->processes == 1 ? "" : "es", (unsigned long long)a->threads,
		a->threads == 1 ? "" : "s");
	put_trust(f, a);
	put_losses(f, a);
	put_bad_stacks(f, a);
	put_check(f, a);
	put_rate(f, a);
	put_none(f, a);
	put_idle(f, a);
	put_short_tasks(f, a);
	if (a->has_switches)
		fprintf(f,
			"  blocked %.3f s, waiting for a CPU %.3f s; %llu switch%s, of them %llu "
			"preemption%s\n",
			seconds(a->blocked_ns), seconds(a->waiting_ns),
			(unsigned long long)a->switches, a->switches == 1 ? "" : "es",
			(unsigned long long)a->preemptions, a->preemptions == 1 ? "" : "s");
	if (more)
		put_more(f, a);
	xclose_memstream(f, &text);
	free(name);
	return text;
}

void record_audit_done(struct record_audit *a)
{
	for (size_t i = 0; i < AUDIT_OBJECTS; i++)
		free(a->object[i].name);
}
