/* Records of trace points as text, by the kernel's descriptions. */
#include <stdlib.h>

#include "base/base.h"
#include "input/trace_format.h"
#include "tap.h"

#define COMMON                                                                                     \
	"name: x\nID: 7\nformat:\n"                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELDS                                                                                     \
	"\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"                                   \
	"\tfield:int a;\toffset:16;\tsize:4;\tsigned:1;\n"                                         \
	"\tfield:unsigned int b;\toffset:20;\tsize:4;\tsigned:0;\n"                                \
	"\tfield:__data_loc char[] name;\toffset:24;\tsize:4;\tsigned:0;\n"                        \
	"\tfield:unsigned long p;\toffset:28;\tsize:8;\tsigned:0;\n\nprint fmt: "

static const uint8_t raw[] = {
	7, 0, 0, 0, 1,  0, 0, 0, 'p',  'r',  'o', 'g', 0, 'x', 'x', 'x', 0xfe, 0xff, 0xff, 0xff,
	5, 0, 0, 0, 36, 0, 4, 0, 0x10, 0x20, 0,   0,   0, 0,   0,   0,   'e',  't',  'h',  0,
};

static const char *function(void *arg, uint64_t addr, uint64_t *start)
{
	*start = 0x2000;
	return addr == 0x2010 ? arg : NULL;
}

static const char *text_of_record(const char *format, const uint8_t *record, size_t size)
{
	static char *text;
	size_t n;
	char name[] = "there";
	struct trace_layout layout = { .function = function, .arg = name };
	char *all = xprintf("%s%s%s", COMMON, FIELDS, format);
	struct trace_format *f = trace_format_new(all, strlen(all), layout);
	free(text);
	FILE *out = open_memstream(&text, &n);
	trace_format_print(f, record, size, out);
	fclose(out);
	trace_format_free(f);
	free(all);
	return text;
}

/* Of the record above, or of its first bytes. */
static const char *text_of(const char *format, size_t size)
{
	return text_of_record(format, raw, size);
}

static const char *text(const char *format) { return text_of(format, sizeof(raw)); }

static void test_values(void)
{
	OK_STR(text("\"comm=%s a=%d b=%u\", REC->comm, REC->a, REC->b\n"), "comm=prog a=-2 b=5");
	OK_STR(text("\"%x %#lx %5d|%-5d|%03u\", REC->a, (unsigned long)(REC->p), REC->b, REC->b, "
		    "REC->b"),
	       "fffffffe 0x2010     5|5    |005");
	OK_STR(text("\"%s %d\", __get_str(name), __get_dynamic_array_len(name)"), "eth 4");
	OK_STR(text("\"%pS %ps %p\", (void *)REC->p, REC->p, REC->b"), "there+0x10 there 0x5");
	OK_STR(text("\"%c%%\" \" %s\", REC->comm[1], \"x\""), "r% x");
}

/* A text that fills its field has no NUL: nothing behind the field is printed. */
static void test_full_texts(void)
{
	uint8_t record[sizeof(raw)];
	memcpy(record, raw, sizeof(raw));
	memcpy(record + 8, "programs", 8); /* 0xfe, the first byte of a, follows */
	record[26] = 2;                    /* bytes of the name "eth" */
	OK_STR(text_of_record("\"%s %s\", REC->comm, __get_str(name)", record, sizeof(record)),
	       "programs et");
}

static void test_expressions(void)
{
	OK_STR(text("\"%d\", 1 + 2 * 3 << 1"), "14");
	OK_STR(text("\"%d %d\", REC->a < 0 ? 10 : 20, REC->b & 4 && !0"), "10 1");
	OK_STR(text("\"%llu\", (u8)REC->a"), "254");
	OK_STR(text("\"%s\", REC->b & ((1 << 1) - 1) ? \"odd\" : \"even\""), "odd");
	OK_STR(text("\"%d\", REC->b / 0"), "0");
	OK_STR(text("\"%d\", SOME_CONSTANT"), "0");
}

static void test_names(void)
{
	OK_STR(text("\"%s\", __print_flags(REC->b, \"|\", {1, \"A\"}, {2, \"B\"}, {4, \"C\"})"),
	       "A|C");
	OK_STR(text("\"%s\", __print_flags(REC->b, \"|\", {1, \"A\"})"), "A|0x4");
	OK_STR(text("\"%s\", __print_symbolic(REC->b, {1, \"one\"}, {5, \"five\"})"), "five");
	OK_STR(text("\"%s\", __print_symbolic(REC->b, {NO_NUMBER, \"one\"})"), "0x5");
	OK_STR(text("\"%s\", __print_hex(REC->comm, 4)"), "70 72 6f 67");
}

/* ---- as C has it ---- */

static const char *decimal(long long v)
{
	static char at[32];
	snprintf(at, sizeof(at), "%lld", v);
	return at;
}

/* The printed value is the compiler's value of the expression. */
#define AS_IN_C(e) OK_STR(text("\"%lld\", " #e), decimal(e))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wbool-compare"
#endif
static void test_operators(void)
{
	AS_IN_C(6 | 8 ^ 12 & 10);
	AS_IN_C(1 | 6 ^ 3);
	AS_IN_C(7 & 3 == 3);
	AS_IN_C(7 ^ 3 & 5);
	AS_IN_C(2 == 2 != 0);
	AS_IN_C(1 < 2 == 1);
	AS_IN_C(2 < 2 | 3 <= 3);
	AS_IN_C(2 > 2 | 3 >= 3);
	AS_IN_C(3 < 2);
	AS_IN_C(4 >= 5);
	AS_IN_C(5 <= 4);
	OK_STR(text("\"%d %d %d %d\", 2 < 2, 2 > 2, 2 <= 2, 2 >= 2"), "0 0 1 1");
	AS_IN_C(5 > 4);
	AS_IN_C(-1 < 0 && -1 > -2);
	AS_IN_C(1 << 2 < 5);
	AS_IN_C(1 << 2 + 1);
	AS_IN_C(64 >> 1 + 2);
	AS_IN_C(10 - 3 - 2);
	AS_IN_C(20 - 2 * 3);
	AS_IN_C(20 / 2 * 5);
	AS_IN_C(29 % 10 + 1);
	AS_IN_C(-7 / 2);
	AS_IN_C(-7 % 3);
	AS_IN_C(0 || 0);
	AS_IN_C(0 || 3);
	AS_IN_C(2 && 0);
	AS_IN_C(2 && 4);
	AS_IN_C(0 && 1 || 1);
	AS_IN_C(1 || 0 && 0);
	AS_IN_C(0 && 0 || 1 && 1);
	AS_IN_C(!3 + !0);
	AS_IN_C(~5 & 0xff);
	AS_IN_C(-(+3));
	AS_IN_C(0 ? 1 : 0 ? 2 : 3);
	AS_IN_C(1 ? 0 ? 4 : 5 : 6);
	AS_IN_C(0x1F + 017 + 'a' + 3UL);
	AS_IN_C((5));
	AS_IN_C(3 == 2 < 1);
	AS_IN_C(3 == 4 > 2);
	AS_IN_C(1 != 2 >= 1);
	AS_IN_C(2 < 3 <= 1);
	AS_IN_C(3 > 2 >= 2);
	/* Where C does not say it. */
	OK_STR(text("\"%lld %lld %lld\", 7 % 0, 1 << 64, 1 >> 64"), "0 0 0");
	OK_STR(text("\"%lld %lld\", -8 / -1, -8 % -1"), "8 0");
	OK_STR(text("\"%llx\", 1 << 63"), "8000000000000000");
}

static size_t count_wrong(const char *one, const char *two, const long long at[3], long long value)
{
	char *format = xprintf("\"%%lld\", %lld %s %lld %s %lld", at[0], one, at[1], two, at[2]);
	bool right = !strcmp(text(format), decimal(value));
	if (!right)
		printf("# %s is not %lld\n", format, value);
	free(format);
	return !right;
}

#define PAIR(one, two) count_wrong(#one, #two, at, at[0] one at[1] two at[2])
#define PAIRS(one)                                                                                 \
	PAIR(one, ||) + PAIR(one, &&) + PAIR(one, |) + PAIR(one, ^) + PAIR(one, &) +               \
		PAIR(one, ==) + PAIR(one, !=) + PAIR(one, <) + PAIR(one, >) + PAIR(one, <=) +      \
		PAIR(one, >=) + PAIR(one, <<) + PAIR(one, >>) + PAIR(one, +) + PAIR(one, -) +      \
		PAIR(one, *) + PAIR(one, /) + PAIR(one, %)

/* Every two operators, on numbers that show which of the two comes first. */
static void test_pairs_of_operators(void)
{
	static const long long numbers[][3] = { { 6, 6, 3 },  { 42, 4, 1 }, { 5, 2, 2 },
						{ 38, 8, 5 }, { 1, 1, 1 },  { 2, 2, 1 } };
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const long long *at = numbers[i];
		size_t wrong = PAIRS(||) + PAIRS(&&) + PAIRS(|) + PAIRS(^) + PAIRS(&);
		wrong += PAIRS(==) + PAIRS(!=) + PAIRS(<) + PAIRS(>) + PAIRS(<=) + PAIRS(>=);
		wrong += PAIRS(<<) + PAIRS(>>) + PAIRS(+) + PAIRS(-) + PAIRS(*) + PAIRS(/) +
			 PAIRS(%);
		OK(!wrong);
	}
}
#pragma GCC diagnostic pop

static void test_types_of_casts(void)
{
	static const struct {
		const char *name, *value; /* of a number with all bits set */
	} types[] = {
		{ "char", "-1" },   { "s8", "-1" },          { "u8", "255" },
		{ "__u8", "255" },  { "bool", "255" },       { "s16", "-1" },
		{ "u16", "65535" }, { "__u16", "65535" },    { "short", "-1" },
		{ "s32", "-1" },    { "u32", "4294967295" }, { "__u32", "4294967295" },
		{ "int", "-1" },    { "pid_t", "-1" },       { "uint32_t", "4294967295" },
	};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		char *format = xprintf("\"%%lld\", (%s)0xffffffffffffffff", types[i].name);
		OK_STR(text(format), types[i].value);
		free(format);
	}
	OK_STR(text("\"%llx\", (u8 * const)0x123456789"), "123456789"); /* a star stays one */
}

static void test_casts(void)
{
	OK_STR(text("\"%lld %lld %lld\", (s8)200, (u8)511, (char)200"), "-56 255 -56");
	OK_STR(text("\"%lld %lld %lld\", (s16)0x18000, (u16)0x18000, (short)0x7fff"),
	       "-32768 32768 32767");
	OK_STR(text("\"%lld %lld %lld\", (int)0x80000000, (u32)(0 - 1), (pid_t)(0 - 1)"),
	       "-2147483648 4294967295 -1");
	OK_STR(text("\"%lld %lld\", (unsigned int)(0 - 1), (unsigned)(0 - 1)"),
	       "4294967295 4294967295");
	OK_STR(text("\"%lld %lld\", (long)(0 - 1), (unsigned long)(0 - 1)"), "-1 -1");
	OK_STR(text("\"%lld %lld\", (unsigned long long)-1, (u8)-1"), "-1 255");
	OK_STR(text("\"%lld\", (long int)0x100000001"), "4294967297");
	OK_STR(text("\"%lld\", (unsigned char)~0"), "255");
	OK_STR(text("\"%llx\", (const char *)0x123456789"), "123456789");
	OK_STR(text("\"%lld\", (REC->b) - 1"), "4");
	OK_STR(text("\"%lld %lld\", (long)-7 / 2, (size_t)-1 + 3"), "-3 2");
	/* A name in brackets is a cast only if an operand of a cast follows. */
	OK_STR(text("\"%lld %lld %lld\", (NAME) - 3, (NAME + 2) * 3, (NAME) + 1"), "-3 6 1");
	OK(strstr(text("\"%d\", ()5"), "[FAILED TO PARSE]"));
}

/* ---- kinds of fields ---- */

enum { KINDS_MAX = 128 };

#define KINDS                                                                                      \
	COMMON "\tfield:unsigned short shorts[3];\toffset:8;\tsize:6;\tsigned:0;\n"                \
	       "\tfield:int ints[2];\toffset:14;\tsize:8;\tsigned:1;\n"                            \
	       "\tfield:u64 big[2];\toffset:22;\tsize:16;\tsigned:0;\n"                            \
	       "\tfield:u128 wide;\toffset:22;\tsize:16;\tsigned:0;\n"                             \
	       "\tfield:unsigned char bytes[16];\toffset:38;\tsize:16;\tsigned:0;\n"               \
	       "\tfield:s64 far;\toffset:54;\tsize:8;\tsigned:1;\n"                                \
	       "\tfield:signed char near;\toffset:62;\tsize:1;\tsigned:1;\n"                       \
	       "\tfield:__rel_loc char[] next;\toffset:63;\tsize:4;\tsigned:0;\n"                  \
	       "\tfield:__data_loc cpumask_t mask;\toffset:67;\tsize:4;\tsigned:0;\n"              \
	       "\tfield:__data_loc long[] longs;\toffset:71;\tsize:4;\tsigned:0;\n\nprint fmt: "

/* A record of these, in either order of bytes. */
static size_t make_kinds(uint8_t *at, bool swapped)
{
	static const struct {
		size_t size;
		uint64_t value;
	} parts[] = {
		{ 8, 0 },
		{ 2, 0x102 },
		{ 2, 0x304 },
		{ 2, 0xfffe },
		{ 4, 0x11223344 },
		{ 4, 0xfffffffd },
		{ 8, 0x1122334455667788 },
		{ 8, 9 },
	};
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		for (size_t b = 0; b < parts[i].size; b++)
			at[n++] = (uint8_t)(parts[i].value >>
					    8 * (swapped ? parts[i].size - 1 - b : b));
	for (size_t i = 0; i < 16; i++)
		at[n++] = (uint8_t)(i * 17);
	const uint64_t more[][2] = { { 8, (uint64_t)-5 },
				     { 1, (uint64_t)-128 },
				     { 4, 8 | 4 << 16 },     /* 8 behind the field's end: at 75 */
				     { 4, 79 | 6 << 16 },    /* at 79 */
				     { 4, 85 | 16 << 16 } }; /* at 85 */
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		for (size_t b = 0; b < more[i][0]; b++)
			at[n++] = (uint8_t)(more[i][1] >> 8 * (swapped ? more[i][0] - 1 - b : b));
	memcpy(at + n, "abc", 4);
	n += 4;
	memcpy(at + n, "\1\2\3\4\5\6", 6);
	n += 6;
	for (size_t i = 0; i < 16; i++)
		at[n++] = (uint8_t)(i == (swapped ? 7u : 0u) || i == (swapped ? 14u : 9u));
	return n;
}

static const char *kinds_text(const char *format, bool swapped)
{
	static char *made;
	uint8_t record[KINDS_MAX];
	size_t size = make_kinds(record, swapped), n;
	char *all = xprintf("%s%s", KINDS, format);
	struct trace_format *f =
		trace_format_new(all, strlen(all), (struct trace_layout){ .swapped = swapped });
	free(made);
	FILE *out = open_memstream(&made, &n);
	trace_format_print(f, record, size, out);
	fclose(out);
	trace_format_free(f);
	free(all);
	return made;
}

/* On a machine of either order of bytes. */
static void test_kinds_of_fields(bool swapped)
{
	OK_STR(kinds_text("\"%d %d %d\", REC->shorts[0], REC->shorts[1], REC->shorts[2]", swapped),
	       "258 772 65534");
	OK_STR(kinds_text("\"%d\", REC->shorts[3]", swapped), "0"); /* beyond its end */
	OK_STR(kinds_text("\"%x %d\", REC->ints[0], REC->ints[1]", swapped), "11223344 -3");
	OK_STR(kinds_text("\"%llx %llu\", REC->big[0], REC->big[1]", swapped),
	       "1122334455667788 9");
	OK_STR(kinds_text("\"%llx\", REC->wide", swapped), "1122334455667788"); /* 8 bytes of 16 */
	OK_STR(kinds_text("\"%d %lld %d\", REC->bytes[1], REC->far, REC->near", swapped),
	       "17 -5 -128");
	OK_STR(kinds_text("\"%s|%s\", __get_rel_str(next), __get_str(next)", swapped), "abc|abc");
	OK_STR(kinds_text("\"%d %d\", __get_dynamic_array_len(longs), "
			  "__get_rel_dynamic_array_len(next)",
			  swapped),
	       "16 4");
	OK_STR(kinds_text("\"%llx\", ((unsigned long *)__get_dynamic_array(longs))[1]", swapped),
	       "100");
	OK_STR(kinds_text("\"%s\", __print_array(REC->shorts, 3, 2)", swapped),
	       "{0x102,0x304,0xfffe}");
	OK_STR(kinds_text("\"%s\", __print_array(REC->ints, 2, 4)", swapped),
	       "{0x11223344,0xfffffffd}");
	OK_STR(kinds_text("\"%s\", __print_array(REC->big, 2, 8)", swapped),
	       "{0x1122334455667788,0x9}");
	OK_STR(kinds_text("\"%s\", __print_array(REC->big, 9, 8)", swapped),
	       "{0x1122334455667788,0x9}");
	OK_STR(kinds_text("\"%s\", __print_array(REC->bytes, 2, 1)", swapped), "{0x0,0x11}");
	OK_STR(kinds_text("\"%s|\", __print_array(REC->bytes, 1, 9)", swapped), "|");
	OK_STR(kinds_text("\"%s|%s\", __print_hex(REC->bytes, 3), __print_hex_str(REC->bytes, 3)",
			  swapped),
	       "00 11 22|001122");
	OK_STR(kinds_text("\"%s\", __get_bitmask(mask)", swapped), "0605,04030201");
	OK_STR(kinds_text("\"%s\", __get_cpumask(mask)", swapped), "0605,04030201");
	OK_STR(kinds_text("\"%pI4 %pI6\", REC->bytes, REC->bytes", swapped),
	       "0.17.34.51 0011:2233:4455:6677:8899:aabb:ccdd:eeff");
	OK_STR(kinds_text("\"%pM %pI4\", REC->bytes, REC->shorts[0]", swapped),
	       "00:11:22:33:44:55 0x102");
	/* Of no more bytes than that, and of less. */
	OK_STR(kinds_text("\"%pI4 %pM\", __get_rel_dynamic_array(next), __get_dynamic_array(mask)",
			  swapped),
	       "97.98.99.0 01:02:03:04:05:06");
	OK_STR(kinds_text("\"%pM %pI6\", __get_rel_dynamic_array(next), __get_dynamic_array(mask)",
			  swapped),
	       swapped ? "0x61626300 0x10203040506" : "0x636261 0x60504030201");
	OK_STR(kinds_text("\"%s %s\", REC->bytes[0] ? \"some\" : \"none\", REC->bytes ? \"some\" : "
			  "\"none\"",
			  swapped),
	       "none some");
}

static void test_texts(void)
{
	OK_STR(text("\"%d|%5d|%-5d|%05d|%+d|% d|%12d|\", REC->b, REC->b, REC->b, REC->b, REC->b, "
		    "REC->b, REC->b"),
	       "5|    5|5    |00005|+5| 5|           5|");
	OK_STR(text("\"%.3d|%6.3d|%*d|%-*d|%.*d|\", REC->b, REC->b, 4, REC->b, 3, REC->b, 2, "
		    "REC->b"),
	       "005|   005|   5|5  |05|");
	OK_STR(text("\"%ld %qd %Ld %jd %td %Zu %lu\", -1, -2, -3, -4, -5, 1 << 32, 1 << 33"),
	       "-1 -2 -3 -4 -5 4294967296 8589934592");
	OK_STR(text("\"%ho %hX %hhx %hhi %hi\", 0x18001, 0x1fffe, 0x1fe, 0x80, 0x8000"),
	       "100001 FFFE fe -128 -32768");
	OK_STR(text("\"%0d|%.0d|%*d|\", REC->b, REC->b, 0, REC->b"), "5|5|5|");
	OK_STR(text("\"%x %X %#x %o %u %i\", 255, 255, 255, 8, REC->a, REC->a"),
	       "ff FF 0xff 10 4294967294 -2");
	OK_STR(text("\"%hhd %hd %hhu %hu\", 0x1ff, 0x18000, 0x1ff, 0x18000"),
	       "-1 -32768 255 32768");
	OK_STR(text("\"%d %d %ld %lld %zu\", 0x7fffffff, 0x80000000, 0x80000000, 0x80000000, "
		    "0x80000000"),
	       "2147483647 -2147483648 2147483648 2147483648 2147483648");
	OK_STR(text("\"%8s|%-8s|%.2s|%8.2s|\", REC->comm, REC->comm, REC->comm, REC->comm"),
	       "    prog|prog    |pr|      pr|");
	OK_STR(text("\"%.9s|%.0s|%2s|\", REC->comm, REC->comm, REC->comm"), "prog||prog|");
	OK_STR(text("\"a\\tb\\\"c\\\\ %s\" \"d\\n\", \"x\" \"y\""), "a\tb\"c\\ xyd\n");
	OK_STR(text("\"%c%c\", 'a', '\\t'"), "a\t");
	OK_STR(text("\"%c\", 'a'"), "a");
	OK_STR(text("\"%c%c\", '\\\\', '\\''"), "\\'");
	OK(strstr(text("\"%c\", 'a"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%c\", '\\n"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%c\", 'ab'"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%c\", '"), "[FAILED TO PARSE]"));
	/* Flags count once, however often they are given. */
	OK_STR(text("\"%------------5d|%++++++++-5d|%0000000005d|% # 0-+5d|\", 5, 5, 5, 5"),
	       "5    |+5   |00005|+5   |");
	OK_STR(text("\"%s\", 255"), "ff"); /* no text */
	OK_STR(text("\"%pF %pf %px %p\", 0x2010, 0x2010, 0x2010, 0x2011"),
	       "there+0x10 there 0x2010 0x2011");
	OK_STR(text("\"%pS\", 0x2011"), "0x2011"); /* no function that is known */
	OK_STR(text("\"%d%%|%y|\", 1, 2, 3"), "1%||");
	OK_STR(text("\"100%\", 1"), "100");
}

static void test_lists(void)
{
	OK_STR(text("\"%s\", __print_flags(0, \"|\", {0, \"NONE\"}, {1, \"A\"})"), "NONE");
	OK_STR(text("\"%s|\", __print_flags(0, \"|\", {1, \"A\"})"), "|");
	OK_STR(text("\"%s\", __print_flags(1, \"|\", {0, \"NONE\"}, {1, \"A\"})"), "A");
	OK_STR(text("\"%s\", __print_flags(7, \"-\", {3, \"AB\"}, {1, \"A\"}, {4, \"C\"})"),
	       "AB-C");
	OK_STR(text("\"%s\", __print_flags(5, \"-\", {3, \"AB\"}, {1, \"A\"})"), "A-0x4");
	OK_STR(text("\"%s\", __print_flags(16, \"-\", {1, \"A\"})"), "0x10");
	OK_STR(text("\"%s\", __print_flags_u64(2, \"\", {1 << 1, \"B\"}, { 0, ((void *)0) })"),
	       "B");
	OK_STR(text("\"%s|%s\", __print_flags(0, \"\", {1, \"A\"}, { 0, NULL }), "
		    "__print_symbolic(0, {1, \"A\"}, { 0, ((void *)0) })"),
	       "|0x0");
	OK_STR(text("\"%s\", __print_symbolic(2, {1, \"one\"}, {2, \"two\"}, {2, \"again\"})"),
	       "two");
	OK_STR(text("\"%s\", __print_symbolic_u64(9, {1, \"one\"})"), "0x9");
	OK_STR(text("\"%s\", 1 ? __print_symbolic(1, {1, \"one\"}) : \"none\""), "one");
	OK_STR(text("\"%s\", 0 ? __print_symbolic(1, {1, \"one\"}) : \"none\""), "none");
	OK(strstr(text("\"%s\", __print_flags(1, 2, {1, \"A\"})"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __print_flags(1 \"|\", {1, \"A\"})"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __print_symbolic(1, {1 \"one\"})"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __print_symbolic(1, 1, \"one\"})"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __print_hex(REC->comm 1)"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __print_array(REC->comm, 1 1)"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __get_str(name"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", REC->comm[1"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", 1 ? 2 3"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", (1"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __print_symbolic(1, {1, \"one\")"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%s\", __get_str(nothing)"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", *REC->a"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", &REC->a"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", 12ab"), "[FAILED TO PARSE]"));
	OK_STR(text("\"%d\", 0000000000000000000000000000011"), "9"); /* 31 digits */
	OK_STR(text("\"%d\", 00000000000000000000000000000000000000000000000011"), "9");
	OK(strstr(text("\"%d\", 12Uz"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", 0x"), "[FAILED TO PARSE]"));
	OK(strstr(text("\"%d\", 1 2"), "[FAILED TO PARSE]"));
	OK(strstr(text("REC->a"), "[FAILED TO PARSE]"));
}

/* As the other fields are: no format is understood. */
static void test_bare_fields(void)
{
	OK_STR(kinds_text("\"%d\", ?", false),
	       "[FAILED TO PARSE] shorts=ARRAY[02, 01, 04, 03, fe, ff] "
	       "ints=ARRAY[44, 33, 22, 11, fd, ff, ff, ff] "
	       "big=ARRAY[88, 77, 66, 55, 44, 33, 22, 11, 09, 00, 00, 00, 00, 00, 00, 00] "
	       "wide=1234605616436508552 bytes=ARRAY[00, 11, 22, 33, 44, 55, 66, 77, 88, 99, aa, "
	       "bb, cc, dd, ee, ff] "
	       "far=-5 near=-128 next=abc mask=ARRAY[01, 02, 03, 04, 05, 06] "
	       "longs=ARRAY[01, 00, 00, 00, 00, 00, 00, 00, 00, 01, 00, 00, 00, 00, 00, 00]");
}

/* Lines in another order, or without the empty line between common and own fields. */
static void test_lines(void)
{
	static const char description[] = "ID: 12\nno field of it; offset:0; size:1;\nname: "
					  "y\nfield:u8 a;\toffset:0;\tsize:1;"
					  "\tsigned:0;\nfield:plain;\toffset:1;\tsize:1;"
					  "\tsigned:1;\nfield:no end\nprint fmt: ?\n";
	static const uint8_t record[] = { 200, 255 };
	char *made;
	size_t n;
	struct trace_format *f =
		trace_format_new(description, strlen(description), (struct trace_layout){ 0 });
	FILE *out = open_memstream(&made, &n);
	trace_format_print(f, record, sizeof(record), out);
	fclose(out);
	OK_STR(made, "[FAILED TO PARSE] a=200 plain=-1");
	OK(trace_format_id(f) == 12);
	OK_STR(trace_format_name(f), "y");
	free(made);
	trace_format_free(f);
}

/* Descriptions that are unknown or incomplete give no invented values. */
static void test_damage(void)
{
	OK_STR(text("\"%d\", unknown_function(REC->a)"),
	       "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
	OK_STR(text("\"%d\", REC->nothing"),
	       "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
	OK_STR(text("\"%d %d\", REC->a"), "-2 ");
	OK_STR(text_of("\"%s %d %s\", REC->comm, REC->a, __get_str(name)", 16), "prog 0 ");
	OK_STR(text_of("\"%s|%d\", __get_str(name), REC->b", 30), "|5");
	for (size_t n = 16; n <= 20; n++) /* a field that is there in part is not there */
		OK_STR(text_of("\"%d\", REC->a", n), n < 20 ? "0" : "-2");
	for (size_t n = 24; n <= 40; n++)
		OK_STR(text_of("\"%s|\", __get_str(name)", n), n < 40 ? "|" : "eth|");
	OK_STR(text("\"%s\", ((((((((((REC->comm"),
	       "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
}

/* Nothing behind the end of a description is read, wherever the end is. */
static void test_cuts(void)
{
	static const char whole[] =
		COMMON FIELDS "\"%d %s\" \"%d\", REC->a + (int)7UL, __print_flags(REC->b << 1, "
			      "\"|\", {'\\n', \"A\" \"B\"}, { 2, \"C\" }), 1 ? 'b' : 3\n";
	size_t unlike = 0;
	for (size_t n = 0; n <= strlen(whole); n++) {
		char *made[3];
		for (int i = 0; i < 3; i++) {
			char *copy = malloc(sizeof(whole) + 40);
			strcpy(copy, whole);
			if (i)
				memset(copy + n, i == 1 ? '"' : '1', sizeof(whole) + 39 - n);
			copy[sizeof(whole) + 39] = '\0';
			size_t size;
			struct trace_format *f =
				trace_format_new(copy, n, (struct trace_layout){ 0 });
			FILE *out = open_memstream(&made[i], &size);
			trace_format_print(f, raw, sizeof(raw), out);
			fprintf(out, " of %s", trace_format_name(f));
			fclose(out);
			trace_format_free(f);
			free(copy);
		}
		unlike += strcmp(made[0], made[1]) != 0 || strcmp(made[0], made[2]) != 0;
		for (int i = 0; i < 3; i++)
			free(made[i]);
	}
	OK(!unlike);
}

/* Excessive widths and precisions are cut, or left out where they are counted. */
static void test_wide(void)
{
	OK(strlen(text("\"%4095d\", 1")) == 4095 && strlen(text("\"%4096d\", 1")) == 4096);
	OK(strlen(text("\"%4097d\", 1")) == 4096 && strlen(text("\"%99999999999d\", 1")) == 4096);
	OK(strlen(text("\"%.4097d\", 1")) == 4096 && strlen(text("\"%4097s\", \"a\"")) == 4096);
	OK(strlen(text("\"%*d\", 4096, 1")) == 4096 && strlen(text("\"%*d\", 4097, 1")) == 1);
	OK(strlen(text("\"%*d\", -5, 1")) == 1);
	OK_STR(text("\"%*d|%d\", 3"), "");
}

/* Numbers in descriptions that no field has. */
static void test_numbers(void)
{
	static const char *const ids[] = { "ID: 99999999", "ID: 100000000", "ID: 4294967296",
					   "ID: x",        "ID:7",          "ID: ",
					   "ID: 12",       "ID: /",         "ID: :" };
	static const uint64_t values[] = { 99999999, 100000000, UINT32_MAX, 0, 0, 0, 12, 0, 0 };
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		size_t n = strlen(ids[i]);
		char *copy = malloc(n); /* without an end */
		memcpy(copy, ids[i], n);
		struct trace_format *f = trace_format_new(copy, n, (struct trace_layout){ 0 });
		OK(trace_format_id(f) == values[i]);
		OK_STR(trace_format_name(f), "");
		trace_format_free(f);
		free(copy);
	}
	struct trace_format *f = trace_format_new("name: a", 7, (struct trace_layout){ 0 });
	OK_STR(trace_format_name(f), "a");
	trace_format_free(f);
	f = trace_format_new("name: ", 6, (struct trace_layout){ 0 });
	OK_STR(trace_format_name(f), "");
	trace_format_free(f);
	trace_format_free(NULL);
}

static void test_deep(void)
{
	enum { N = 20000 };
	char *deep = malloc(N + 64);
	strcpy(deep, "\"%d\", ");
	memset(deep + strlen(deep), '(', N);
	strcpy(deep + 6 + N, "1\n");
	OK(strncmp(text(deep), "[FAILED", 7) == 0);
	for (size_t n = 49; n <= 50; n++) { /* as deep as may be, and deeper */
		memset(deep + 6, '(', n);
		deep[6 + n] = '1';
		memset(deep + 7 + n, ')', n);
		strcpy(deep + 7 + 2 * n, "\n");
		OK_STR(text(deep),
		       n == 49 ? "1" : "[FAILED TO PARSE] comm=prog a=-2 b=5 name=eth p=0x2010");
	}
	deep[6] = '-'; /* by one */
	memset(deep + 7, '(', 49);
	strcpy(deep + 56, "1");
	memset(deep + 57, ')', 49);
	strcpy(deep + 106, "\n");
	OK(strncmp(text(deep), "[FAILED", 7) == 0);
	memset(deep + 6, '-', N);
	strcpy(deep + 6 + N, "1\n");
	OK(strncmp(text(deep), "[FAILED", 7) == 0);
	free(deep);
}

int main(void)
{
	struct trace_format *f =
		trace_format_new(COMMON, strlen(COMMON), (struct trace_layout){ 0 });
	OK(trace_format_id(f) == 7);
	OK_STR(trace_format_name(f), "x");
	trace_format_free(f);
	test_values();
	test_full_texts();
	test_expressions();
	test_names();
	test_operators();
	test_pairs_of_operators();
	test_types_of_casts();
	test_casts();
	test_kinds_of_fields(false);
	test_kinds_of_fields(true);
	test_texts();
	test_lists();
	test_bare_fields();
	test_lines();
	test_damage();
	test_cuts();
	test_wide();
	test_numbers();
	test_deep();
	return DONE();
}
