/* Which samples pass a filter, and words that are none. */
#include "tap.h"

#include <stdlib.h>

#include "base/err.h"
#include "profile/sample_filter.h"

enum { SECOND = 1000000000, SAMPLES = 8 };

static strid name(struct profile_builder *b, const char *s)
{
	return profile_add_string(b, s, strlen(s));
}

/* Sample i at i seconds from 10 on, on CPU i; tasks in turn: make 7/7, cc 7/8, sh 9/9; parallelism
 * 1, 2, 1 ... */
static struct profile *make(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = name(b, "clock") });
	taskid tasks[] = {
		profile_add_task(b, (struct task){ .pid = 7, .tid = 7, .comm = name(b, "make") }),
		profile_add_task(b, (struct task){ .pid = 7, .tid = 8, .comm = name(b, "cc") }),
		profile_add_task(b, (struct task){ .pid = 9, .tid = 9, .comm = name(b, "sh") }),
	};
	for (unsigned i = 0; i < SAMPLES; i++)
		profile_add_sample(b, (struct sample){ .task = tasks[i % 3],
						       .count = 1,
						       .weight = 1,
						       .cpu = (uint16_t)i,
						       .parallelism = (uint16_t)(1 + i % 2),
						       .time_ns = (10 + i) * (uint64_t)SECOND });
	return profile_finish(b);
}

/* The numbers of the samples that pass, or the error; those that are covered alone in brackets. */
static const char *passing(const struct profile *p, struct sample_filter_texts texts)
{
	static char out[256];
	struct sample_filter *f = NULL;
	struct kin_error *err = sample_filter_new(p, &texts, &f);
	size_t n = 0;
	out[0] = '\0';
	if (err)
		snprintf(out, sizeof(out), "%s", kin_error_message(err));
	for (size_t i = 0; i < p->samples.n && f; i++) {
		const struct sample *s = &p->samples.at[i];
		if (sample_filter_passes(f, s))
			n += (size_t)sprintf(out + n, "%u ", s->cpu);
		else if (sample_filter_covers(f, s))
			n += (size_t)sprintf(out + n, "(%u) ", s->cpu);
	}
	kin_error_free(err);
	sample_filter_free(f);
	return out;
}

#define PASSING(...) passing(p, (struct sample_filter_texts){ __VA_ARGS__ })

static void test_tasks(const struct profile *p)
{
	OK_STR(PASSING(), "0 1 2 3 4 5 6 7 ");
	OK_STR(PASSING(.comms = "make,sh"), "0 (1) 2 3 (4) 5 6 (7) ");
	OK_STR(PASSING(.comms = "nobody"), "(0) (1) (2) (3) (4) (5) (6) (7) ");
	OK_STR(PASSING(.pids = "7"), "0 1 (2) 3 4 (5) 6 7 ");
	OK_STR(PASSING(.tids = "8,9"), "(0) 1 2 (3) 4 5 (6) 7 ");
	OK_STR(PASSING(.pids = "7", .tids = "9"), "(0) (1) (2) (3) (4) (5) (6) (7) ");
	OK_STR(PASSING(.pids = "7", .comms = "cc"), "(0) 1 (2) (3) 4 (5) (6) 7 ");
	struct sample_filter *f = NULL;
	struct kin_error *err =
		sample_filter_new(p, &(struct sample_filter_texts){ .comms = "cc" }, &f);
	OK(!err && sample_filter_comm(f) && !strcmp(sample_filter_comm(f), "cc"));
	sample_filter_free(f);
	err = sample_filter_new(p, &(struct sample_filter_texts){ .comms = "cc,sh" }, &f);
	OK(!err && !sample_filter_comm(f));
	sample_filter_free(f);
}

static void test_sets(const struct profile *p)
{
	OK_STR(PASSING(.cpus = "0"), "0 ");
	OK_STR(PASSING(.cpus = "1-3,7"), "1 2 3 7 ");
	OK_STR(PASSING(.cpus = "5-5,65535"), "5 ");
	OK_STR(PASSING(.parallelism = "2"), "(0) 1 (2) 3 (4) 5 (6) 7 ");
	OK_STR(PASSING(.cpus = "0-4", .parallelism = "2-9"), "(0) 1 (2) 3 (4) ");
}

static void test_times(const struct profile *p)
{
	OK_STR(PASSING(.times = "12,13"), "2 3 ");
	OK_STR(PASSING(.times = "16,"), "6 7 ");
	OK_STR(PASSING(.times = ",10.5 15,15"), "0 5 ");
	OK_STR(PASSING(.times = "0%-50%,100%-100%"), "0 1 2 3 7 ");
	OK_STR(PASSING(.times = "12,14", .tids = "8"), "(2) (3) 4 ");
	OK_STR(PASSING(.times = "20,30"), "");
	OK_STR(PASSING(.times = "16,9000000000"), "6 7 ");
	OK(strstr(PASSING(.times = "16,9000000001"), "--time")); /* no number of nanoseconds */
}

static void test_wrong(const struct profile *p)
{
	static const char *const bad[] = {
		"x", "-1", "", "4294967296", "99999999999999999999", "7x"
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		bool is_list_of_none = !*bad[i]; /* an empty list is no filter */
		OK((strstr(PASSING(.tids = bad[i]), "--tid") != NULL) != is_list_of_none);
		OK((strstr(PASSING(.pids = bad[i]), "--pid") != NULL) != is_list_of_none);
	}
	OK(strstr(PASSING(.cpus = "3-1"), "--cpu"));
	OK(strstr(PASSING(.cpus = "1-"), "--cpu"));
	OK(strstr(PASSING(.cpus = "1-2-3"), "--cpu"));
	OK(strstr(PASSING(.cpus = "65536"), "--cpu"));
	OK(strstr(PASSING(.parallelism = "many"), "--parallelism"));
	OK(strstr(PASSING(.times = "soon"), "--time"));
}

int main(void)
{
	struct profile *p = make();
	test_tasks(p);
	test_sets(p);
	test_times(p);
	test_wrong(p);
	profile_free(p);
	return DONE();
}
