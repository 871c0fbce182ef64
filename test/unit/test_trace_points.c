/* Records of trace points as text: by libtraceevent where that is safe, else as they were stored.
 */
#include "input/trace_points.h"

#include <stdlib.h>

#include "base/base.h"
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
	"\tfield:unsigned long p;\toffset:28;\tsize:8;\tsigned:0;\n"                               \
	"\tfield:const char * s;\toffset:36;\tsize:8;\tsigned:0;\n"                                \
	"\tfield:__u8 v6[16];\toffset:44;\tsize:16;\tsigned:0;\n\nprint fmt: "

static const uint8_t raw[] = {
	7,    0,    0,    0,    1, 0,    0,    0,    'p', 'r', 'o', 'g', 0,    'x',  'x', 'x',
	0xfe, 0xff, 0xff, 0xff, 5, 0,    0,    0,    60,  0,   4,   0,   0x10, 0x20, 0,   0,
	0,    0,    0,    0,    0, 0x30, 0,    0,    0,   0,   0,   0,   0,    0,    0,   0,
	0,    0,    0,    0,    0, 0,    0xff, 0xff, 127, 0,   0,   1,   'e',  't',  'h', 0,
};
#define STORED                                                                                     \
	" comm=prog a=-2 b=5 name=eth p=0x2010 s=0x3000 "                                          \
	"v6=ARRAY[00, 00, 00, 00, 00, 00, 00, 00, 00, 00, ff, ff, 7f, 00, 00, 01]"

static const char *function(void *arg, uint64_t addr, uint64_t *start)
{
	*start = 0x2000;
	return addr == 0x2010 ? arg : NULL;
}

/* Of a description and a record, in an allocation of its size. */
static const char *text_by(const char *all, const uint8_t *record, size_t size)
{
	static char *text;
	size_t n;
	char name[] = "there";
	struct trace_points *t =
		trace_points_new((struct trace_layout){ .function = function, .arg = name });
	const struct trace_point *p = trace_points_add(t, all, strlen(all));
	uint8_t *copy = malloc(size + 1);
	free(text);
	FILE *out = open_memstream(&text, &n);
	memcpy(copy, record, size);
	trace_points_add_strings(t, "0x3000 : \"waiting\"\n0x1 : \"\"\nx\n", 31);
	if (p)
		trace_points_print(t, p, copy, size, out);
	else
		fputs("no trace point", out);
	fclose(out);
	free(copy);
	trace_points_free(t);
	return text;
}

static const char *text_of_record(const char *format, const uint8_t *record, size_t size)
{
	char *all = xprintf("%s%s%s", COMMON, FIELDS, format);
	const char *text = text_by(all, record, size);
	free(all);
	return text;
}

static const char *text(const char *format) { return text_of_record(format, raw, sizeof(raw)); }

static void test_values(void)
{
	OK_STR(text("\"comm=%s a=%d b=%u\", REC->comm, REC->a, REC->b\n"), "comm=prog a=-2 b=5");
	OK_STR(text("\"%s %d\", __get_str(name), __get_dynamic_array_len(name)"), "eth 4");
	OK_STR(text("\"%pS %ps\", (void *)REC->p, REC->p"), "there+0x10 there");
	OK_STR(text("\"%s\t%pI6c\", REC->s, REC->v6"), "waiting\t::ffff:127.0.0.1");
	OK_STR(text("\"%lu\", REC->p / 16"), "513");
	OK_STR(text("\"%s\", __print_flags(REC->b, \"|\", {1, \"A\"}, {2, \"B\"}, {4, \"C\"})"),
	       "A|C");
	OK_STR(text("\"%s\", __print_symbolic(REC->b, {1, \"one\"}, {5, \"five\"})"), "five");
	OK_STR(text("\"%s\", __print_hex(REC->comm, 4)"), "70 72 6f 67");
	OK_STR(text("\"%.*s\", (int)REC->b, REC->comm"), "prog");
}

/* What the library would fail on. */
static void test_guard(void)
{
	static const char *const bad[] = {
		"\"%d\", REC->b / 0",
		"\"%d\", REC->b % (1 - 1)",
		"\"%d\", 4 / 2 * 0",
		"\"%d\", REC->b / REC->a",
		"\"%s\", __print_flags(REC->nothing, \"|\", {1, \"A\"})",
		"\"%d\", sizeof(",
		"\"%d",
		"\"%.*s\", REC->a, REC->comm",
		"\"%*d\", REC->b, REC->b",
		"\"%999999999d\", REC->b",
		"\"%ls\", REC->comm",
		"\"%n\", REC->comm",
		"\"%d\"",
		"\"%s\", __get_str(comm)",
		"\"%s\", __print_hex(REC->comm, REC->p)",
		"\"%s\", __print_hex(7, 4)",
		"\"%s\", __print_array(REC->comm, 1 << 30, 8)",
		"\"%d\", REC->comm[99]",
		"\"%d\", REC->comm[REC->b]",
		"\"%s\", REC->b ? \"a\" : ",
		"({ int x; })",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *got = text(bad[i]);
		bool prefixed = !strncmp(got, "[FAILED TO PARSE]", 17);
		OK_STR(got + (prefixed ? 17 : 0), STORED);
	}
	char *deep = xprintf("\"%%d\", %0*d", 3000, 0);
	for (char *s = strchr(deep, '0'); *s; s++)
		*s = '(';
	OK_STR(text(deep), "[FAILED TO PARSE]" STORED);
	for (char *s = strchr(deep, '('); *s; s++)
		*s = '-';
	OK_STR(text(deep), "[FAILED TO PARSE]" STORED);
	free(deep);
}

/* Records that have not all of the fields, or are of another trace point. */
static void test_records(void)
{
	uint8_t record[sizeof(raw)];
	OK_STR(text_of_record("\"%s\", REC->comm", raw, 20), " comm=prog a=-2 b= name= p= s= v6=");
	OK_STR(text_of_record("\"%s\", REC->comm", raw, 0), " comm= a= b= name= p= s= v6=");
	memcpy(record, raw, sizeof(raw));
	record[26] = 5; /* bytes of the name */
	const char *got = text_of_record("\"%s\", __get_str(name)", record, sizeof(record));
	OK(strstr(got, " name= "));
	memcpy(record, raw, sizeof(raw));
	record[0] = 8;
	OK_STR(text_of_record("\"%s\", REC->comm", record, sizeof(record)), STORED);
	/* A text that fills its field has no NUL: nothing behind the field is printed. */
	memcpy(record, raw, sizeof(raw));
	memcpy(record + 8, "programs", 8);
	OK_STR(text_of_record("\"%s\", REC->comm", record, sizeof(record)), "programs");
}

static void test_descriptions(void)
{
	static const char *const bad[] = {
		"",
		"name: x\nID: 7\n",
		"name: x\nID: 70000\nformat:\n" FIELDS "\"\"",
		"name: x\nID: 7\nformat:\n\tfield:int "
		"a;\toffset:65535;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"",
		"name: x\nID: 7\nformat:\n\tfield:int a;\toffset:-1;\tsize:4;\tsigned:1;\n\nprint "
		"fmt: \"\"",
		"name: x\nID: 7\nformat:\n\tfield:[5] a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint "
		"fmt: \"\"",
		"name: a;b\nID: 7\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint "
		"fmt: \"\"",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		OK_STR(text_by(bad[i], raw, sizeof(raw)), "no trace point");
}

int main(void)
{
	test_values();
	test_guard();
	test_records();
	test_descriptions();
	return DONE();
}
