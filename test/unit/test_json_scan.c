/* The scanner of JSON: each kind of value, its end, and invalid values. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/base.h"
#include "input/json_scan.h"
#include "tap.h"

static struct scan over(const char *text) { return scan_of(text, strlen(text)); }

/* The string that is the whole text; "FAILED", or the rest of the text behind it. */
static const char *string_of(const char *text)
{
	static char got[200];
	struct scan j = over(text);
	char *s = scan_string(&j);
	snprintf(got, sizeof(got), "%s%s%s", s ? s : "FAILED", s && *j.pos ? " then " : "",
		 s ? j.pos : "");
	if (!s != j.failed)
		snprintf(got, sizeof(got), "failed, but there is a string");
	free(s);
	return got;
}

static void test_strings(void)
{
	OK_STR(string_of("\"\""), "");
	OK_STR(string_of(" \t\r\n\"a b\", 1"), "a b then , 1");
	OK_STR(string_of("\"\\\" \\\\ \\/ \\b \\f \\n \\r \\t\""), "\" \\ / \b \f \n \r \t");
	OK_STR(string_of("\"\\u0041\\u007f\\u0080\\u07ff\\u0800\\uffFf\""),
	       "A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf");
	OK_STR(string_of("\"\\ud800\\udc00\\ud83d\\ude00\\udbff\\udfff.\""),
	       "\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf.");
	OK_STR(string_of("\"a\\u0000b\""), "ab"); /* no NULs */
	OK_STR(string_of("\"\\uabcd\\uABCD\\u9f9F\""), "\xea\xaf\x8d\xea\xaf\x8d\xe9\xbe\x9f");
	OK_STR(string_of("\"\xc3\xa4\""), "\xc3\xa4");
	OK_STR(string_of("\"open"), "FAILED");
	OK_STR(string_of("\"open\\"), "FAILED");
	OK_STR(string_of("\"open\\\""), "FAILED");
	OK_STR(string_of("\"\\x\""), "FAILED");
	OK_STR(string_of("\"\\u12g4\""), "FAILED");
	OK_STR(string_of("\"\\u12/4\""), "FAILED");
	OK_STR(string_of("\"\\u12:4\""), "FAILED");
	OK_STR(string_of("\"\\u12@4\""), "FAILED");
	OK_STR(string_of("\"\\u12G4\""), "FAILED");
	OK_STR(string_of("\"\\u12`4\""), "FAILED");
	OK_STR(string_of("\"\\u12"), "FAILED");
	OK_STR(string_of("12"), "FAILED");
	OK_STR(string_of(""), "FAILED");
	struct scan j = scan_of("\"a\0b\"", 5);
	char *s = scan_string(&j);
	OK_STR(s, "ab");
	OK(j.pos == j.end);
	free(s);
}

/* A number and where it ends. */
static bool is_number(const char *text, uint64_t value, const char *rest)
{
	struct scan j = over(text);
	return scan_number(&j) == value && !j.failed && !strcmp(j.pos, rest);
}

static void test_numbers(void)
{
	OK(is_number("0", 0, ""));
	OK(is_number(" 1234567890,", 1234567890, ","));
	OK(is_number("9]", 9, "]"));
	OK(is_number("12.9e3}", 12, "}"));
	OK(is_number("12E+3}", 12, "}"));
	OK(is_number("-5 ", 0, " "));
	OK(is_number("18446744073709551615", UINT64_MAX, ""));
	OK(is_number("18446744073709551616", UINT64_MAX, ""));
	OK(is_number("99999999999999999999999", UINT64_MAX, ""));
	struct scan j = over("-");
	OK(scan_number(&j) == 0 && j.failed);
	j = over("x");
	OK(scan_number(&j) == 0 && j.failed);
	j = over("");
	OK(scan_number(&j) == 0 && j.failed);
	j = scan_of("123", 2); /* no further than the end */
	OK(scan_number(&j) == 12 && j.pos == j.end);
	j = scan_of("1.23", 3);
	OK(scan_number(&j) == 1 && j.pos == j.end);
}

static bool is_real(const char *text, double value, const char *rest)
{
	struct scan j = over(text);
	double got = scan_real(&j);
	return fabs(got - value) <= 1e-12 * fabs(value) && !j.failed && !strcmp(j.pos, rest);
}

static void test_reals(void)
{
	OK(is_real("0", 0, ""));
	OK(is_real(" 12.5,", 12.5, ","));
	OK(is_real("-0.25]", -0.25, "]"));
	OK(is_real("907.1230", 907.123, ""));
	OK(is_real("1e3 ", 1000, " "));
	OK(is_real("1.5E+2", 150, ""));
	OK(is_real("25e-1", 2.5, ""));
	OK(is_real("3e12", 3e12, ""));
	OK(is_real("3e-09", 3e-9, ""));
	OK(is_real("9.909E09:", 9.909e9, ":"));
	OK(is_real("1.2/", 1.2, "/"));
	struct scan j = over("1e99999999999");
	OK(isinf(scan_real(&j)) && !j.failed && j.pos == j.end);
	j = over("1e-99999999999");
	OK(scan_real(&j) == 0 && !j.failed && j.pos == j.end);
	j = over("-");
	OK(scan_real(&j) == 0 && j.failed);
	j = over(".e5");
	OK(scan_real(&j) == 0 && j.failed);
	/* No further than the end, wherever that is. */
	static const char whole[] = "-12.34e-05678";
	static const double values[] = { 0,      -1,     -12,    -12,       -12.3,     -12.34,
					 -12.34, -12.34, -12.34, -12.34e-5, -12.34e-56 };
	for (size_t n = 1; n <= ARRAY_LEN(values); n++) {
		char *text = malloc(n);
		memcpy(text, whole, n);
		j = scan_of(text, n);
		double got = scan_real(&j);
		OK(fabs(got - values[n - 1]) <= 1e-12 * fabs(values[n - 1]) && j.pos == j.end &&
		   j.failed == (n == 1));
		free(text);
	}
}

/* The rest of the text behind a value of any kind. */
static const char *behind(const char *text)
{
	struct scan j = over(text);
	scan_skip(&j);
	return j.failed ? "FAILED" : j.pos;
}

static void test_skipping(void)
{
	OK_STR(behind("1, 2"), ", 2");
	OK_STR(behind("0]"), "]");
	OK_STR(behind("9]"), "]");
	OK_STR(behind("-1.5e3, 2"), ", 2");
	OK_STR(behind("\"a,]}\", 2"), ", 2");
	OK_STR(behind("true, 2"), ", 2");
	OK_STR(behind("az, 2"), ", 2");
	OK_STR(behind("null"), "");
	OK_STR(behind("[], 2"), ", 2");
	OK_STR(behind("{\"a\": [1, {\"b\": \"}\"}], \"c\": null} , 2"), " , 2");
	OK_STR(behind("[[1], [2, 3], 4] 5"), " 5");
	OK_STR(behind(""), "FAILED");
	OK_STR(behind(", 2"), "FAILED");
	OK_STR(behind(": 2"), "FAILED");
	OK_STR(behind("]"), "FAILED");
	OK_STR(behind("}"), "FAILED");
	OK_STR(behind("[1"), "FAILED");
	OK_STR(behind("[1, X]"), "FAILED");
	OK_STR(behind("[`]"), "FAILED");
	OK_STR(behind("[|]"), "FAILED");
	struct scan j = scan_of("nullx", 4);
	OK(scan_null(&j) && j.pos == j.end && !j.failed);
	j = over(" 0");
	OK(!scan_null(&j) && !j.failed && scan_number(&j) == 0);
}

static void test_objects(void)
{
	struct scan j = over(" { \"first\" : 1 , \"second\":[ 2 , 3 ],\"third\":{ } } 7");
	char key[6];
	scan_enter(&j, '{');
	OK(scan_key(&j, key, sizeof(key)) && !strcmp(key, "first"));
	OK(scan_number(&j) == 1);
	OK(scan_key(&j, key, sizeof(key)) && !strcmp(key, "secon")); /* cut */
	scan_enter(&j, '[');
	OK(scan_element(&j) && scan_number(&j) == 2);
	OK(scan_element(&j) && scan_number(&j) == 3);
	OK(!scan_element(&j));
	OK(scan_key(&j, key, sizeof(key)) && !strcmp(key, "third"));
	scan_enter(&j, '{');
	OK(!scan_key(&j, key, sizeof(key)));
	OK(!scan_key(&j, key, sizeof(key)) && !j.failed);
	OK(scan_number(&j) == 7 && !j.failed);

	j = over("[1]");
	scan_enter(&j, '{');
	OK(j.failed && !scan_key(&j, key, sizeof(key)) && !scan_element(&j));
	j = over("{\"a\" 1}");
	scan_enter(&j, '{');
	OK(!scan_key(&j, key, sizeof(key)) && j.failed);
	j = over("{1: 1}");
	scan_enter(&j, '{');
	OK(!scan_key(&j, key, sizeof(key)) && j.failed);
	j = over("[1, 2");
	scan_enter(&j, '[');
	OK(scan_element(&j) && scan_number(&j) == 1 && scan_element(&j) && scan_number(&j) == 2);
	OK(!scan_element(&j) && j.failed);
	j = over("[1}");
	scan_enter(&j, '[');
	OK(scan_element(&j) && scan_number(&j) == 1 && scan_element(&j));
	OK(scan_number(&j) == 0 && j.failed && !scan_element(&j));
}

/* Nothing behind the end of the text is read, wherever the end is. */
static void test_cuts(void)
{
	static const char whole[] =
		"{\"a\": [1.5e-3, -12, \"x\\u00e4\\n\\ud83d\\ude00\", null, true], "
		"\"b\": {\"c\":2}} ";
	static const char tails[] = { '"', '1', ' ', 'a', '}', ',', 'e', '-', '.' };
	size_t unlike = 0;
	for (size_t from = 0; from < strlen(whole); from++)
		for (size_t n = from; n <= strlen(whole); n++) {
			size_t ends[ARRAY_LEN(tails)][4];
			for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
				char copy[sizeof(whole) + 16], key[8] = "";
				memset(copy, tails[i], sizeof(copy));
				memcpy(copy, whole, n);
				struct scan j = scan_of(copy + from, n - from);
				scan_skip(&j);
				ends[i][0] = (size_t)(j.pos - copy) * 2 + j.failed;
				j = scan_of(copy + from, n - from);
				double v = scan_real(&j);
				ends[i][1] = (size_t)(j.pos - copy) * 2 + j.failed + (v > 1) * 1000;
				j = scan_of(copy + from, n - from);
				uint64_t number = scan_number(&j);
				ends[i][2] = (size_t)(j.pos - copy) * 2 + j.failed + number * 1000;
				j = scan_of(copy + from, n - from);
				scan_key(&j, key, sizeof(key));
				ends[i][3] =
					(size_t)(j.pos - copy) * 2 + j.failed + strlen(key) * 1000;
				unlike += memcmp(ends[0], ends[i], sizeof(ends[0])) != 0;
			}
		}
	OK(!unlike);
}

int main(void)
{
	test_cuts();
	test_strings();
	test_numbers();
	test_reals();
	test_skipping();
	test_objects();
	return DONE();
}
