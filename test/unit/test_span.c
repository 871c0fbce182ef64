/* Stretches of time as people write them: parts, seconds, and from marker to marker. */
#include "profile/span.h"

#include <inttypes.h>

#include "base/err.h"
#include "tap.h"

static void add_sample(struct profile_builder *b, uint64_t time_ns)
{
	profile_add_sample(b, (struct sample){ .count = 1, .time_ns = time_ns });
}

static void add_marker(struct profile_builder *b, uint64_t time_ns, const char *name)
{
	profile_add_marker(b,
			   (struct marker){ time_ns, profile_add_string(b, name, strlen(name)) });
}

/* Samples from 10 s to 30 s, one whose time is not known, and some markers. */
static struct profile *make(bool marked)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = 0 });
	add_sample(b, UINT64_C(20000000000));
	add_sample(b, UINT64_C(10000000000));
	add_sample(b, 0);
	add_sample(b, UINT64_C(30000000000));
	if (marked) {
		add_marker(b, 0, "start");
		add_marker(b, 100, "");
		add_marker(b, 1000, "load");
		add_marker(b, 2000, "query");
		add_marker(b, 2000, "other");
		add_marker(b, 3000, "load");
		add_marker(b, 4000, "load,all");
		add_marker(b, 5000, "7 up");
		add_marker(b, 6000, "0 up");
		add_marker(b, 6000, "9 up");
		add_marker(b, 6000, "/up");
		add_marker(b, 6000, ":up");
	}
	return profile_finish(b);
}

static struct profile *profile;

/* "FROM-TO" in nanoseconds; "no interval", "ends first", "no marker". */
static const char *span(const char *text)
{
	static char got[100];
	struct time_range r = { 1, 2 }, whole = span_of(profile);
	struct kin_error *err = span_parse(text, profile, whole, &r);
	if (err)
		snprintf(got, sizeof(got), "%s",
			 strstr(kin_error_message(err), "is not a time interval")  ? "no interval"
			 : strstr(kin_error_message(err), "ends before it starts") ? "ends first"
			 : strstr(kin_error_message(err), "no marker '")           ? "no marker"
										   : "?");
	else if (r.to_ns == UINT64_MAX)
		snprintf(got, sizeof(got), "%" PRIu64 "-", r.from_ns);
	else
		snprintf(got, sizeof(got), "%" PRIu64 "-%" PRIu64, r.from_ns, r.to_ns);
	kin_error_free(err);
	return got;
}

static void test_whole(void)
{
	struct time_range whole = span_of(profile), r;
	OK(whole.from_ns == UINT64_C(10000000000) && whole.to_ns == UINT64_C(30000000000));
	struct profile *none = profile_finish(profile_builder_new());
	whole = span_of(none);
	OK(whole.from_ns > whole.to_ns);
	struct kin_error *err = span_parse("1,2", none, whole, &r);
	OK(err && strstr(kin_error_message(err), "no sample in the data says"));
	kin_error_free(err);
	profile_free(none);
}

/* What was derived from switches lasts longer than the samples, and does not count beside them. */
static void test_derived(void)
{
	struct profile_builder *b = profile_builder_new();
	profile_add_event(b, (struct event){ .name = profile_add_string(b, "cycles", 6) });
	uint16_t derived =
		profile_add_event(b, (struct event){ .name = profile_add_string(b, "blocked", 7),
						     .is_derived = true });
	profile_add_sample(b, (struct sample){ .event = derived, .count = 1, .time_ns = 5 });
	add_sample(b, 20);
	add_sample(b, 40);
	struct profile *p = profile_finish(b);
	struct time_range whole = span_of(p);
	OK(whole.from_ns == 20 && whole.to_ns == 40);
	profile_free(p);
}

static void test_one_moment(void)
{
	struct profile *was = profile;
	struct profile_builder *b = profile_builder_new();
	add_sample(b, 77);
	profile = profile_finish(b);
	OK_STR(span("0%-100%"), "0-");
	OK_STR(span("50%"), "0-77");
	OK_STR(span("100%-100%"), "77-");
	profile_free(profile);
	b = profile_builder_new(); /* times that are no floating-point numbers */
	add_sample(b, UINT64_C(1000000000000000003));
	add_sample(b, UINT64_C(9000000000000000007));
	profile = profile_finish(b);
	OK_STR(span("0%-100%"), "0-");
	OK_STR(span("100%"), "0-");
	OK_STR(span("50%/2"), "5000000000000000003-");
	profile_free(profile);
	profile = was;
}

static void test_parts(void)
{
	OK_STR(span("10%"), "0-12000000000");
	OK_STR(span("12.5%"), "0-12500000000");
	OK_STR(span("10%-20%"), "12000000000-14000000000");
	OK_STR(span("50%-50%"), "20000000000-20000000000");
	OK_STR(span("0%-100%"), "0-");
	OK_STR(span("100%-100%"), "30000000000-");
	OK_STR(span("0%"), "0-10000000000");
	OK_STR(span("10%/1"), "0-12000000000");
	OK_STR(span("10%/2"), "12000000000-14000000000");
	OK_STR(span("10%/10"), "28000000000-");
	OK_STR(span("10%/11"), "no interval");
	OK_STR(span("10%/0"), "no interval");
	OK_STR(span("10%/2x"), "no interval");
	OK_STR(span("10%x"), "no interval");
	OK_STR(span("10%-"), "no interval");
	OK_STR(span("10%-5%"), "no interval");
	OK_STR(span("10%-20"), "no interval");
	OK_STR(span("10%-20%x"), "no interval");
	OK_STR(span("10%-101%"), "no interval");
	OK_STR(span("101%"), "no interval");
	OK_STR(span("-1%"), "no interval");
	OK_STR(span("nan%"), "no interval");
	OK_STR(span("%"), "no interval");
}

static void test_seconds(void)
{
	OK_STR(span("12,13"), "12000000000-13000000000");
	OK_STR(span("12,"), "12000000000-");
	OK_STR(span(",13"), "0-13000000000");
	OK_STR(span("12.5,12.500000001"), "12500000000-12500000001");
	OK_STR(span("0.1234567899,1"), "123456789-1000000000"); /* the tenth digit is no more */
	OK_STR(span(".5,1."), "500000000-1000000000");
	OK_STR(span("9,9"), "9000000000-9000000000");
	OK_STR(span("0.90,1.09"), "900000000-1090000000");
	OK_STR(span("+0.5,+2"), "10500000000-12000000000");
	OK_STR(span("+0,11"), "10000000000-11000000000");
	OK_STR(span("5"), "5000000000-");
	OK_STR(span("13,12"), "ends first");
	OK_STR(span("9000000000,"), "9000000000000000000-");
	OK_STR(span("9000000001,"), "no interval"); /* no number of nanoseconds */
	OK_STR(span("x,13"), "no interval");
	OK_STR(span("12,x"), "no interval");
	OK_STR(span("12x,13"), "no interval");
	OK_STR(span("12,13x"), "no interval");
	OK_STR(span("12,13,14"), "no interval");
	OK_STR(span("-1,2"), "no interval");
	OK_STR(span(" 1,2"), "no interval");
	OK_STR(span("inf,"), "no interval");
	OK_STR(span("1.5:,2"), "no interval");
	OK_STR(span("1.5/,2"), "no interval");
	OK_STR(span(":,2"), "no interval");
	OK_STR(span("/,2"), "no interval");
}

static void test_markers(void)
{
	OK_STR(span("start"), "0-99");
	OK_STR(span("start,load"), "0-999");
	OK_STR(span("load"), "1000-1999");
	OK_STR(span("load/1"), "1000-1999");
	OK_STR(span("load/2"), "3000-3999");
	OK_STR(span("load/3"), "no marker");
	OK_STR(span("load/0"), "no marker");
	OK_STR(span("load/x"), "no marker");
	OK_STR(span("load/2x"), "no marker");
	OK_STR(span("query"), "2000-2999");    /* up to the next that is later */
	OK_STR(span("load,all"), "4000-4999"); /* the longest name */
	OK_STR(span("7 up"), "5000-5999");
	OK_STR(span(":up"), "6000-");
	OK_STR(span("loa"), "no marker");
	OK_STR(span("loads"), "no marker");
	OK_STR(span("load,query"), "1000-1999");
	OK_STR(span("load,load"), "1000-2999"); /* the next of that name */
	OK_STR(span("query,load"), "2000-2999");
	OK_STR(span("load,load/1"), "1000-2999");
	OK_STR(span("load,load/2"), "no marker"); /* one is behind the first */
	OK_STR(span("load/2,7 up"), "3000-4999");
	OK_STR(span("query,load/1"), "2000-2999"); /* the first from there on */
	OK_STR(span("load/2,query"), "no marker"); /* there is none behind it */
	OK_STR(span("load,0.0000015"), "1000-1500");
	OK_STR(span("load,"), "1000-");
	OK_STR(span("0.0000005,load"), "500-999");
	OK_STR(span(",load"), "0-999");
	OK_STR(span("+0,load"), "no marker");
	OK_STR(span("soon,load"), "no marker");
	OK_STR(span("load,soon"), "no marker");
	OK_STR(span("load,query,x"), "no marker");
	OK_STR(span(""), "0-");
	OK(span_is_marked("load", profile) && span_is_marked("load,7", profile));
	OK(span_is_marked(",query", profile) && !span_is_marked("loads", profile));
	OK(!span_is_marked("7 up", profile)); /* a time, as far as one sees */
	OK(!span_is_marked("", profile) && !span_is_marked("1,load", profile));
	OK(!span_is_marked("0 up", profile) && !span_is_marked("9 up", profile));
	OK(span_is_marked("/up", profile) && span_is_marked(":up", profile));
}

int main(void)
{
	profile = make(false);
	test_whole();
	test_derived();
	test_one_moment();
	test_parts();
	test_seconds();
	OK_STR(span("load"), "no interval");
	OK(!span_is_marked("load", profile));
	profile_free(profile);
	profile = make(true);
	test_parts();
	test_markers();
	profile_free(profile);
	return DONE();
}
